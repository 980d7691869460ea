"""Rules for sums and means, which are computed exactly in int32, and for pooling by the mean."""

from __future__ import annotations

import math
from typing import Any as Anything

from ...ir.affine_type import TensorAffineType
from ...ir.expr import Call, Expr, const
from ...ir.typed import tensor_type
from ...ir.types import TensorType
from ...ops.layouts.layout import Layout
from ..tools.typed_rewrite import call
from .affine import (
    AffineTypes,
    Rule,
    StaysFloatError,
    bits,
    constant,
    integers,
    name_of,
    scalar_type,
    scale_of,
)
from .selection import selected

WIDE = "int32"
SUM_BITS = 31
MAX_ERROR = 0.25  # of a sum whose operands are made coarser, in steps of the scale of the result


def _summed(
    node: Call, types: AffineTypes, axes: tuple[int, ...], mean: bool
) -> tuple[Expr, TensorAffineType]:
    """Return the sum over some axes, which stay with extent 1, in int32, and its type; for a mean, the
    divisor is part of the scale.
    """
    value = node.args[0]
    shape = tensor_type(value).shape
    extents = [shape[axis] for axis in axes]
    count = math.prod([extent for extent in extents if isinstance(extent, int)])
    if not all(isinstance(extent, int) for extent in extents) or count == 0:
        raise StaysFloatError(f"the number of elements that {name_of(node)} sums is not known, or 0")
    value, type_ = _with_room(node, types, count, 0.5 if mean else 0.5 * count)
    result = call("sum", integers(value, type_), axis=axes, keepdims=True)
    scale = constant(scale_of(type_) / (count if mean else 1), "float32")
    return result, TensorAffineType(scale, const(0), WIDE)


def _with_room(
    node: Call, types: AffineTypes, count: int, steps_lost: float
) -> tuple[Expr, TensorAffineType]:
    """Return the operand in a type in which the sum of `count` integers stays within 32 bits.

    Integers of few bits stay as they are. Others are brought to a scale that is coarser by `count`, if the
    error, of `steps_lost` steps of it, is small beside the scale of the result.
    """
    value, own = node.args[0], types.tensor(node.args[0])
    if bits(own.dtype) + 1 + (count - 1).bit_length() <= SUM_BITS:
        if not scalar_type(own):
            raise StaysFloatError(f"the scales of the operand of {name_of(node)} differ by channel")
        return value, own
    output = types.output
    if output is not None and scalar_type(output):
        step = scale_of(own).max() * count
        if step * steps_lost <= scale_of(output) * MAX_ERROR:
            coarser = TensorAffineType(constant(step, "float32"), const(0), WIDE)
            return types.requantized(value, own, coarser), coarser
    raise StaysFloatError(f"the sum of {count} {own.dtype} integers may exceed 32 bits")


def _reduced(mean: bool) -> Rule:
    def reduced(node: Call, types: AffineTypes) -> list[Anything]:
        """Add integers; a mean is their sum, with another scale."""
        attrs = node.attrs
        assert attrs is not None
        rank = len(tensor_type(node.args[0]).shape)
        named = range(rank) if attrs["axis"] is None else attrs["axis"]
        axes = {axis % rank for axis in ([named] if isinstance(named, int) else named)}
        if attrs["exclude"]:
            axes = set(range(rank)) - axes
        result, type_ = _summed(node, types, tuple(sorted(axes)), mean)
        if not attrs["keepdims"]:
            result = call("squeeze", result, axis=tuple(sorted(axes)))
        return _like_its_operand(node, types, result, type_) if mean else [result, type_]

    return reduced


def _like_its_operand(
    node: Call, types: AffineTypes, result: Expr, type_: TensorAffineType
) -> list[Anything]:
    """Return a mean: in int32 where it will be quantized, otherwise in the type of the operand, whose range
    it cannot leave.
    """
    if types.output is not None or types.dequantized:
        return [result, type_]
    own = types.tensor(node.args[0])
    return [types.requantized(result, type_, own), own]


