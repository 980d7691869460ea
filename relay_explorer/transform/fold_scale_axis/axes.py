"""Scales along axes, for both directions of FoldScaleAxis.

A tensor is scaled along some axes if it is multiplied by a tensor that varies only along these, for example
an image by a number for each channel. An operator that can absorb a scale tells its neighbours so by an
`Ask`, which names the axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...ir.declaration import Trait
from ...ir.expr import Call, Constant, Expr
from ...ir.op import Op
from ...ir.typed import tensor_type
from ...ir.types import TensorType
from ...ops.nn.layout import parse_layout
from ..infrastructure import PassContext
from ..tools.typed_rewrite import call

Axes = tuple[int, ...]
CONSTANTS_ONLY = "relay.FoldScaleAxis.constants_only"


class Ask(NamedTuple):
    """A request for a scale along these axes. The scale must be positive if it has to commute with ReLU, and
    must not contain a 0 if something will be divided by it.
    """

    axes: Axes
    positive: bool = False
    divides: bool = False


def commutes_with_positive(node: Expr) -> bool:
    """Whether `node` calls a function that positive scales move through, such as ReLU."""
    return calls(node, Trait.POSITIVELY_HOMOGENEOUS)


def calls(node: Expr, *traits: Trait) -> bool:
    """Whether `node` calls an operator that has one of the traits."""
    op = node.op if isinstance(node, Call) else None
    return isinstance(op, Op) and any(op.has(trait) for trait in traits)


def operator_of(expr: Expr) -> str:
    """Return the name of the operator that is called; an empty string for any other expression."""
    return expr.op.name if isinstance(expr, Call) and isinstance(expr.op, Op) else ""


def varies_along(data: TensorType, other: TensorType, axes: Axes) -> bool:
    """Whether `other`, which is combined with `data` by a broadcasting operator, has the extents of `data`
    along `axes`, and a size of 1 along all other axes.
    """
    missing = len(data.shape) - len(other.shape)
    if missing < 0 or any(axis < missing for axis in axes):
        return False
    for axis, size in enumerate(other.shape, missing):
        if size != (data.shape[axis] if axis in axes else 1) or not isinstance(size, int):
            return False
    return True


def scale_of(data: TensorType, other: Expr, type_: TensorType, axes: Axes) -> Expr | None:
    """Reduce `other`, of the type `type_`, to the axes of the scale; a scalar is repeated along them. None if
    `other` varies along other axes.
    """
    if not type_.shape and data.is_static:
        value: Expr = call("expand_dims", other, axis=0, num_newaxis=len(axes))
        for place, axis in enumerate(axes):
            value = call("repeat", value, repeats=data.concrete_shape[axis], axis=place)
        return value
    if not varies_along(data, type_, axes):
        return None
    missing = len(data.shape) - len(type_.shape)
    removed = [axis - missing for axis in range(missing, len(data.shape)) if axis not in axes]
    return call("squeeze", other, axis=removed) if removed else other


def spread(scale: Expr, shape: Sequence[int], axes: Axes) -> Expr:
    """Insert axes of size 1 into a scale, so that it broadcasts along the axes of a tensor of that shape."""
    if len(axes) > 1:
        return call("reshape", scale, newshape=[s if a in axes else 1 for a, s in enumerate(shape)])
    after = len(shape) - axes[0] - 1
    return call("expand_dims", scale, axis=1, num_newaxis=after) if after else scale


def allows(ask: Ask, scale: Expr) -> bool:
    """Whether a scale satisfies a request, as far as its elements are known: one that must be positive has to
    be a constant, possibly reshaped or transposed. If the option `relay.FoldScaleAxis.constants_only` of the
    context is set, only constants do, because scaling a weight at every run costs more than scaling the data.
    """
    while calls(scale, Trait.RESHAPE, Trait.TRANSPOSE, Trait.COPY):
        assert isinstance(scale, Call)
        scale = scale.args[0]
    if not isinstance(scale, Constant):
        return not ask.positive and not PassContext.current().config.get(CONSTANTS_ONLY, False)
    values = scale.data.numpy()
    return bool((values > 0).all() if ask.positive else not ask.divides or (values != 0).all())


class Takes(NamedTuple):
    """How a convolution or dense layer absorbs a scale: one along the axes `of` of its data or result becomes
    one along the axes `into` of its weight.
    """

    of: Axes
    into: Axes


def takes_scale(layer: Call, backward: bool) -> Takes | None:
    """Return how a layer absorbs a scale of its result (`backward`) or of its data; None if it cannot.

    Convolutions can if they have one group, or as many groups as channels, and if data and weight are both in
    plain layouts or both in blocked ones. The element types must be one floating-point type, because products
    of integers could overflow.
    """
    data, weight, result = tensor_type(layer.args[0]), tensor_type(layer.args[1]), tensor_type(layer)
    scaled = result if backward else data
    if scaled.dtype != weight.dtype or not weight.dtype.startswith("float") or not weight.is_static:
        return None
    if operator_of(layer) == "nn.dense":
        return Takes((1,), (0,) if backward else (1,)) if len(data.shape) == 2 else None
    assert layer.attrs is not None
    attrs = layer.attrs
    outside = _places((attrs["out_layout"] if backward else "") or attrs["data_layout"])
    kernel = _places(attrs["kernel_layout"])
    sizes = {letter: weight.concrete_shape[place] for letter, place in kernel.items()}
    depthwise = sizes["O"] * sizes.get("o", 1) == attrs["groups"] and sizes["I"] * sizes.get("i", 1) == 1
    if attrs["groups"] != 1 and not depthwise:
        return None
    big, small = ("O", "o") if backward or depthwise else ("I", "i")
    blocks = {"c" in outside, "o" in kernel, "i" in kernel}
    if len(blocks) > 1:
        return None
    if blocks == {False}:
        return Takes((outside["C"],), (kernel[big],))
    if outside["C"] > outside["c"] or kernel[big] > kernel[small]:
        return None
    return Takes((outside["C"], outside["c"]), (kernel[big], kernel[small]))


def _places(layout: str) -> dict[str, int]:
    return {letter: place for place, (letter, _) in enumerate(parse_layout(layout))}


def with_scaled_weight(layer: Call, data: Expr, weight: Expr, scale: Expr, takes: Takes) -> Call:
    """Rebuild the layer on new arguments, with the scale folded into its weight."""
    shape = tensor_type(layer.args[1]).concrete_shape
    scaled = call("multiply", weight, spread(scale, shape, takes.into))
    return Call(layer.op, [data, scaled], layer.attrs, layer.type_args, layer.span)
