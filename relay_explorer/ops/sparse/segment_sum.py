"""`segment_sum`: sums of slices by segment, composed of other operators."""

from __future__ import annotations

from ...ir.expr import Expr, Tuple, const
from ..arguments import expr
from ..calls import relay

__all__ = ["segment_sum"]


def segment_sum(data: Expr, segment_ids: Expr, num_segments: int | Expr | None = None) -> Expr:
    """Sum, for each segment, the slices `data[n]` whose `segment_ids[n]` is the segment's index. There are
    `num_segments` of them, or else one more than the greatest id. Slices without an id are ignored.
    """
    rows, ids = expr(data), expr(segment_ids)
    if num_segments is None or (isinstance(num_segments, int) and num_segments == 0):
        count: Expr = relay.reshape(relay.max(ids, 0), (1,)) + relay.cast_like(const([1]), ids)
    elif isinstance(num_segments, int):
        count = const([num_segments], "int64")
    else:
        count = relay.reshape(num_segments, (1,))
    inner = relay.strided_slice(relay.shape_of(rows, "int64"), [1], [-1], slice_mode="size")
    shape = relay.concatenate(Tuple([relay.cast_like(count, inner), inner]), 0)
    start = relay.cast_like(relay.zeros(shape, "float64"), rows)
    return relay.scatter_nd(start, relay.expand_dims(ids, 0), relay.slice_like(rows, ids, axes=[0]), "add")
