"""Rules for operators that choose elements: by their index (a slice, a reshape) or by comparison (a maximum).

They compute the same with integers as with the numbers that these stand for, because the map between both is
increasing. Where the scales differ by channel, the axis of the channels is found by running the operator on
the numbers of the channels.
"""

from __future__ import annotations

import math
from typing import Any as Anything

from ...ir.affine_type import TensorAffineType, TupleAffineType
from ...ir.declaration import Trait
from ...ir.expr import Call, Expr, Tuple, const
from ...ir.op import Op
from ...ir.typed import tensor_type
from ...ir.types import TensorType, TupleType
from ..fold_constant import compute
from ..tools.typed_rewrite import call
from .affine import (
    NARROW_BITS,
    AffineTypes,
    Rule,
    StaysFloatError,
    bits,
    constant,
    limits,
    name_of,
    same,
    scalar_type,
    scale_of,
    value_of,
    zero_of,
)
from .bounds import Side, bound, common, comparable

MOVING = (Trait.RESHAPE, Trait.TRANSPOSE, Trait.COPY)
MAX_TRACED_ELEMENTS = 2**26  # of a tensor whose channels are followed through an operator


def selected(node: Call, types: AffineTypes) -> list[Anything]:
    """Select elements among the integers, as among the numbers that they stand for."""
    type_ = types.tensor(node.args[0])
    others = [arg for arg in node.args[1:] if arg in types]
    if others:
        raise StaysFloatError(f"{name_of(node)} has several quantized operands")
    moves = isinstance(node.op, Op) and any(map(node.op.has, MOVING))
    # A comparison needs a scale that is known to be positive. Elements that only move are dequantized by any.
    if not (moves and types.dequantized and scalar_type(type_)):
        scale_of(type_)
    result = node.checked_type
    fields = result.fields if isinstance(result, TupleType) else [result]
    if not all(isinstance(field, TensorType) and "float" in field.dtype for field in fields):
        raise StaysFloatError(f"{name_of(node)} returns indices, too")
    if bits(type_.dtype) > NARROW_BITS and not isinstance(result, TupleType):
        output = types.output
        if output is not None and scalar_type(output):  # so that the operator moves fewer bytes
            value = types.requantized(node.args[0], type_, output)
            return [Call(node.op, [value, *node.args[1:]], node.attrs, None, node.span), output]
    forms = [type_] * len(fields) if scalar_type(type_) else _followed(node, type_)
    return [node, TupleAffineType(forms) if isinstance(result, TupleType) else forms[0]]


def _followed(node: Call, type_: TensorAffineType) -> list[TensorAffineType]:
    """Return the types of the results of an operator whose operand's scales differ by channel."""
    import numpy

    shape = tensor_type(node.args[0]).shape
    static = [extent for extent in shape if isinstance(extent, int)]
    arrays = [value_of(arg) for arg in node.args[1:]]
    if len(static) != len(shape) or math.prod(static) > MAX_TRACED_ELEMENTS or any(a is None for a in arrays):
        raise StaysFloatError(f"the channels of {name_of(node)}, whose scales differ, cannot be followed")
    axis = type_.axis % len(static)
    along = [1] * len(static)
    along[axis] = static[axis]
    number = numpy.broadcast_to(numpy.arange(static[axis], dtype="int32").reshape(along), static)
    results = []
    assert isinstance(node.op, Op)
    for numbers in (
        number,
        static[axis] - 1 - number,
    ):  # in both orders: a maximum mixes channels in one of them
        results.append(compute(node.op, node, [numpy.ascontiguousarray(numbers), *arrays]))
    both = [result if isinstance(result, tuple) else (result,) for result in results]
    return [
        _of_channels(node, type_, forward, static[axis] - 1 - backward)
        for forward, backward in zip(*both, strict=True)
    ]


def _of_channels(
    node: Call, type_: TensorAffineType, forward: Anything, backward: Anything
) -> TensorAffineType:
    """Return the type of a result, given the number of the channel of each of its elements."""
    import numpy

    for axis in range(forward.ndim) if numpy.array_equal(forward, backward) and forward.size else ():
        moved = numpy.moveaxis(forward, axis, 0).reshape(forward.shape[axis], -1)
        if (moved == moved[:, :1]).all():
            channels = moved[:, 0]
            scale, zero = value_of(type_.scale), zero_of(type_)
            picked = constant(scale[channels] if scale.size > 1 else scale, str(scale.dtype))
            zeros = constant(zero[channels] if zero.size > 1 else zero, "int32")
            return TensorAffineType(picked, zeros, type_.dtype, axis)
    raise StaysFloatError(f"{name_of(node)} mixes channels whose scales differ")


