"""The arithmetic of quantized operators on NumPy arrays, for their reference implementations.

`scaling` builds the same arithmetic from Relay operators. A rescaled number is

    clip(round(ratio · (x − zero point)), −2³¹, 2³¹ − 1)

where `ratio` is the quotient of two scales. In int64 the ratio is a 31-bit fraction and a power of two
(`fixed_point`), and the product is exact before it is rounded. In float32 or float64 the ratio and the
product are rounded to that type; float32 cannot hold 2³¹ − 1, and saturates at 2³¹ − 128.
"""

from __future__ import annotations

from ...ir.op import RelationError
from ..numeric import Array, np
from ..relation import normal_axis
from .config import COMPUTE_DTYPES, ROUNDINGS, checked, current_requantize_config
from .fixed_point import FRACTION, fixed_points, ratio_of

INT32 = (-(2**31), 2**31 - 1)
HIGHEST_FLOAT32 = 2**31 - 128  # the largest float32 that is less than 2 ** 31


def chosen(rounding: str, compute_dtype: str) -> tuple[str, str]:
    """Return the rounding and the arithmetic of a call: its attributes, or the defaults where they are
    "None".
    """
    config = current_requantize_config()
    return (
        config.rounding if rounding == "None" else checked("rounding", rounding, ROUNDINGS),
        config.compute_dtype
        if compute_dtype == "None"
        else checked("compute_dtype", compute_dtype, COMPUTE_DTYPES),
    )


def spread(parameter: Array, axis: int, rank: int) -> Array:
    """Return a scale or zero point in a shape that broadcasts along `axis` of a tensor of that rank."""
    if parameter.size == 1:
        return parameter.reshape(())
    shape = [1] * rank
    shape[normal_axis(axis, rank)] = -1
    return parameter.reshape(shape)


def saturated(x: Array, dtype: str) -> Array:
    """Convert integers to another type; those beyond its range become its least or greatest number."""
    limits = np.iinfo(dtype)
    return np.clip(x.astype("int64"), limits.min, limits.max).astype(dtype)


def centered(x: Array, zero_point: Array) -> Array:
    """Return x − zero_point as int64, saturated to 32 bits."""
    return np.clip(x.astype("int64") - zero_point.astype("int64"), *INT32)


def ratios(input_scale: Array, output_scale: Array) -> Array:
    """Return the quotient of scales as float64; raise a RelationError where one is not a scale."""
    if output_scale.size != 1:
        raise RelationError("the scale of the result must be one number")
    below = float(output_scale.reshape(()))
    quotients = [ratio_of(float(scale), below) for scale in input_scale.reshape(-1)]
    return np.asarray(quotients, "float64").reshape(input_scale.shape)


def rescaled(x: Array, ratio: Array, rounding: str, compute_dtype: str) -> Array:
    """Multiply integers by ratios, round, and saturate to 32 bits; the result is int64.

    `x` is within 32 bits, unless the arithmetic is float64.
    """
    if compute_dtype == "int64":
        return _fixed(x.astype("int64"), ratio, rounding)
    real = np.dtype(compute_dtype)
    product = x.astype(real) * ratio.astype(real)
    highest = HIGHEST_FLOAT32 if compute_dtype == "float32" else INT32[1]
    return rounded(np.clip(product, real.type(INT32[0]), real.type(highest)), rounding)


def _fixed(x: Array, ratio: Array, rounding: str) -> Array:
    multiplier, shift = fixed_points(ratio)
    down = FRACTION - shift
    product = x * multiplier
    half = np.int64(1) << (down - 1)
    if rounding == "TONEAREST":
        half = half - (product < 0)
    elif rounding == "TOEVEN":
        half = half - 1 + ((product >> down) & 1)
    return np.clip((product + half) >> down, *INT32)


def rounded(x: Array, rounding: str) -> Array:
    """Round floating-point numbers to int64: ties upwards, away from zero, or to the even neighbor."""
    half = x.dtype.type(0.5)
    if rounding == "UPWARD":
        return np.floor(x + half).astype("int64")
    if rounding == "TONEAREST":
        return np.trunc(x + np.where(x < 0, -half, half)).astype("int64")
    return np.rint(x).astype("int64")


def requantized(
    x: Array,
    parameters: tuple[Array, Array, Array, Array],
    axis: int,
    out_dtype: str,
    rounding: str = "None",
    compute_dtype: str = "None",
) -> Array:
    """Convert integers from one scale and zero point to another; `parameters` are the scale and zero point
    before and after. Those before may be vectors along `axis`.
    """
    input_scale, input_zero, output_scale, output_zero = parameters
    how = chosen(rounding, compute_dtype)
    ratio = spread(ratios(input_scale, output_scale), axis, x.ndim)
    units = rescaled(centered(x, spread(input_zero, axis, x.ndim)), ratio, *how)
    return saturated(units + output_zero.reshape(()), out_dtype)


def quantized(x: Array, scale: Array, zero_point: Array, out_dtype: str) -> Array:
    """Divide real numbers by the scale, round to the nearest integer (ties to even), add the zero point, and
    saturate. NaN becomes the zero point.
    """
    quotient = np.clip(x / scale, np.float32(INT32[0]), np.float32(HIGHEST_FLOAT32))
    units = np.rint(np.where(np.isnan(quotient), np.float32(0), quotient)).astype("int64")
    return saturated(units + zero_point, out_dtype)


def dequantized(x: Array, scale: Array, zero_point: Array) -> Array:
    """Return scale · (x − zero_point) as float32; the difference is rounded to float32 before the product."""
    return centered(x, zero_point).astype("float32") * scale
