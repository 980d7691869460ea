"""Sorting, selecting the greatest elements, and searching."""

from __future__ import annotations

from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ir.tuple_wrapper import TupleWrapper
from ...ops import namespaces as relay
from .context import Aten
from .registry import aten
from .values import Int, Scalar, Value


@aten("topk")
def topk(ctx: Aten, x: Expr, k: Int, dim: int = -1, largest: bool = True, is_sorted: bool = True) -> Value:
    """Return the k greatest or least elements along an axis, and their indices."""
    axis = ctx.axis(dim, ctx.rank(x))
    count = ctx.unwrapped(k) if isinstance(k, Scalar) else k
    if isinstance(count, Scalar):
        extent: int | Expr = ctx.tensor(count, "int64")
    else:
        extent = int(count)
    values = cast(
        TupleWrapper, relay.topk(x, extent, axis=axis, ret_type="both", is_ascend=not largest, dtype="int64")
    )
    return [values[0], values[1]]


def _sorted(ctx: Aten, x: Expr, dim: int, descending: bool) -> tuple[Expr, Expr]:
    if not ctx.rank(x):
        return x, const(0, "int64")
    axis = ctx.axis(dim, ctx.rank(x))
    order = relay.argsort(x, axis=axis, is_ascend=not descending, dtype="int64")
    return relay.gather(x, axis, order), order


@aten("sort", "sort.default")
def sort(ctx: Aten, x: Expr, dim: int = -1, descending: bool = False) -> Value:
    return _sorted(ctx, x, dim, descending)


@aten("sort.stable")
def sort_stable(ctx: Aten, x: Expr, stable: bool | None, dim: int = -1, descending: bool = False) -> Value:
    return _sorted(ctx, x, dim, descending)


@aten("argsort", "argsort.default")
def argsort(ctx: Aten, x: Expr, dim: int = -1, descending: bool = False) -> Value:
    return _sorted(ctx, x, dim, descending)[1]


@aten("argsort.stable")
def argsort_stable(ctx: Aten, x: Expr, stable: bool, dim: int = -1, descending: bool = False) -> Value:
    return _sorted(ctx, x, dim, descending)[1]


@aten("msort")
def msort(ctx: Aten, x: Expr) -> Value:
    return _sorted(ctx, x, 0, False)[0]


@aten("kthvalue")
def kthvalue(ctx: Aten, x: Expr, k: int, dim: int = -1, keepdim: bool = False) -> Value:
    """Return the k-th least element along an axis, counted from 1, and its index."""
    axis = ctx.axis(dim, ctx.rank(x))
    both = []
    for part in _sorted(ctx, x, axis, False):
        chosen = relay.take(part, const(ctx.integer(k, "k") - 1, "int64"), axis=axis)
        both.append(relay.expand_dims(chosen, axis) if keepdim else chosen)
    return both


@aten("_unique2")
def unique(
    ctx: Aten, x: Expr, is_sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> Value:
    """Return the distinct elements, for each element the index of its value, and how often each occurs."""
    flat = relay.reshape(x, (-1,))
    results = relay.unique(flat, is_sorted=True, return_counts=True)
    values, _, inverse, count, counts = (results[index] for index in range(5))
    end = relay.reshape(ctx.cast(count, "int64"), (1,))
    values, counts = [
        relay.strided_slice(part, const([0], "int64"), end, const([1], "int64"), slice_mode="end")
        for part in (values, counts)
    ]
    places = ctx.reshape(relay.cast(inverse, "int64"), ctx.sizes(x))
    return values, places if return_inverse else None, relay.cast(counts, "int64") if return_counts else None


@aten("_unique")
def unique_pair(ctx: Aten, x: Expr, is_sorted: bool = True, return_inverse: bool = False) -> Value:
    values, places, _ = cast("tuple[Value, Value, Value]", unique(ctx, x, is_sorted, return_inverse))
    return values, places


@aten("unique_consecutive")
def unique_consecutive(
    ctx: Aten, x: Expr, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Value:
    """Return a vector without repetitions of the element before, and for each element its index there."""
    if dim is not None and ctx.rank(x) != 1:
        raise RelayError("unique_consecutive with dim cannot be imported")
    if return_counts:
        raise RelayError("unique_consecutive with return_counts=True cannot be imported")
    flat = relay.reshape(x, (-1,))
    before = relay.strided_slice(flat, [0], [-1], slice_mode="end")
    after = relay.strided_slice(flat, [1], [1 << 31], slice_mode="end")
    first = relay.ones((1,), "bool")
    fresh = relay.concatenate([first, relay.not_equal(after, before)], 0)
    places = relay.subtract(relay.cumsum(relay.cast(fresh, "int64"), axis=0), const(1, "int64"))
    starts = relay.cast(relay.squeeze(relay.argwhere(fresh), [1]), "int64")
    inverse = ctx.reshape(places, ctx.sizes(x)) if return_inverse else None
    return relay.take(flat, starts, axis=0), inverse, None


def _searched(ctx: Aten, row: Expr, values: Value, int32: bool, right: bool) -> Expr:
    if isinstance(values, Expr):
        x = values
        dtype = ctx.result_type(row, x)
    else:
        dtype = ctx.result_type(row, values)
        x = ctx.tensor(values, dtype)
    row, x = ctx.cast(row, dtype), ctx.cast(x, dtype)
    single = not ctx.rank(x)
    x = relay.reshape(x, (1,)) if single else x
    positions = relay.searchsorted(row, x, right=right, dtype="int32" if int32 else "int64")
    return relay.reshape(positions, ()) if single else positions


@aten("searchsorted", "searchsorted.Tensor", "searchsorted.Scalar")
def searchsorted(
    ctx: Aten,
    row: Expr,
    values: Value,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Expr | None = None,
) -> Value:
    if sorter is not None:
        row = relay.gather(row, ctx.rank(row) - 1, sorter)
    return _searched(ctx, row, values, out_int32, right or side == "right")


@aten("bucketize", "bucketize.Tensor", "bucketize.Scalar")
def bucketize(
    ctx: Aten, values: Value, boundaries: Expr, out_int32: bool = False, right: bool = False
) -> Value:
    return _searched(ctx, boundaries, values, out_int32, right)


@aten("bincount")
def bincount(ctx: Aten, x: Expr, weights: Expr | None = None, minlength: int = 0) -> Value:
    """Count how often each number occurs, or add up the weights of its occurrences. The length of the result
    is one more than the greatest number, or `minlength` if that is more.
    """
    index = ctx.cast(x, "int64")
    length = relay.add(relay.max(index), const(1, "int64"))
    length = relay.maximum(length, const(minlength, "int64"))
    if weights is None:
        added: Expr = relay.ones_like(index)
    else:  # floats as they are, others as float64
        added = weights if ctx.dtype(weights) == "float32" else ctx.cast(weights, "float64")
    counts = ctx.full([ctx.scalar(length)], 0, ctx.dtype(added))
    return relay.scatter_elements(counts, index, added, axis=0, reduction="add")


@aten("cummax", "cummin")
def cumulative_extreme(ctx: Aten, x: Expr, dim: int) -> Value:
    """Raise a RelayError: of the cumulative operators, Relay has only cumsum and cumprod."""
    raise RelayError("cummax and cummin cannot be imported: Relay has only cumsum and cumprod")
