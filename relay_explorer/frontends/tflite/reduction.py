"""Converters of reductions."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.axes import normal_axis
from ..base.errors import DynamicShapeError
from .operation import Operation, converter

_REDUCTIONS: dict[str, Callable[..., Expr]] = {
    "SUM": relay.sum, "MEAN": relay.mean, "REDUCE_PROD": relay.prod, "REDUCE_MAX": relay.max,
    "REDUCE_MIN": relay.min, "REDUCE_ANY": relay.any, "REDUCE_ALL": relay.all,
}  # fmt: skip


@converter(*_REDUCTIONS)
def _reduced(op: Operation) -> Expr:
    rank = op.rank(0)
    axes = sorted({normal_axis(axis, rank) for axis in op.ints(1, "the axes of a reduction")})
    if not axes:
        return op[0]
    return _REDUCTIONS[op.name](op[0], axes, keepdims=bool(op.attr("keep_dims", False)))


@converter("ARG_MAX", "ARG_MIN", mode="stored")
def _position(op: Operation) -> Expr:
    (axis,) = op.ints(1, "the axis")
    find = relay.argmax if op.name == "ARG_MAX" else relay.argmin
    index = find(op[0], normal_axis(axis, op.rank(0)))
    dtype = op.result().dtype
    return index if op.context.dtype(index) == dtype else relay.cast(index, dtype)


@converter("CUMSUM")
def _cumsum(op: Operation) -> Expr:
    (axis,) = op.ints(1, "the axis")
    axis = normal_axis(axis, op.rank(0))
    x, reverse = op[0], bool(op.attr("reverse", False))
    if reverse:
        x = relay.reverse(x, axis)
    result: Expr = relay.cumsum(x, axis, exclusive=bool(op.attr("exclusive", False)))
    return relay.reverse(result, axis) if reverse else result


@converter("SEGMENT_SUM")
def _segment_sum(op: Operation) -> Expr:
    ids = op.values(1)
    if ids is None:
        raise DynamicShapeError("the segment ids of SEGMENT_SUM must be known at compile time")
    count = int(ids.max()) + 1 if ids.size else 0
    return _into_segments(op, count, "add")


_SEGMENTS = {
    "UNSORTED_SEGMENT_SUM": "add", "UNSORTED_SEGMENT_PROD": "mul", "UNSORTED_SEGMENT_MAX": "max",
    "UNSORTED_SEGMENT_MIN": "min",
}  # fmt: skip


@converter(*_SEGMENTS)
def _unsorted_segment(op: Operation) -> Expr:
    (count,) = op.ints(2, "the number of segments")
    return _into_segments(op, count, _SEGMENTS[op.name])


def _into_segments(op: Operation, count: int, how: str) -> Expr:
    shape, dtype = op.context.static_shape(op[0]), op.context.dtype(op[0])
    if count < 0:
        raise RelayError(f"the number of segments must not be negative, but is {count}")
    base = relay.full(const(_neutral(how, dtype), dtype), (count, *shape[op.rank(1) :]), dtype)
    return relay.scatter_nd(base, relay.expand_dims(op.stored(1), 0), op[0], how)


def _neutral(how: str, dtype: str) -> float:
    """Return the value of an empty segment."""
    import numpy as np

    if how in ("add", "mul"):
        return 0 if how == "add" else 1
    limits = np.finfo(dtype) if dtype.startswith("float") else np.iinfo(dtype)
    bound = limits.min if how == "max" else limits.max
    return float(bound) if dtype.startswith("float") else int(bound)
