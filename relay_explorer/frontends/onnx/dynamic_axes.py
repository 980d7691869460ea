"""Operators whose axes the program computes. Models have constant axes; ONNX allows any operand."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from .graph import Graph
from .tools import as_int64


def counted(g: Graph, axes: Expr, rank: int) -> Expr:
    """Return a vector of axes, as int64, counted from the front."""
    axes = as_int64(g, axes)
    if g.context.rank(axes) == 0:
        axes = relay.reshape(axes, (1,))
    return relay.where(relay.less(axes, const(0, "int64")), relay.add(axes, const(rank, "int64")), axes)


def marks(g: Graph, axes: Expr, rank: int) -> Expr:
    """Return a vector that is 1 at the given axes, and 0 at the others."""
    (count,) = g.context.static_shape(axes)
    ones = const([1] * count, "int64")
    return relay.scatter_elements(const([0] * rank, "int64"), axes, ones, 0)


def _order(marked: Expr, rank: int) -> Expr:
    """Return the axes in an order in which those that are marked come last."""
    keys = relay.add(relay.multiply(marked, const(rank, "int64")), const(list(range(rank)), "int64"))
    return relay.argsort(keys, 0, True, "int64")


def permuted(g: Graph, x: Expr, order: Expr) -> Expr:
    """Return the elements of `x`, as a vector, in the order in which they are when its axes are permuted."""
    rank = g.context.rank(x)
    dims = relay.shape_of(x, "int64")
    steps: list[Expr] = [const(1, "int64")]
    for axis in range(rank - 1, 0, -1):
        steps.append(relay.multiply(steps[-1], relay.take(dims, const(axis, "int64"), axis=0)))
    strides = relay.take(relay.stack(steps[::-1], 0), order, axis=0)
    total = relay.prod(dims)
    places = relay.arange(const(0, "int64"), total, const(1, "int64"), dtype="int64")
    where = relay.unravel_index(places, relay.take(dims, order, axis=0))
    source = relay.sum(relay.multiply(where, relay.expand_dims(strides, 1)), 0)
    return relay.take(relay.reshape(x, (-1,)), source, axis=0)


def reduced(
    g: Graph, x: Expr, axes: Expr, keepdims: bool, reduce: Callable[[Graph, Expr, list[int], bool], Expr]
) -> Expr:
    """Reduce `x` over axes that the program computes: they are moved to the end, and merged."""
    rank = g.context.rank(x)
    (count,) = g.context.static_shape(axes)
    marked = marks(g, counted(g, axes, rank), rank)
    order = _order(marked, rank)
    dims = relay.shape_of(x, "int64")
    sorted_dims = relay.take(dims, order, axis=0)
    remaining = relay.strided_slice(sorted_dims, [0], [rank - count], [1])
    rest = relay.strided_slice(sorted_dims, [rank - count], [rank], [1])
    shape = relay.stack([relay.prod(remaining) if count < rank else const(1, "int64"), relay.prod(rest)], 0)
    result = reduce(g, relay.reshape(permuted(g, x, order), shape, allowzero=True), [1], False)
    if keepdims:
        return relay.reshape(result, relay.where(marked, const(1, "int64"), dims), allowzero=True)
    return relay.reshape(result, remaining, allowzero=True) if count < rank else relay.reshape(result, ())


def squeezed(g: Graph, x: Expr, axes: Expr) -> Expr:
    """Remove axes that the program computes."""
    rank = g.context.rank(x)
    (count,) = g.context.static_shape(axes)
    order = _order(marks(g, counted(g, axes, rank), rank), rank)
    remaining = relay.strided_slice(order, [0], [rank - count], [1])
    if count == rank:
        return relay.reshape(x, ())
    return relay.reshape(x, relay.take(relay.shape_of(x, "int64"), remaining, axis=0), allowzero=True)


def unsqueezed(g: Graph, x: Expr, axes: Expr) -> Expr:
    """Insert axes at places that the program computes."""
    (count,) = g.context.static_shape(axes)
    rank = g.context.rank(x) + count
    marked = marks(g, counted(g, axes, rank), rank)
    ones = const([1] * count, "int64")
    own = relay.shape_of(x, "int64")
    dims = relay.concatenate([own, ones], 0) if count < rank else ones
    # The n-th axis that is not new has the n-th of the old extents.
    place = relay.argsort(_order(marked, rank), 0, True, "int64")
    return relay.reshape(x, relay.take(dims, place, axis=0), allowzero=True)


def along(g: Graph, x: Expr, axis: Expr, compute: Callable[[Expr, int], Expr]) -> Expr:
    """Compute along an axis that the program computes: one branch for each axis."""
    from ...ir.expr import If

    rank = g.context.rank(x)
    chosen = relay.reshape(counted(g, axis, rank), ())
    result = compute(x, rank - 1)
    for place in range(rank - 2, -1, -1):
        result = If(relay.equal(chosen, const(place, "int64")), compute(x, place), result)
    return result
