"""Operators that look elements up."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.context import Results
from .elementwise import number
from .registry import Operation, converts


def integers(op: Operation, index: int) -> Expr:
    """Return an input as integers: MXNet's indices are often floats."""
    dtype = op.dtype(index)
    return op[index] if dtype in ("int32", "int64") else relay.cast(op[index], "int32")


@converts("take", "_npx_take", "_np_take")
def take(op: Operation) -> Results:
    mode = op.attrs.text("mode", "clip")
    # The mode "raise" fails at an index out of range, which a correct model does not have.
    return relay.take(
        op[0], integers(op, 1), op.axis(op.attrs.int("axis", 0)), mode="wrap" if mode == "wrap" else "clip"
    )


@converts("batch_take")
def batch_take(op: Operation) -> Results:
    return _pick(op, 1, False, "clip")


@converts("pick", "choose_element_0index", "_npx_pick")
def pick(op: Operation) -> Results:
    axis = op.axis(op.attrs.int("axis", -1))
    return _pick(op, axis, op.attrs.bool("keepdims", False), op.attrs.text("mode", "clip"))


def _pick(op: Operation, axis: int, keep: bool, mode: str) -> Expr:
    """Return the element of each row along `axis` at an index."""
    indices = integers(op, 1)
    extent = op.extent(0, axis)
    dtype = op.context.dtype(indices)
    if mode == "wrap":
        indices = relay.floor_mod(indices, const(extent, dtype))
    else:
        indices = relay.clip(indices, 0, extent - 1)
    if op.context.rank(indices) < op.rank():
        indices = relay.expand_dims(indices, axis)
    result = relay.gather(op[0], axis, indices)
    return result if keep else relay.squeeze(result, [axis])


@converts("Embedding", "_npx_embedding", "_contrib_SparseEmbedding")
def embedding(op: Operation) -> Results:
    return relay.take(op[1], integers(op, 0), 0, mode="clip")


@converts("one_hot", "_npx_one_hot")
def one_hot(op: Operation) -> Results:
    dtype = op.attrs.dtype(default="float32")
    on, off = op.attrs.float("on_value", 1.0), op.attrs.float("off_value", 0.0)
    whole = "int" in dtype
    values = [const(int(value) if whole else value, dtype) for value in (on, off)]
    return relay.one_hot(integers(op, 0), values[0], values[1], op.attrs.int("depth"), -1, dtype)


@converts("gather_nd", "_npx_gather_nd")
def gather_nd(op: Operation) -> Results:
    return relay.gather_nd(op[0], integers(op, 1))


@converts("scatter_nd")
def scatter_nd(op: Operation) -> Results:
    base = relay.zeros(op.attrs.ints("shape"), op.dtype())
    return relay.scatter_nd(base, integers(op, 1), op[0], "update")


@converts("SequenceMask", "_npx_sequence_mask", "sequence_mask")
def sequence_mask(op: Operation) -> Results:
    if not op.attrs.bool("use_sequence_length", False):
        return op[0]
    axis = op.attrs.int("axis", 0)
    return relay.sequence_mask(op[0], integers(op, 1), op.attrs.float("value", 0.0), axis)


@converts("SequenceReverse")
def sequence_reverse(op: Operation) -> Results:
    if op.attrs.int("axis", 0) != 0:
        raise RelayError("SequenceReverse is supported only with axis=0")
    if not op.attrs.bool("use_sequence_length", False):
        return relay.reverse(op[0], 0)
    return relay.reverse_sequence(op[0], relay.cast(op[1], "int32"), 0, 1)


@converts("SequenceLast")
def sequence_last(op: Operation) -> Results:
    axis = op.attrs.int("axis", 0)
    if not op.attrs.bool("use_sequence_length", False):
        return relay.take(op[0], const(op.extent(0, axis) - 1, "int32"), axis)
    last = relay.subtract(integers(op, 1), const(1, op.context.dtype(integers(op, 1))))
    rank = op.rank()
    index = relay.expand_dims(last, 0 if axis == 0 else 1)
    index = relay.expand_dims(index, 2, rank - 2) if rank > 2 else index
    shape = [1 if number == axis else op.extent(0, number) for number in range(rank)]
    return relay.squeeze(relay.gather(op[0], axis, relay.broadcast_to(index, shape)), [axis])


@converts("_contrib_index_copy")
def index_copy(op: Operation) -> Results:
    return relay.scatter_nd(op[0], relay.expand_dims(integers(op, 1), 0), op[2], "update")


@converts("_contrib_boolean_mask")
def boolean_mask(op: Operation) -> Results:
    """Return the rows at which a vector is not zero; their number is known only at run time."""
    rows = relay.argwhere(relay.not_equal(op[1], number(op, 0, 1)))
    return relay.take(op[0], relay.squeeze(relay.cast(rows, "int32"), [1]), 0)
