"""Converters of sums over segments, and of counting."""

from __future__ import annotations

from ....ir.errors import RelayError
from ....ir.expr import Expr, const
from ....ops import namespaces as relay
from ...base.context import Results
from ...base.source import Node
from ..importer import Importer
from ..registry import converts


@converts("SegmentSum")
def _segment_sum(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.segment_sum(*inputs)


@converts("UnsortedSegmentSum")
def _unsorted_sum(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    data, ids, count = inputs
    if tf.context.rank(ids) != 1:
        raise RelayError(f"{node.op} is supported only for segment_ids with one axis")
    return relay.segment_sum(data, ids, tf.integer(count, "the number of segments"))


@converts(
    "SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSumWithNumSegments",
    "SparseSegmentMeanWithNumSegments", "SparseSegmentSqrtNWithNumSegments",
)  # fmt: skip
def _sparse_segments(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Convert sums of selected rows. The means divide by the number of rows of each segment."""
    data, indices, ids = inputs[:3]
    count = tf.integer(inputs[3], "the number of segments") if len(inputs) > 3 else None
    rows = relay.take(data, indices, axis=0)
    total = relay.segment_sum(rows, ids, count)
    kind = node.op.removesuffix("WithNumSegments")
    if kind == "SparseSegmentSum":
        return total
    dtype = tf.context.dtype(data)
    ones = relay.ones_like(relay.cast(ids, dtype))
    sizes = relay.maximum(relay.segment_sum(ones, ids, count), const(1, dtype))
    if kind == "SparseSegmentSqrtN":
        sizes = relay.sqrt(sizes)
    rank = tf.context.rank(data)
    return relay.divide(total, relay.expand_dims(sizes, 1, rank - 1) if rank > 1 else sizes)


@converts("Bincount", "DenseBincount")
def _bincount(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Count how often each number occurs, in each row of a matrix (`DenseBincount`) or in all. Numbers that
    are not below the size are ignored.
    """
    data, size, weights = inputs
    dtype = str(node.attrs.get("T", "int32"))
    rank = tf.context.rank(data)
    if rank != 1 and (node.op == "Bincount" or rank != 2):
        data = relay.reshape(data, [-1])
        rank = 1
    weighted = tf.context.shape(weights) != (0,)
    if weighted and tf.context.rank(weights) != rank:
        weights = relay.reshape(weights, [-1])
    added = weights if weighted else relay.ones_like(relay.cast(data, dtype))
    if node.op == "DenseBincount" and node.attrs.get("binary_output"):
        added = relay.ones_like(added)
    in_range = relay.less(data, relay.cast(size, tf.context.dtype(data)))
    added = relay.where(in_range, added, relay.zeros_like(added))
    places = relay.where(in_range, data, relay.zeros_like(data))
    known = tf.value(size)
    count = relay.reshape(relay.cast(size, "int64"), [1])
    shape: Expr | list[int]
    if rank == 2:
        rows = relay.strided_slice(relay.shape_of(data, dtype="int64"), [0], [1], [1])
        shape = relay.concatenate([rows, count], 0)
        static = tf.context.shape(data)[0]
        if known is not None and isinstance(static, int):
            shape = [static, int(known)]
    else:
        shape = [int(known)] if known is not None else count
    start = relay.zeros(shape, dtype)
    summed = relay.scatter_elements(start, relay.cast(places, "int64"), added, axis=rank - 1, reduction="add")
    if node.attrs.get("binary_output"):
        return relay.minimum(summed, const(1, dtype))
    return summed
