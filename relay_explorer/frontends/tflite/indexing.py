"""Converters of gathers, scatters, selections and sorting."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.axes import normal_axis
from ..base.context import Results
from .operation import Operation, converter


def _checked_indices(op: Operation, index: int, extent: object) -> Expr:
    """Return an index operand; raise a RelayError if it is known, and refers to elements that do not exist.

    Relay's `take` clamps indices.
    """
    values = op.values(index)
    if values is not None and isinstance(extent, int) and values.size:
        low, high = int(values.min()), int(values.max())
        if low < 0 or high >= extent:
            raise RelayError(
                f"index {low if low < 0 else high} is out of range for an axis of {extent} elements"
            )
    return op.stored(index)


@converter("GATHER", mode="stored")
def _gather(op: Operation) -> Expr:
    axis = normal_axis(int(op.attr("axis")), op.rank(0))
    batch = int(op.attr("batch_dims"))
    if batch < 0:
        batch += op.rank(1)
    indices = _checked_indices(op, 1, op.shape(0)[axis])
    return relay.take(op[0], indices, axis, batch_dims=batch)


@converter("EMBEDDING_LOOKUP", mode="own")
def _embedding_lookup(op: Operation) -> Expr:
    op.mode = "real"
    return relay.take(op[1], _checked_indices(op, 0, op.shape(1)[0]), 0)


@converter("GATHER_ND", mode="stored")
def _gather_nd(op: Operation) -> Expr:
    rank = op.rank(1)
    indices = relay.transpose(op.stored(1), (rank - 1, *range(rank - 1)))  # Relay has the coordinates first
    return relay.gather_nd(op[0], indices)


@converter("SCATTER_ND", mode="stored")
def _scatter_nd(op: Operation) -> Expr:
    """Add up the updates. Elements without one are zero as they are stored, also if that is not the zero
    point: TensorFlow Lite does the same.
    """
    shape = op.ints(2, "the shape of the result")
    rank = op.rank(0)
    indices = relay.transpose(op.stored(0), (rank - 1, *range(rank - 1)))
    return relay.scatter_nd(relay.zeros(shape, op.context.dtype(op[1])), indices, op[1], "add")


@converter("SPARSE_TO_DENSE", mode="own")
def _sparse_to_dense(op: Operation) -> Expr:
    shape = op.ints(1, "the shape of the result")
    indices, values = op.stored(0), op.stored(2)
    if op.rank(0) == 0:
        indices = relay.reshape(indices, (1,))
    if op.context.rank(indices) == 2 and op.rank(2) == 0:
        values = relay.broadcast_to(values, (op.extents(0, (0,))[0],))
    return relay.sparse_to_dense(indices, shape, values, op.stored(3))


@converter("TOPK_V2", mode="stored")
def _topk(op: Operation) -> Results:
    (k,) = op.ints(1, "k")
    pair = relay.topk(op[0], k, dtype=op.result(1).dtype)
    assert not isinstance(pair, Expr)
    return pair


@converter("ONE_HOT", mode="own")
def _one_hot(op: Operation) -> Expr:
    (depth,) = op.ints(1, "the depth")
    axis = int(op.attr("axis", -1))
    return relay.one_hot(op.stored(0), op.stored(2), op.stored(3), depth, axis, op.result().dtype)


@converter("WHERE", mode="own")
def _where(op: Operation) -> Expr:
    return relay.cast(relay.argwhere(op[0]), op.result().dtype)


@converter("UNIQUE", mode="own")
def _unique(op: Operation) -> Results:
    """Return the distinct elements in the order of their first occurrence, and the index of each element."""
    results = relay.unique(op[0], is_sorted=False)
    distinct, inverse, count = results[0], results[1], results[3]
    used = relay.strided_slice(distinct, const([0], "int64"), relay.cast(count, "int64"), const([1], "int64"))
    return [used, relay.cast(inverse, op.result(1).dtype)]


@converter("MATRIX_DIAG", mode="stored")
def _matrix_diag(op: Operation) -> Expr:
    shape = op.extents(0, range(op.rank(0)))
    quantization = op.result().quantization
    zero = quantization.zero_point[0] if op.mode == "stored" and quantization is not None else 0
    dtype = op.context.dtype(op[0])
    blank = relay.full(const(zero, dtype), (*shape, shape[-1]), dtype)
    return relay.matrix_set_diag(blank, op[0])


@converter("MATRIX_SET_DIAG", mode="stored")
def _matrix_set_diag(op: Operation) -> Expr:
    return relay.matrix_set_diag(op[0], op[1])


@converter("BUCKETIZE", mode="own")
def _bucketize(op: Operation) -> Expr:
    boundaries = const(list(map(float, op.attr("boundaries", ()))), "float32")
    values = relay.cast(op[0], "float32")
    return relay.searchsorted(boundaries, values, right=True, dtype="int32")
