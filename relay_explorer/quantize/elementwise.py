"""Integer arithmetic of element-wise products: of quantized values, and with constants."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..ir.expr import Call, Constant, Expr, const
from ..ir.op import Op
from ..ir.types import TensorType
from ..ops.calls import relay
from ..ops.numeric import Array, np
from .affine import by_affine_types
from .means import BITS
from .quantized import Quantized

SLOPE_BITS = 16  # at most, after the point, of a slope that integers are multiplied by
LEAST_SLOPE_BITS = 8
LEAST_SCALE, GREATEST_SCALE = 2.0**-126, 2.0**126  # beyond them, float32 loses bits or ends

Values = Sequence[Quantized | Expr]


def multiplied(call: Call, operands: Values) -> Quantized | Sequence[Quantized] | None:
    """Multiply two quantized values, or one and a constant."""
    return (
        scaled(call, operands)
        if any(isinstance(part, Constant) for part in operands)
        else by_affine_types(call, operands)
    )


def scaled(call: Call, operands: Values) -> Quantized | None:
    """Multiply or divide by a constant of one element, or by one for each channel: the scale changes, and
    integers only by the constant's sign.
    """
    first, second = operands
    value, other = (first, second) if isinstance(first, Quantized) else (second, first)
    divides = isinstance(call.op, Op) and call.op.name == "divide"
    if not isinstance(value, Quantized) or not isinstance(other, Constant) or (divides and value is second):
        return None
    type_ = call.checked_type
    assert isinstance(type_, TensorType)
    channels = factors(other, len(type_.shape))
    if channels is None or type_.shape != _shape(call, 0 if value is first else 1):
        return None
    axis, factor = channels
    if value.axis is not None and axis is not None and axis != value.axis % len(type_.shape):
        return None
    with np.errstate(divide="ignore"):
        factor = 1 / factor if divides else factor
    scale = (value.scale * np.where(factor == 0, 1, np.abs(factor))).astype("float32")
    if not ((scale > LEAST_SCALE) & (scale < GREATEST_SCALE)).all():
        return None
    if (factor > 0).all():
        zero_point = np.broadcast_to(value.zero_point, scale.shape)
        return Quantized(value.scheme, value.expr, value.dtype, scale, zero_point, _first(axis, value.axis))
    signs = np.sign(factor).astype("int32")
    signs = signs if axis is None else aligned(signs, axis, len(type_.shape))
    # Accumulators may be saturated, and minus the least integer is none.
    whole = relay.maximum(centered(value), const(-(2**31) + 1, "int32"))
    expr = relay.multiply(whole, const(signs, "int32"))
    return Quantized(
        value.scheme, expr, "int32", scale, np.zeros(scale.shape, "int32"), _first(axis, value.axis)
    )


def _first(axis: int | None, other: int | None) -> int | None:
    return other if axis is None else axis


def _shape(call: Call, operand: int) -> Sequence[object]:
    type_ = call.args[operand].checked_type
    assert isinstance(type_, TensorType)
    return type_.shape


def factors(constant: Constant, rank: int) -> tuple[int | None, Array] | None:
    """Return the axis of a tensor of `rank` axes along which a constant varies, and its elements, in float64;
    no axis and one element where it does not vary. None where it varies along several, or is not finite.
    """
    values = constant.data.numpy().astype("float64")
    if not np.isfinite(values).all() or not values.size:
        return None
    wide = [axis for axis, extent in enumerate(values.shape) if extent > 1]
    if len(wide) > 1:
        return None
    if not wide:
        return None, values.reshape(())
    return wide[0] + rank - values.ndim, values.reshape(-1)


def centered(value: Quantized) -> Expr:
    """Return integers without their zero point, in int32."""
    whole: Expr = value.expr if value.dtype == "int32" else relay.cast(value.expr, "int32")
    if value.is_symmetric:
        return whole
    assert not value.zero_point.ndim or (value.zero_point == value.zero_point.reshape(-1)[0]).all()
    return relay.subtract(whole, const(int(value.zero_point.reshape(-1)[0]), "int32"))


def positive_number(expr: Expr) -> float | None:
    """Return the value of a constant of one element, if it is positive and finite; None otherwise."""
    if not isinstance(expr, Constant) or expr.data.numpy().size != 1 or len(expr.data.shape) > 1:
        return None
    number = float(expr.data.numpy().reshape(()))
    return number if 0 < number < math.inf else None


def aligned(vector: Array, axis: int, rank: int) -> Array:
    """Append axes of length 1 to a vector, so that it broadcasts along an axis of a tensor of that rank."""
    return vector.reshape([-1, *[1] * (rank - 1 - axis % rank)])


def sloped(call: Call, operands: Values) -> Quantized | None:
    """Multiply integers below zero by the slope of their channel, as a fixed-point number."""
    value, slope = operands
    if not isinstance(value, Quantized) or value.dtype not in BITS or value.scale.ndim:
        return None
    type_ = call.checked_type
    assert isinstance(type_, TensorType)
    assert call.attrs is not None
    if not isinstance(slope, Constant):
        return None
    slopes = slope.data.numpy().astype("float64")
    steepest = np.abs(slopes).max(initial=1)
    if not np.isfinite(steepest):
        return None
    bits = min(SLOPE_BITS, 30 - BITS[value.dtype] - math.ceil(math.log2(steepest)))  # products fit 32 bits
    if bits < LEAST_SLOPE_BITS:
        return None
    steps = np.rint(slopes * 2**bits).astype("int32")
    if steps.size > 1:
        steps = aligned(steps, call.attrs["axis"], len(type_.shape))
    whole = centered(value)
    negative = relay.multiply(relay.minimum(whole, const(0, "int32")), const(steps, "int32"))
    positive = relay.left_shift(relay.maximum(whole, const(0, "int32")), const(bits, "int32"))
    finer = np.asarray(value.scale / 2**bits, "float32")
    return Quantized(value.scheme, relay.add(negative, positive), "int32", finer)
