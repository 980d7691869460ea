"""Build expressions of plain Relay from the operands of quantized operators: constants, casts, broadcasts."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Expr, const
from ...ir.ndarray import NDArray, itemsize
from ...ir.op import RelationError
from ...ir.typed import tensor_type
from ...ir.types import TensorType
from ..calls import relay
from ..relation import normal_axis
from .parameters import NARROW, is_single

BOUNDS = {
    "int8": (-(2**7), 2**7 - 1),
    "uint8": (0, 2**8 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
}
SMALL_ZERO_POINT = 2**20  # sums of smaller ones with integers of 16 bits are exact in int32 and in float32


def numbers(expr: Expr) -> list[float] | None:
    """Return the elements of a constant; None for other expressions."""
    return [*expr.data.values()] if isinstance(expr, Constant) else None


def number(expr: Expr) -> float | None:
    """Return the element of a constant that has one; None for other expressions."""
    values = numbers(expr)
    return values[0] if values is not None and len(values) == 1 else None


def is_zero(expr: Expr) -> bool:
    """Return whether a zero point is known to be 0, for all channels."""
    values = numbers(expr)
    return values is not None and not any(values)


def spread(parameter: Expr, type_: TensorType, axis: int, rank: int) -> Expr:
    """Return a scale or zero point of this type in a shape that broadcasts along `axis` of a tensor with
    `rank` axes.
    """
    single = is_single(type_)
    after = 0 if single else rank - 1 - normal_axis(axis, rank)
    if isinstance(parameter, Constant):
        data = parameter.data
        shape = () if single else (*data.shape, *[1] * after)
        return parameter if shape == data.shape else Constant(NDArray(shape, data.dtype, data.data))
    if single:
        return relay.squeeze(parameter) if type_.shape else parameter
    return relay.expand_dims(parameter, axis=1, num_newaxis=after) if after else parameter


def vector(values: list[float] | list[int], dtype: str, rank: int, axis: int) -> Constant:
    """Return a constant with one number per index of `axis`, or a scalar where there is one number."""
    if len(values) == 1:
        return const(values[0], dtype)
    after = rank - 1 - normal_axis(axis, rank)
    return Constant(NDArray.from_list([*values], (len(values), *[1] * after), dtype))


def cast(expr: Expr, before: str, dtype: str) -> Expr:
    """Convert an expression of element type `before`, unless it has the type already."""
    return expr if before == dtype else relay.cast(expr, dtype)


def clipped(expr: Expr, low: int, high: int) -> Expr:
    """Clamp int32 to bounds, unless they are those of the type."""
    return expr if (low, high) == BOUNDS["int32"] else relay.clip(expr, low, high)


def centered(x: Expr, dtype: str, zero_point: Expr) -> Expr:
    """Return x − zero_point as int32, saturated; `zero_point` broadcasts with the data, whose element type is
    `dtype`.
    """
    values = numbers(zero_point)
    small = values is None or max(map(abs, values), default=0) < SMALL_ZERO_POINT
    if dtype in NARROW and small:
        whole = relay.cast(x, "int32")
        return whole if is_zero(zero_point) else relay.subtract(whole, zero_point)
    if is_zero(zero_point):
        return x if dtype == "int32" else _to_int32(cast(x, dtype, "int64"))
    return _to_int32(relay.subtract(cast(x, dtype, "int64"), widened(zero_point)))


def widened(zero_point: Expr) -> Expr:
    """Convert a zero point, which is int32, to int64."""
    if isinstance(zero_point, Constant):
        data = zero_point.data
        return Constant(NDArray.from_list(data.values(), data.shape, "int64"))
    return relay.cast(zero_point, "int64")


def _to_int32(wide: Expr) -> Expr:
    return relay.cast(relay.clip(wide, *BOUNDS["int32"]), "int32")


def wrapped_number(value: int, dtype: str) -> int:
    """Return a number as it is after a cast to an integer type, in which it wraps."""
    bits = 8 * itemsize(dtype)
    low = 0 if dtype.startswith("u") else -(2 ** (bits - 1))
    return (value - low) % 2**bits + low


def operand_type(call: Call, operand: int) -> TensorType:
    """Return the type of an operand that is a tensor."""
    return tensor_type(call.args[operand])


def problem(call: Call, error: RelationError) -> RelayError:
    """Return the error of a call that has no canonical form."""
    return RelayError(f"`{call.op}` cannot be compiled: {error.message}", call.span, help=[*error.help])
