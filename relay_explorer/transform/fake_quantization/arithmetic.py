"""Rules for arithmetic on pairs of elements.

Where the type of the result is known, 8-bit operands are combined by a quantized operator, which rescales
both to that type. Otherwise the result is int32, in a type that represents it exactly, or with more bits than
the operands have.
"""

from __future__ import annotations

from typing import Any as Anything

from ...ir.affine_type import TensorAffineType
from ...ir.expr import Call, Expr, const
from ...ir.typed import tensor_type
from ...ir.types import TensorType
from ..tools.typed_rewrite import call
from .affine import (
    FEW_FINER_BITS,
    FINER_BITS,
    AffineTypes,
    Rule,
    StaysFloatError,
    bits,
    combined,
    constant,
    equal,
    integers,
    name_of,
    quantized,
    scalar_type,
    scale_of,
    value_of,
    zero_of,
)
from .bounds import Side, bound, common, comparable

WIDE = "int32"
SPARE_BITS = 10  # of the operands of a sum, beyond those of its result: 8 + 10 bits leave room for outliers
EIGHT_BITS = ("int8", "uint8")


def _is_accumulator(type_: TensorAffineType) -> bool:
    return type_.dtype == WIDE and not zero_of(type_).any()


def _sum(quantized_operator: str, name: str) -> Rule:
    def added(node: Call, types: AffineTypes) -> list[Anything]:
        """Add integers of one scale."""
        left, right = node.args
        if left in types and right in types:
            a, b = types.tensor(left), types.tensor(right)
            if _is_accumulator(a) and _same_scales(node, a, b):
                return [call(name, left, right), _of_result(node, a, b)]
            output = types.output
            if output is not None and _fits(types, a, b, output):
                return [_pairwise(quantized_operator, node, a, b, output), output]
            return _added_in_int32(name, node, types)
        return _added_constant(name, node, types)

    return added


def _fits(types: AffineTypes, a: TensorAffineType, b: TensorAffineType, output: TensorAffineType) -> bool:
    """Whether a quantized operator takes these types: all of the same 8 bits, the result's scale a scalar."""
    if types.arithmetic.stated:
        return False
    return a.dtype == b.dtype == output.dtype and a.dtype in EIGHT_BITS and scalar_type(output)


def _pairwise(
    operator: str, node: Call, a: TensorAffineType, b: TensorAffineType, output: TensorAffineType
) -> Call:
    left, right = node.args
    if not (scalar_type(a) and scalar_type(b)) and not _same_rank(node):
        raise StaysFloatError(f"{name_of(node)} broadcasts values whose scales differ by channel")
    return call(
        operator,
        left,
        right,
        a.scale,
        a.zero_point,
        b.scale,
        b.zero_point,
        output.scale,
        output.zero_point,
        lhs_axis=a.axis,
        rhs_axis=b.axis,
    )


def _same_rank(node: Call) -> bool:
    return len({len(tensor_type(arg).shape) for arg in node.args}) == 1


def _same_scales(node: Call, a: TensorAffineType, b: TensorAffineType) -> bool:
    """Whether both operands have the same scales, along the same axis of the result if there are several."""
    if not (a.dtype == b.dtype and equal(a.scale, b.scale) and equal(a.zero_point, b.zero_point)):
        return False
    if not scalar_type(b) and scalar_type(a):
        return False
    return scalar_type(b) or _from_the_end(node, 0, a) == _from_the_end(node, 1, b)


def _from_the_end(node: Call, operand: int, type_: TensorAffineType) -> int:
    """Return the axis of the scales, counted from the last one, as operands are aligned."""
    rank = len(tensor_type(node.args[operand]).shape)
    return type_.axis % rank - rank if rank else -1


def _of_result(node: Call, a: TensorAffineType, b: TensorAffineType) -> TensorAffineType:
    """Return the type of a sum of operands that have the same scales."""
    axis = a.axis if scalar_type(a) else _from_the_end(node, 0, a)
    return TensorAffineType(a.scale, a.zero_point, a.dtype, axis)


