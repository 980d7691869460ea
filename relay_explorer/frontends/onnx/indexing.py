"""Convert ONNX's operators that read and write elements at indices."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError, ModelFileError
from ..base.source import Node
from .dynamic_axes import along
from .graph import Graph
from .registry import Inputs, converter
from .tools import (
    as_int64,
    constant_integers,
    normal_axis,
    number,
    operand,
    operands,
    optional,
    taken,
    text,
)

_REDUCTIONS = {"none": "update", "update": "update", "add": "add", "mul": "mul", "min": "min", "max": "max"}


@converter("Gather")
def _gather(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, indices = operands(node, inputs, 2)
    shape = g.context.shape(x)
    axis = normal_axis(g.attr(node, "axis", 0), len(shape))
    if not shape:
        raise ModelFileError("Gather requires a tensor with at least one axis")
    return taken(g, x, indices, axis)


@converter("GatherElements")
def _gather_elements(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, indices = operands(node, inputs, 2)
    shape, wanted = list(g.context.shape(x)), g.context.shape(indices)
    axis = normal_axis(g.attr(node, "axis", 0), len(shape))
    x = _cropped(g, x, indices, axis)
    if any(dim == 0 for dim in wanted):
        return relay.zeros([int(dim) for dim in wanted if isinstance(dim, int)], g.context.dtype(x))
    return relay.gather(x, axis, indices)


def _cropped(g: Graph, x: Expr, indices: Expr, axis: int) -> Expr:
    """Return the leading part of the data that the indices cover on the axes that they do not index."""
    shape, wanted = g.context.shape(x), g.context.shape(indices)
    if len(shape) != len(wanted):
        raise ModelFileError(f"the data has {len(shape)} axes, but the indices have {len(wanted)}")
    for other, (have, want) in enumerate(zip(shape, wanted)):
        if other != axis and isinstance(have, int) and isinstance(want, int) and want < have:
            x = relay.strided_slice(x, [0], [want], [1], axes=[other])
    return x


@converter("GatherND")
def _gather_nd(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, indices = operands(node, inputs, 2)
    rank = g.context.rank(indices)
    length = g.context.shape(indices)[-1]
    if not isinstance(length, int):
        raise DynamicShapeError(
            "GatherND requires that the extent of the indices' last axis is known at compile time"
        )
    first = indices if rank == 1 else relay.transpose(indices, [rank - 1, *range(rank - 1)])
    return relay.gather_nd(x, first, batch_dims=g.attr(node, "batch_dims", 0), index_rank=length)


def _reduction(node: Node, g: Graph) -> str:
    name = text(g.attr(node, "reduction"), "none")
    if name not in _REDUCTIONS:
        raise ModelFileError(f"the reduction {name!r} is not defined by ONNX")
    return _REDUCTIONS[name]


@converter("Scatter", "ScatterElements")
def _scatter_elements(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, indices, updates = operands(node, inputs, 3)
    axis = normal_axis(g.attr(node, "axis", 0), g.context.rank(x))
    return relay.scatter_elements(x, indices, updates, axis, _reduction(node, g))


@converter("ScatterND")
def _scatter_nd(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, indices, updates = operands(node, inputs, 3)
    rank = g.context.rank(indices)
    first = indices if rank == 1 else relay.transpose(indices, [rank - 1, *range(rank - 1)])
    return relay.scatter_nd(x, first, updates, _reduction(node, g))


@converter("NonZero")
def _non_zero(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    if g.context.rank(x) == 0:  # as a vector of one element, as in ONNX Runtime
        x = relay.reshape(x, (1,))
    return relay.transpose(relay.cast(relay.argwhere(x), "int64"), [1, 0])


@converter("Compress")
def _compress(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, condition = operands(node, inputs, 2)
    axis = g.attr(node, "axis")
    if axis is None:
        x, axis = relay.reshape(x, (-1,)), 0
    value = g.context.constant(condition)
    if value is not None:
        places = [index for index, keep in enumerate(value) if keep]
        return relay.take(x, const(places, "int64"), axis=normal_axis(axis, g.context.rank(x)))
    selected = relay.squeeze(relay.argwhere(condition), [1])
    return relay.take(x, relay.cast(selected, "int64"), axis=normal_axis(axis, g.context.rank(x)))


@converter("Where")
def _where(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return relay.where(*operands(node, inputs, 3))


@converter("OneHot")
def _one_hot(g: Graph, node: Node, inputs: Inputs) -> Expr:
    """Negative indices count from the end; others that are out of range give a vector of off values."""
    indices, depth, values = operands(node, inputs, 3)
    if not g.context.dtype(indices).startswith(("int", "uint")):
        indices = relay.cast(indices, "int64")
    sizes = constant_integers(g, depth)
    dtype = g.context.dtype(values)
    off, on = (relay.take(values, const(index, "int64"), axis=0) for index in (0, 1))
    index_dtype = g.context.dtype(indices)
    count: Expr = const(sizes[0], index_dtype) if sizes else relay.reshape(relay.cast(depth, index_dtype), ())
    if not index_dtype.startswith("uint"):
        zero = number(g, 0, indices)
        indices = relay.where(relay.less(indices, zero), relay.add(indices, count), indices)
    axis = g.attr(node, "axis", -1)
    size: int | Expr = sizes[0] if sizes else relay.reshape(as_int64(g, depth), ())
    return relay.one_hot(indices, on, off, size, axis, dtype)


@converter("TopK", since=1)
def _topk_by_attribute(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    return _topk(g, node, operand(node, inputs), g.required(node, "k"))


@converter("TopK", since=10)
def _topk_by_operand(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    x, k = operands(node, inputs, 2)
    sizes = constant_integers(g, k)
    return _topk(g, node, x, sizes[0] if sizes else relay.reshape(as_int64(g, k), ()))


def _topk(g: Graph, node: Node, x: Expr, k: int | Expr) -> Sequence[Expr]:
    axis = normal_axis(g.attr(node, "axis", -1), g.context.rank(x))
    smallest = not g.attr(node, "largest", 1)
    dim = g.context.shape(x)[axis]
    if isinstance(k, int) and (k < 0 or (isinstance(dim, int) and k > dim)):
        raise ModelFileError(f"k of TopK must be from 0 to the extent of its axis, {dim}, but is {k}")
    if k == 0:
        shape = [int(d) for d in g.context.static_shape(x)]
        shape[axis] = 0
        return [relay.zeros(shape, g.context.dtype(x)), relay.zeros(shape, "int64")]
    return list(relay.topk(x, k, axis, "both", smallest, "int64"))  # type: ignore[arg-type]  # a pair


@converter("CumSum", "CumProd")
def _cumulative(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, axes = operands(node, inputs, 2)
    exclusive, backwards = bool(g.attr(node, "exclusive", 0)), bool(g.attr(node, "reverse", 0))
    build = relay.cumsum if node.op == "CumSum" else relay.cumprod
    dtype = g.context.dtype(x)

    def compute(data: Expr, axis: int) -> Expr:
        if backwards:
            return relay.reverse(build(relay.reverse(data, axis), axis, dtype, exclusive), axis)
        return build(data, axis, dtype, exclusive)

    places = constant_integers(g, axes)
    if places is None:
        return along(g, x, axes, compute)
    return compute(x, normal_axis(places[0], g.context.rank(x)))


@converter("Trilu")
def _trilu(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, k = operand(node, inputs), optional(inputs, 1)
    upper = bool(g.attr(node, "upper", 1))
    return relay.trilu(x, const(0, "int64") if k is None else relay.reshape(as_int64(g, k), ()), upper)