def global_mean(node: Call, types: AffineTypes) -> list[Anything]:
    """Add the integers of an image; the mean is their sum, with another scale."""
    assert node.attrs is not None
    layout = Layout(node.attrs["layout"])
    axes = tuple(axis for axis, letter in enumerate(layout) if letter.upper() in "DHW")
    result, type_ = _summed(node, types, axes, mean=True)
    return _like_its_operand(node, types, result, type_)


def adaptive_mean(node: Call, types: AffineTypes) -> list[Anything]:
    """Add the integers of whole axes, or average those of windows with more bits than they have."""
    assert node.attrs is not None
    source, result = tensor_type(node.args[0]).shape, node.checked_type
    assert isinstance(result, TensorType)
    layout = Layout(node.attrs["layout"])
    spatial = [axis for axis, letter in enumerate(layout) if letter.upper() in "DHW"]
    if all(result.shape[axis] == 1 for axis in spatial):
        return global_mean(node, types)
    extents = [source[axis] for axis in spatial]
    return _with_more_bits(node, types, extents)


def windowed_mean(node: Call, types: AffineTypes) -> list[Anything]:
    """Average windows by the quantized operator, or with more bits than the integers have."""
    attrs = node.attrs
    assert attrs is not None
    own, output = types.tensor(node.args[0]), types.output
    if types.dequantized:
        raise StaysFloatError("a mean that is not quantized again gains nothing from integers")
    target = output if output is not None and output.dtype == own.dtype else own
    if _has_quantized_form(node, own, target) and not types.arithmetic.stated:
        scale_of(own)
        fields = {name: attrs[name] for name in attrs}
        result = call(
            "qnn.avg_pool2d",
            node.args[0],
            own.scale,
            own.zero_point,
            target.scale,
            target.zero_point,
            **fields,
        )
        return [result, TensorAffineType(target.scale, target.zero_point, target.dtype)]
    return _with_more_bits(node, types, list(attrs["pool_size"]))


def _has_quantized_form(node: Call, own: TensorAffineType, target: TensorAffineType) -> bool:
    assert node.attrs is not None
    plane = len(node.attrs["pool_size"]) == 2 and node.attrs["out_layout"] in ("", node.attrs["layout"])
    return plane and bits(own.dtype) == 8 and scalar_type(own) and scalar_type(target)


def _with_more_bits(node: Call, types: AffineTypes, window: list[Anything]) -> list[Anything]:
    """Shift the integers to the left, so that the division by the size of the window loses nothing that
    matters.
    """
    if not all(isinstance(extent, int) for extent in window):
        raise StaysFloatError(f"the size of the windows of {name_of(node)} is not known")
    count = max(1, math.prod(window))
    value, own = _with_room(node, types, count, 1.5)  # the division truncates
    spare = min(SUM_BITS - bits(own.dtype) - 1 - (count - 1).bit_length(), 8)
    if spare > 0:
        if spare < 4:
            raise StaysFloatError(
                f"the sum of {count} {own.dtype} integers leaves fewer than 4 bits for fractions"
            )
        value = call("multiply", integers(value, own), const(2**spare, WIDE))
        own = TensorAffineType(constant(scale_of(own) / 2**spare, "float32"), const(0), WIDE)
    result = Call(node.op, [value], node.attrs, None, node.span)
    return _like_its_operand(node, types, result, own)


def resized(node: Call, types: AffineTypes) -> list[Anything]:
    """Interpolate integers, with more bits than they have; the nearest ones need no more."""
    assert node.attrs is not None
    if node.attrs["method"] == "nearest_neighbor":
        return list(selected(node, types))
    return _with_more_bits(node, types, [])


RULES: dict[str, Rule] = {
    "image.resize1d": resized,
    "image.resize2d": resized,
    "image.resize3d": resized,
    "mean": _reduced(True),
    "sum": _reduced(False),
    "nn.global_avg_pool2d": global_mean,
    "nn.adaptive_avg_pool1d": adaptive_mean,
    "nn.adaptive_avg_pool2d": adaptive_mean,
    "nn.adaptive_avg_pool3d": adaptive_mean,
    "nn.avg_pool1d": windowed_mean,
    "nn.avg_pool2d": windowed_mean,
    "nn.avg_pool3d": windowed_mean,
}