def _added_in_int32(name: str, node: Call, types: AffineTypes) -> list[Anything]:
    """Bring both operands to one scale in int32: that of the result, or a finer one."""
    left, right = node.args
    a, b, output = types.tensor(left), types.tensor(right), types.output
    if output is not None and scalar_type(output):
        scale = _for_sums(types, output)
        target = TensorAffineType(scale, const(0), WIDE)
    else:
        target = _of_accumulators(a, b) or common(types, [a, b], f"{name_of(node)} adds")
        if target.dtype != WIDE:
            target = TensorAffineType(constant(scale_of(a) / 2**FINER_BITS, "float32"), const(0), WIDE)
    parts = [types.requantized(left, a, target), types.requantized(right, b, target)]
    return [call(name, *parts), target]


def _of_accumulators(a: TensorAffineType, b: TensorAffineType) -> TensorAffineType | None:
    """Return the type of accumulators that a value of few bits is added to, if their scale is finer."""
    for wide, other in ((a, b), (b, a)):
        if _is_accumulator(wide) and bits(other.dtype) <= 8 and scalar_type(wide):
            ratio = scale_of(other) / scale_of(wide)
            return wide if (ratio >= 1).all() and (ratio <= 2.0**FINER_BITS).all() else None
    return None


def _for_sums(types: AffineTypes, output: TensorAffineType) -> Expr:
    """Return the scale to which the operands of a sum are brought: that of the result, or where the rounding
    is stated a finer one, so that only the last rounding matters.
    """
    value = value_of(output.scale)
    if not types.arithmetic.stated or value is None:
        return output.scale
    return constant(value / 2**SPARE_BITS, "float32")


def _added_constant(name: str, node: Call, types: AffineTypes) -> list[Anything]:
    """Add a constant, which is quantized to the scale of the other operand's int32 form, or of the result."""
    left, right = node.args
    first = left in types
    value, number = (left, right) if first else (right, left)
    own = types.tensor(value)
    if not _is_accumulator(own):
        target = types.output
        if target is not None and scalar_type(target):
            wide = TensorAffineType(_for_sums(types, target), const(0), WIDE)
        elif not scalar_type(own):
            raise StaysFloatError(f"{name_of(node)} adds a constant to values whose scales differ by channel")
        elif bits(own.dtype) <= 16:
            shift = FINER_BITS if bits(own.dtype) <= 8 else FEW_FINER_BITS
            wide = TensorAffineType(constant(scale_of(own) / 2**shift, "float32"), const(0), WIDE)
        else:
            raise StaysFloatError(f"{name_of(node)} adds a constant to 32-bit integers with a zero point")
        value, own = types.requantized(value, own, wide), wide
    if not scalar_type(own):
        if len(tensor_type(value).shape) != len(tensor_type(node).shape):
            raise StaysFloatError(f"{name_of(node)} adds axes to values whose scales differ by channel")
        number = _along_channels(node, number, own)
    parts = [value, quantized(number, own, "the constant")]
    return [call(name, *(parts if first else parts[::-1])), own]


def _along_channels(node: Call, number: Expr, type_: TensorAffineType) -> Expr:
    """Give a constant the rank of the result, so that it can be quantized along the axis of the scales."""
    rank = len(tensor_type(node).shape)
    amount = value_of(number)
    if amount is None:
        return number
    shape = (1,) * (rank - amount.ndim) + amount.shape
    axis, channels = type_.axis % rank, scale_of(type_).size
    if shape[axis] not in (1, channels):
        raise StaysFloatError("a constant has another number of channels than the scales")
    spread = [channels if number_ == axis else extent for number_, extent in enumerate(shape)]
    import numpy

    return _array(numpy.broadcast_to(amount.reshape(shape), spread))


def _array(values: Anything) -> Expr:
    return const(values, str(values.dtype))


def multiplied(node: Call, types: AffineTypes) -> list[Anything]:
    """Multiply integers; multiplied by a constant, they stay as they are, and the scale changes."""
    left, right = node.args
    if left not in types or right not in types:
        value, number = (left, right) if left in types else (right, left)
        return _scaled(node, value, value_of(number), types)
    a, b = types.tensor(left), types.tensor(right)
    output = types.output
    if output is not None and _fits(types, a, b, output) and _mul_takes(a, b):
        return [_pairwise("qnn.mul", node, a, b, output), output]
    if not (scalar_type(a) and scalar_type(b)):
        raise StaysFloatError("`multiply` multiplies values whose scales differ by channel")
    if bits(a.dtype) + bits(b.dtype) > 24:
        raise StaysFloatError("the product of its operands exceeds 32 bits")
    product = call("multiply", integers(left, a), integers(right, b))
    return [product, TensorAffineType(combined(a.scale, b.scale), const(0), WIDE)]


