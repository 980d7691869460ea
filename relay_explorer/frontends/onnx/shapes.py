"""Convert ONNX's operators that change or compute shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.expr import Expr, const
from ...ir.size import SizeVar
from ...ir.types import Any, Dim
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError, ModelFileError
from ..base.reshaping import Extent, named, product, static_reshape, with_inferred
from ..base.shared_extents import reshape_like
from ..base.source import Node
from .dynamic_axes import squeezed, unsqueezed
from .graph import Graph
from .registry import Inputs, converter
from .tools import (
    as_int64,
    axes_of,
    constant_integers,
    extent_of,
    integers,
    normal_axes,
    normal_axis,
    operand,
    operands,
    optional,
    shape_vector,
    text,
)


@converter("Reshape", since=1)
def _reshape_by_attribute(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return relay.reshape(operand(node, inputs), list(g.required(node, "shape")))


@converter("Reshape", since=5)
def _reshape(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, shape = operands(node, inputs, 2)
    return reshape(g, x, shape, bool(g.attr(node, "allowzero", 0)))


def reshape(g: Graph, x: Expr, shape: Expr, allowzero: bool = False) -> Expr:
    """Reshape `x` to the extents in the vector `shape`: 0 copies an axis, -1 is what remains. The result's
    type is as precise as what is known of them.
    """
    known = g.context.known(shape)
    if known is None:
        value = constant_integers(g, shape)
        if value is None:
            return relay.reshape(x, as_int64(g, shape), allowzero=allowzero)
        known = tuple(value)
    source = named(g.context.shape(x))
    target = _target(source, known, allowzero)
    result = static_reshape(x, source, target)
    if result is None:
        result = reshape_like(g.context, x, source, target, shape)
    return relay.reshape(x, as_int64(g, shape), allowzero=allowzero) if result is None else result


def _target(source: Sequence[Extent], known: Sequence[Dim], allowzero: bool) -> list[Extent]:
    """Return the extents of the new shape; what -1 stands for is computed where that is possible."""
    target: list[Extent] = []
    for axis, dim in enumerate(known):
        if isinstance(dim, Any):
            target.append(SizeVar(f"unknown{axis}"))
        elif isinstance(dim, int) and dim == 0 and not allowzero:
            if axis >= len(source):
                raise ModelFileError(
                    f"the shape {list(known)} copies axis {axis}, but the tensor has {len(source)} axes"
                )
            target.append(source[axis])
        else:
            target.append(dim)
    if target.count(-1) > 1 or any(isinstance(dim, int) and dim < -1 for dim in target):
        raise ModelFileError(
            f"the shape {list(known)} is invalid: one extent can be -1, and no other is negative"
        )
    return with_inferred(source, target)


@converter("Flatten")
def _flatten(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    shape = g.context.shape(x)
    declared = g.attr(node, "axis", 1)
    if not -len(shape) <= declared <= len(shape):
        raise ModelFileError(f"there is no axis {declared}: the tensor has {len(shape)} axes")
    axis = declared + len(shape) if declared < 0 else declared
    before, after = product(shape[:axis]), product(shape[axis:])
    if axis == 1 and len(shape) > 1 and isinstance(before, int) and isinstance(after, int):
        return relay.nn.batch_flatten(x)
    if isinstance(after, int) and (isinstance(before, int) or after > 0):
        return relay.reshape(
            x, [before if isinstance(before, int) else -1, after], allowzero=after == 0 or before == 0
        )
    if isinstance(before, int) and before > 0:
        return relay.reshape(x, [before, -1])
    if axis == 1:
        return relay.nn.batch_flatten(x)
    rows: Anything = const(1, "int64")
    for place in range(axis):
        rows = relay.multiply(rows, extent_of(g, x, place))
    columns: Anything = const(1, "int64")
    for place in range(axis, len(shape)):
        columns = relay.multiply(columns, extent_of(g, x, place))
    return reshape(g, x, shape_vector(g, [rows, columns]), allowzero=True)


@converter("Squeeze")
def _squeeze(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    axes_operand = optional(inputs, 1)
    if axes_operand is not None and constant_integers(g, axes_operand) is None:
        return squeezed(g, x, axes_operand)
    axes = axes_of(g, node, inputs)
    shape = g.context.shape(x)
    if axes is None:
        if any(not isinstance(dim, int) for dim in shape):
            raise DynamicShapeError(
                "Squeeze without axes requires a static shape, because it removes the axes of extent 1"
            )
        axes = [axis for axis, dim in enumerate(shape) if dim == 1]
    axes = normal_axes(axes, len(shape))
    return relay.squeeze(x, axes) if axes else x


@converter("Unsqueeze")
def _unsqueeze(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    axes_operand = optional(inputs, 1)
    if axes_operand is not None and constant_integers(g, axes_operand) is None:
        return unsqueezed(g, x, axes_operand)
    axes = axes_of(g, node, inputs)
    if axes is None:
        raise ModelFileError("the axes of Unsqueeze are missing")
    for axis in normal_axes(axes, g.context.rank(x) + len(axes)):
        x = relay.expand_dims(x, axis)
    return x


@converter("Transpose")
def _transpose(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    axes = g.attr(node, "perm")
    rank = g.context.rank(x)
    order = list(range(rank))[::-1] if axes is None else list(axes)
    if sorted(order) != list(range(rank)):
        raise ModelFileError(f"perm={order} is not a permutation of the {rank} axes")
    return x if order == list(range(rank)) else relay.transpose(x, order)


@converter("Shape")
def _shape(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    rank = g.context.rank(x)
    begin, end, _ = slice(g.attr(node, "start", 0), g.attr(node, "end", rank)).indices(rank)
    if begin >= end:
        return const([], "int64")
    shape = relay.shape_of(x, "int64")
    return shape if (begin, end) == (0, rank) else relay.strided_slice(shape, [begin], [end], [1])


@converter("Size")
def _size(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    dims = g.context.shape(x)
    total = product(dims)
    if isinstance(total, int):
        return const(total, "int64")
    return relay.prod(relay.shape_of(x, "int64"))


@converter("Expand")
def _expand(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, shape = operands(node, inputs, 2)
    return expand(g, x, shape)


def expand(g: Graph, x: Expr, shape: Expr) -> Expr:
    """Broadcast `x` and a tensor of the given shape against each other."""
    own = g.context.shape(x)
    known = g.context.known(shape)
    if known is None:
        value = constant_integers(g, shape)
        known = None if value is None else tuple(value)
    if known is None:
        (length,) = g.context.static_shape(shape)
        known = (Any(),) * length
    rank = max(len(own), len(known))
    mine: list[Dim] = [1] * (rank - len(own)) + list(own)
    theirs: list[Dim] = [1] * (rank - len(known)) + list(known)
    lead = rank - len(known)
    target: list[int | Expr] = []
    unchanged = len(own) == rank
    vector = as_int64(g, shape)
    for axis, (a, b) in enumerate(zip(mine, theirs)):
        if b == 1 or (a == b and not isinstance(a, Any)):
            target.append(a if isinstance(a, int) else extent_of(g, x, axis - rank + len(own)))
        elif a == 1:
            unchanged = False
            target.append(b if isinstance(b, int) else _element(vector, axis - lead))
        elif isinstance(a, int) and isinstance(b, int):
            raise ModelFileError(f"a tensor of the shape {tuple(own)} cannot be expanded to {tuple(known)}")
        elif isinstance(a, int):
            target.append(a)  # the other is 1 or the same
        else:
            unchanged = False
            other: Expr = const(b, "int64") if isinstance(b, int) else _element(vector, axis - lead)
            target.append(relay.maximum(extent_of(g, x, axis - rank + len(own)), other))
    if unchanged:
        return x
    numbers = [dim for dim in target if isinstance(dim, int)]
    if len(numbers) == rank:
        return relay.broadcast_to(x, numbers)
    return relay.broadcast_to(x, shape_vector(g, target))


def _element(vector: Expr, index: int) -> Expr:
    return relay.take(vector, const(index, "int64"), axis=0)


@converter("Tile", since=1)
def _tile_along(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, tiles, axis = operands(node, inputs, 3)
    counts = [1] * g.context.rank(x)
    (place,) = integers(g, axis, "the axis of Tile")
    counts[normal_axis(place, len(counts))] = integers(g, tiles, "the count of Tile")[0]
    return relay.tile(x, counts)


@converter("Tile", since=6)
def _tile(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, repeats = operands(node, inputs, 2)
    counts = constant_integers(g, repeats)
    if counts is None:
        return relay.tile(x, as_int64(g, repeats))
    return x if all(count == 1 for count in counts) else relay.tile(x, counts)


@converter("DepthToSpace")
def _depth_to_space(g: Graph, node: Node, inputs: Inputs) -> Expr:
    mode = text(g.attr(node, "mode"), "DCR")
    if mode not in ("DCR", "CRD"):
        raise ModelFileError(f"the mode {mode!r} of DepthToSpace is not defined by ONNX")
    return relay.nn.depth_to_space(operand(node, inputs), g.required(node, "blocksize"), "NCHW", mode)


@converter("SpaceToDepth")
def _space_to_depth(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, block = operand(node, inputs), g.required(node, "blocksize")
    result = relay.nn.space_to_depth(x, block, "NCHW")
    if text(g.attr(node, "mode"), "DCR") == "DCR":
        return result
    # The elements of a block come after one another in the channels, instead of the channels of each.
    parts = relay.reshape(result, [0, -4, block * block, -1, 0, 0])
    return relay.reshape(relay.transpose(parts, [0, 2, 1, 3, 4]), [0, -3, 0, 0])
