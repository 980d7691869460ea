"""Convert ONNX's Unique."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, converter
from .tools import as_int64, extent_of, normal_axis, operand

_LONGEST = 256  # elements of a slice; each takes one sort


@converter("Unique", since=11)
def _unique(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    x = operand(node, inputs)
    axis = g.attr(node, "axis", None)
    ordered = bool(g.attr(node, "sorted", 1))
    rank = g.context.rank(x)
    if axis is None or rank == 1:
        if axis is not None:
            normal_axis(axis, rank)
        return _of_vector(g, relay.reshape(x, [-1]) if rank != 1 else x, ordered)
    return _of_slices(g, x, normal_axis(axis, rank), ordered)


def _of_vector(g: Graph, x: Expr, ordered: bool) -> Sequence[Expr]:
    values, first, inverse, number, counts = relay.unique(x, is_sorted=ordered, return_counts=True)
    number = relay.reshape(as_int64(g, number), [])
    positions = relay.arange(const(0, "int64"), number, const(1, "int64"), "int64")
    first, counts = [as_int64(g, relay.take(row, positions, axis=0)) for row in (first, counts)]
    return [relay.take(values, positions, axis=0), first, as_int64(g, inverse), counts]


def _of_slices(g: Graph, x: Expr, axis: int, ordered: bool) -> Sequence[Expr]:
    """Find equal slices by sorting them: by their last element first, with sorts that are stable."""
    shape = g.context.shape(x)
    length = 1
    for index, extent in enumerate(shape):
        if index != axis:
            if not isinstance(extent, int):
                raise DynamicShapeError(
                    "Unique requires that the shape of the slices that it compares is known at compile time"
                )
            length *= extent
    if not 0 < length <= _LONGEST:
        raise RelayError(
            f"Unique can be imported for slices of 1 to {_LONGEST} elements, but they have {length}"
        )
    order = [axis, *[a for a in range(len(shape)) if a != axis]]
    rows = relay.reshape(relay.transpose(x, order), [-1, length])
    count = extent_of(g, x, axis)
    zero, one = const(0, "int64"), const(1, "int64")
    ranked: Expr = relay.arange(zero, count, one, "int64")
    for column in range(length - 1, -1, -1):
        keys = relay.take(relay.take(rows, const(column, "int64"), axis=1), ranked, axis=0)
        ranked = relay.take(ranked, relay.argsort(keys, axis=0, dtype="int64"), axis=0)
    sorted_rows = relay.take(rows, ranked, axis=0)
    before = relay.take(rows, relay.take(ranked, _previous(count), axis=0), axis=0)
    differs = relay.any(relay.not_equal(sorted_rows, before), axis=1)
    is_first = relay.equal(relay.arange(zero, count, one, "int64"), zero)
    starts = relay.logical_or(differs, is_first)
    group = relay.subtract(relay.cumsum(relay.cast(starts, "int64"), axis=0, dtype="int64"), one)
    places = relay.squeeze(as_int64(g, relay.argwhere(starts)), [1])
    first = relay.take(ranked, places, axis=0)
    inverse = relay.scatter_elements(relay.zeros_like(ranked), ranked, group, 0, "update")
    counts = relay.scatter_elements(relay.zeros_like(ranked), group, relay.ones_like(group), 0, "add")
    number = relay.take(relay.shape_of(first, "int64"), zero)
    counts = relay.take(counts, relay.arange(zero, number, one, "int64"), axis=0)
    if not ordered:
        appearance = relay.argsort(first, axis=0, dtype="int64")
        first, counts = relay.take(first, appearance, axis=0), relay.take(counts, appearance, axis=0)
        new = relay.arange(zero, number, one, "int64")
        renumbered = relay.scatter_elements(relay.zeros_like(new), appearance, new, 0, "update")
        inverse = relay.take(renumbered, inverse, axis=0)
    return [relay.take(x, first, axis=axis), first, inverse, counts]


def _previous(count: Expr) -> Expr:
    """Return the vector 0, 0, 1, 2, … of as many elements as `count`."""
    zero, one = const(0, "int64"), const(1, "int64")
    return relay.maximum(relay.subtract(relay.arange(zero, count, one, "int64"), one), zero)