def _mul_takes(a: TensorAffineType, b: TensorAffineType) -> bool:
    """Whether `qnn.mul` takes the operands: scales by channel lie along the same axis of both."""
    return scalar_type(a) or scalar_type(b) or a.axis == b.axis


def divided(node: Call, types: AffineTypes) -> list[Anything]:
    """Divided by a positive constant, the integers stay and the scale changes."""
    left, right = node.args
    divisor = _real(right, types)
    if left not in types or divisor is None or not (divisor != 0).all():
        raise StaysFloatError("`divide` divides by something else than a constant")
    return _scaled(node, left, 1 / divisor, types)


def _real(operand: Expr, types: AffineTypes) -> Anything:
    """Return the real numbers that a constant operand stands for, as an array; None for other operands."""
    value = value_of(operand)
    if value is None or operand not in types:
        return value
    type_ = types.tensor(operand)
    return (
        (value.astype("int64") - _aligned(zero_of(type_), type_, value.ndim))
        * _aligned(scale_of(type_), type_, value.ndim)
    ).astype("float32")


def _aligned(parameter: Anything, type_: TensorAffineType, rank: int) -> Anything:
    """Give a scale or zero point the rank of its tensor."""
    shape = [1] * rank
    if parameter.size > 1:
        shape[type_.axis] = -1
    return parameter.reshape(shape)


def _scaled(node: Call, value: Expr, factor: Anything, types: AffineTypes) -> list[Anything]:
    """Multiply by a constant: change the scale, and for negative numbers the sign of the integers."""
    type_ = types.tensor(value)
    if factor is None:
        raise StaysFloatError(f"an operand of {name_of(node)} is neither quantized nor a constant")
    if factor.size != 1:
        raise StaysFloatError(f"{name_of(node)} multiplies by a constant that has several elements")
    if len(tensor_type(value).shape) != len(_result_shape(node)):
        raise StaysFloatError(f"{name_of(node)} adds axes")
    number = float(factor.reshape(()))
    product = scale_of(type_) * abs(number)
    if not number or not ((product > 2.0**-126) & (product < 2.0**126)).all():
        raise StaysFloatError(f"{name_of(node)} multiplies by {number:g}, which leaves no scale")
    scale = constant(product, "float32")
    if number > 0:
        return [value, TensorAffineType(scale, type_.zero_point, type_.dtype, type_.axis)]
    if bits(type_.dtype) > 16:
        raise StaysFloatError(f"{name_of(node)} multiplies 32-bit integers by a negative number")
    zero = constant(0 * zero_of(type_), "int32")
    return [call("negative", integers(value, type_)), TensorAffineType(scale, zero, WIDE, type_.axis)]


def _result_shape(node: Call) -> tuple[object, ...]:
    assert isinstance(node.checked_type, TensorType)
    return tuple(node.checked_type.shape)


def _extreme(name: str, side: Side) -> Rule:
    def chosen(node: Call, types: AffineTypes) -> list[Anything]:
        """Compare integers of one type, as the numbers that they stand for."""
        if all(arg in types for arg in node.args):
            own = [types.tensor(arg) for arg in node.args]
            target = common(types, own, f"{name_of(node)} compares")
            pairs = zip(node.args, own, strict=True)
            return [call(name, *(types.requantized(arg, type_, target) for arg, type_ in pairs)), target]
        first = node.args[0] in types
        value, number = node.args if first else node.args[::-1]
        type_, output, amount = types.tensor(value), types.output, value_of(number)
        final = output is not None and scalar_type(output)
        if final and output is not None:
            value, type_ = types.requantized(value, type_, output), output
        else:
            value, type_ = comparable(value, type_, [(amount, side)])
        parts = [value, bound(amount, type_, "the constant", final, side)]
        return [call(name, *(parts if first else parts[::-1])), type_]

    return chosen


def negated(node: Call, types: AffineTypes) -> list[Anything]:
    """Negate integers, without their zero point."""
    return _scaled(node, node.args[0], _minus_one(), types)


def _minus_one() -> Anything:
    import numpy

    return numpy.asarray(-1.0, "float32")


RULES: dict[str, Rule] = {
    "add": _sum("qnn.add", "add"),
    "subtract": _sum("qnn.subtract", "subtract"),
    "multiply": multiplied,
    "divide": divided,
    "negative": negated,
    "maximum": _extreme("maximum", "low"),
    "minimum": _extreme("minimum", "high"),
}