def joined(node: Call, types: AffineTypes) -> list[Anything]:
    """Join integers of one type, to which those of another type are requantized."""
    fields, own = node.args[0], types.fields(node.args[0])
    alike = all(same(own[0], other) for other in own) and scalar_type(own[0])
    target = own[0] if alike else common(types, own, f"{name_of(node)} joins")
    assert isinstance(fields, Tuple)
    if all(same(target, other) for other in own):
        return [node, target]
    if (
        node.op is Op.get("concatenate")
        and {one.dtype for one in own} == {target.dtype}
        and all(map(scalar_type, own))
        and not types.arithmetic.stated
    ):
        assert node.attrs is not None
        scales, zeros = [one.scale for one in own], [one.zero_point for one in own]
        result = call(
            "qnn.concatenate",
            fields,
            Tuple(scales),
            Tuple(zeros),
            target.scale,
            target.zero_point,
            axis=node.attrs["axis"],
        )
        return [result, target]
    parts = [types.requantized(field, one, target) for field, one in zip(fields.fields, own, strict=True)]
    return [Call(node.op, [Tuple(parts)], node.attrs, None, node.span), target]


def padded(node: Call, types: AffineTypes) -> list[Anything]:
    """Pad with the integer that stands for the padding value."""
    data, value = node.args[:2]
    assert node.attrs is not None
    type_ = types.tensor(data)
    output = types.output
    final = output is not None and scalar_type(output)
    constant_mode = node.attrs["pad_mode"] == "constant"
    amount = value_of(value) if constant_mode and value not in types else None
    if final and output is not None:
        data, type_ = types.requantized(data, type_, output), output
    elif amount is not None and scalar_type(type_):
        data, type_ = comparable(data, type_, [(amount, "value")])
    if not constant_mode:
        scale_of(type_)
        value = const(0, type_.dtype)
    elif value in types:
        value = types.requantized(value, types.tensor(value), type_)
    elif not scalar_type(type_) and not zero_of(type_).any() and _is_zero(value):
        value = const(0, type_.dtype)
    else:
        value = bound(amount, type_, "the padding value", final)
    result = call("nn.pad", data, value, pad_width=node.attrs["pad_width"], pad_mode=node.attrs["pad_mode"])
    return [result, type_]


def _is_zero(value: Expr) -> bool:
    amount = value_of(value)
    return amount is not None and not amount.any()


def chosen(node: Call, types: AffineTypes) -> list[Anything]:
    """Choose between integers of one type, to which those of another type are requantized."""
    condition, *values = node.args
    own = [types.tensor(value) for value in values if value in types]
    target = common(types, own, f"{name_of(node)} chooses between")
    final = target is types.output
    parts = [
        types.requantized(value, types.tensor(value), target)
        if value in types
        else bound(value_of(value), target, "the constant", final)
        for value in values
    ]
    return [call("where", condition, *parts), target]


def rectified(node: Call, types: AffineTypes) -> list[Anything]:
    """Raise integers to the zero point, which stands for 0."""
    return _clipped(node, types, 0, math.inf)


def clipped(node: Call, types: AffineTypes) -> list[Anything]:
    """Clip integers; in the type of the result, rounding the bounds changes nothing."""
    assert node.attrs is not None
    return _clipped(node, types, node.attrs["a_min"], node.attrs["a_max"])


def _clipped(node: Call, types: AffineTypes, low: float, high: float) -> list[Anything]:
    value = node.args[0]
    own = types.tensor(value)
    output = types.output
    if output is not None and scalar_type(output):
        value, own = types.requantized(value, own, output), output
    elif not scalar_type(own):
        return _clipped_by_channel(node, value, own, low, high)
    import numpy

    final = own is output
    ends: list[tuple[Anything, Side]] = [(numpy.float64(low), "low"), (numpy.float64(high), "high")]
    if not final:
        value, own = comparable(value, own, ends)
    bounds = [bound(amount, own, "the bound", final, side) for amount, side in ends]
    least, most = (end.data.item() for end in bounds)
    bottom, top = limits(own.dtype)
    if high == math.inf:
        return [value if least <= bottom else call("maximum", value, const(least, own.dtype)), own]
    if least <= bottom and most >= top:
        return [value, own]
    return [call("clip", value, a_min=least, a_max=most), own]


def _clipped_by_channel(
    node: Call, value: Expr, own: TensorAffineType, low: float, high: float
) -> list[Anything]:
    """Clip integers whose scales differ by channel: the bounds are vectors along the channels."""
    import numpy

    rank = len(tensor_type(value).shape)
    scale, zero = scale_of(own), zero_of(own)
    least, most = limits(own.dtype)
    shape = [1] * rank
    shape[own.axis] = -1
    for operator, end in (("maximum", low), ("minimum", high)):
        number = numpy.clip(end / scale + zero, least, most)
        if (number == (least if operator == "maximum" else most)).all():
            continue
        if own.dtype != "int32" and abs(number - numpy.rint(number)).max() > 1e-3:
            raise StaysFloatError("the bound lies between two steps of a scale")
        number = numpy.rint(number).astype(own.dtype)
        value = call(operator, value, const(number.reshape(shape), own.dtype))
    return [value, own]


RULES: dict[str, Rule] = {
    "nn.relu": rectified,
    "clip": clipped,
    "nn.pad": padded,
    "concatenate": joined,
    "stack": joined,
    "where": chosen,
}
TRAITS: dict[Trait, Rule] = {
    Trait.RESHAPE: selected,
    Trait.TRANSPOSE: selected,
    Trait.COPY: selected,
    Trait.SELECTION: selected,
}
