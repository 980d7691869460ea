"""Quantized tensors of TensorFlow Lite in Relay's dialect `qnn`.

An operator without a form for integers is surrounded by `qnn.dequantize` and `qnn.quantize`. Sums of integers
are rescaled in float32 and rounded half to even, as the kernels do with which TensorFlow Lite runs 8-bit
convolutions and dense layers by default (XNNPACK's).
"""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ...ops.numeric import Array, np
from ..base import quantized as base
from ..base.context import Context
from .reader import Quantization

RANGES = {name: base.RANGES[name] for name in ("int8", "uint8", "int16", "int32")}


def scale_of(quantization: Quantization) -> Expr:
    """Return the scale, or those of the channels, as a constant."""
    values = np.asarray(quantization.scale, np.float32)
    return const(values if len(values) > 1 else values[0])


def zero_of(quantization: Quantization) -> Expr:
    """Return the zero point, or those of the channels where they differ, as a constant."""
    values = np.asarray(quantization.zero_point, np.int32)
    return const(values if (values != values[0]).any() else values[0])


def dequantized(context: Context, stored: Expr, quantization: Quantization) -> Expr:
    """Return the real values, in float32, of a quantized tensor."""
    return base.dequantized(stored, scale_of(quantization), zero_of(quantization), _axis(quantization))


def quantized(context: Context, real: Expr, quantization: Quantization, dtype: str) -> Expr:
    """Return the integers that represent real values, rounded half to even."""
    real = context_float(context, real)
    return base.quantized(real, scale_of(quantization), zero_of(quantization), dtype, _axis(quantization))


def context_float(context: Context, real: Expr) -> Expr:
    """Return real values in float32."""
    return real if context.dtype(real) == "float32" else relay.cast(real, "float32")


def _axis(quantization: Quantization) -> int:
    return quantization.axis if len(quantization.scale) > 1 else -1


def centered(context: Context, stored: Expr, quantization: Quantization, dtype: str) -> Expr:
    """Return the stored integers minus the zero point, in `dtype`."""
    whole = stored if context.dtype(stored) == dtype else relay.cast(stored, dtype)
    if not any(quantization.zero_point):
        return whole
    values = quantization.zero_point
    if len(values) == 1:
        return relay.subtract(whole, const(values[0], dtype))
    shape = [1] * context.rank(stored)
    shape[quantization.axis] = len(values)
    return relay.subtract(whole, const(np.asarray(values, dtype).reshape(shape)))


def bounds(quantization: Quantization, dtype: str, activation: int) -> tuple[int, int] | None:
    """Return the integers between which a fused activation function keeps the results; None if it is not a
    restriction of the range.
    """
    limits: dict[int, tuple[float | None, float | None]] = {
        0: (None, None), 1: (0.0, None), 2: (-1.0, 1.0), 3: (0.0, 6.0)
    }  # fmt: skip
    if activation not in limits:
        return None
    first, last = RANGES[dtype]
    scale, zero = np.float32(quantization.scale[0]), quantization.zero_point[0]
    low, high = limits[activation]
    smallest = first if low is None else max(first, zero + _nearest(np.float32(low) / scale))
    greatest = last if high is None else min(last, zero + _nearest(np.float32(high) / scale))
    return smallest, greatest


def _nearest(value: float) -> int:
    """Round half away from zero."""
    return int(np.copysign(np.floor(np.abs(value) + 0.5), value))


def rescaled_to_16_bits(sums: Expr, factors: Array, short: bool) -> Expr:
    """Return int64 sums times a factor, or one for each channel, rounded half upwards.

    A factor is a fraction of 31 bits and a power of two. With `short`, the fraction is rounded to 15 bits, as
    TensorFlow Lite does in convolutions.
    """
    fractions, exponents = np.frexp(np.atleast_1d(factors))
    multipliers = np.floor(fractions * 2.0**31 + 0.5).astype(np.int64)
    bits = 31
    if short:
        multipliers = np.where(multipliers < 0x7FFF0000, (multipliers + (1 << 15)) >> 16, 0x7FFF)
        bits = 15
    shifts = bits - exponents.astype(np.int64)
    if (shifts < 1).any() or (shifts > 62).any():
        raise RelayError(f"the factors {factors} of a quantized result are too large or too small")
    if len(multipliers) == 1:
        multipliers, shifts = multipliers[0], shifts[0]
    half = const(np.int64(1) << (shifts - 1), "int64")
    products = relay.multiply(sums, const(multipliers, "int64"))
    return relay.right_shift(relay.add(products, half), const(shifts, "int64"))


def rounded_away(real: Expr) -> Expr:
    """Round float32 numbers, half away from zero."""
    half = relay.where(relay.less(real, const(0.0, "float32")), const(-0.5, "float32"), const(0.5, "float32"))
    return relay.trunc(relay.add(real, half))


def limited(whole: Expr, dtype: str, limits: tuple[int, int]) -> Expr:
    """Return integers of `dtype` kept between two of them."""
    return whole if limits == RANGES[dtype] else relay.clip(whole, *limits)
