"""Quantized tensors as ordinary arithmetic: dequantize, compute, quantize."""

from __future__ import annotations

from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.context import Context
from .reader import Quantization

RANGES = {
    "int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "int32": (-(2**31), 2**31 - 1),
}  # fmt: skip


def dequantized(context: Context, stored: Expr, quantization: Quantization) -> Expr:
    """Return the real values, in float32, of a quantized tensor."""
    rank = context.rank(stored)
    whole = centered(context, stored, quantization, "int32")
    return relay.multiply(relay.cast(whole, "float32"), _vector(quantization, quantization.scale, rank))


def centered(context: Context, stored: Expr, quantization: Quantization, dtype: str) -> Expr:
    """Return the stored integers minus the zero point, in `dtype`."""
    whole = stored if context.dtype(stored) == dtype else relay.cast(stored, dtype)
    if not any(quantization.zero_point):
        return whole
    zero = _vector(quantization, quantization.zero_point, context.rank(stored), dtype)
    return relay.subtract(whole, zero)


def quantized(context: Context, real: Expr, quantization: Quantization, dtype: str) -> Expr:
    """Return the integers that represent real values."""
    scale = _vector(quantization, quantization.scale, context.rank(real))
    return rounded(context, relay.divide(real, scale), quantization, dtype)


def rounded(context: Context, scaled: Expr, quantization: Quantization, dtype: str) -> Expr:
    """Round real values that have been divided by the scale (half upwards), add the zero point, and clamp the
    integers to the range of `dtype`.
    """
    whole: Expr = relay.floor(relay.add(scaled, const(0.5, "float32")))
    if any(quantization.zero_point):
        whole = relay.add(whole, _vector(quantization, quantization.zero_point, context.rank(whole)))
    low, high = RANGES[dtype]
    return relay.cast(relay.clip(whole, float(low), float(high)), dtype)


def _vector(
    quantization: Quantization, values: tuple[float, ...] | tuple[int, ...], rank: int, dtype: str = "float32"
) -> Expr:
    """Return a scalar, or the values of the channels in a shape that broadcasts along the other axes."""
    import numpy as np

    if len(values) == 1:
        return const(values[0], dtype)
    shape = [1] * rank
    shape[quantization.axis] = len(values)
    return const(np.asarray(values, dtype).reshape(shape))
