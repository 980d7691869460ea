"""Reading and writing at computed indices: `x[i, j]`, `x[mask]`, `index_select`, `take`."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from .context import Aten
from .registry import aten
from .values import Int, Scalar, Value


def coordinates(ctx: Aten, mask: Expr) -> list[Expr]:
    """Return the indices at which a mask of bools is true: one vector for each of its axes."""
    if not ctx.rank(mask):
        raise RelayError("a mask that is a scalar cannot be imported as an index")
    positions = relay.argwhere(mask)
    return [
        relay.cast(relay.take(positions, const(axis, "int64"), axis=1), "int64")
        for axis in range(ctx.rank(mask))
    ]


def _index_tensors(ctx: Aten, indices: Sequence[Value]) -> list[Expr | None]:
    """Return one tensor of integers, or None, for each axis that is indexed; masks become coordinates."""
    result: list[Expr | None] = []
    for index in indices:
        if index is None:
            result.append(None)
            continue
        tensor = ctx.tensor(index)
        if ctx.dtype(tensor) in ("bool", "uint8"):
            result += coordinates(ctx, ctx.cast(tensor, "bool"))
        else:
            result.append(ctx.cast(tensor, "int64"))
    return result


def _to_front(ctx: Aten, x: Expr, axes: Sequence[int]) -> Expr:
    """Move axes to the front, in their order."""
    order = [*axes, *[axis for axis in range(ctx.rank(x)) if axis not in axes]]
    return x if order == sorted(order) else relay.transpose(x, tuple(order))


def _moved(ctx: Aten, x: Expr, count: int, to: int) -> Expr:
    """Move the first `count` axes of a tensor behind the `to` that follow them."""
    if not to or not count:
        return x
    rank = ctx.rank(x)
    return relay.transpose(x, (*range(count, count + to), *range(count), *range(count + to, rank)))


@aten("index", "index.Tensor", "_unsafe_index")
def index_tensor(ctx: Aten, x: Expr, indices: Sequence[Value]) -> Value:
    """Take `x[indices]`, with None for an axis that is taken whole, as NumPy does."""
    tensors = _index_tensors(ctx, indices)
    axes = [axis for axis, tensor in enumerate(tensors) if tensor is not None]
    index_tensors = [tensor for tensor in tensors if tensor is not None]
    if not axes:
        return x
    if len(axes) == 1:
        known = ctx.context.constant(index_tensors[0])
        from_mask = any(isinstance(i, Expr) and ctx.dtype(i) in ("bool", "uint8") for i in indices)
        in_range = from_mask or (known is not None and known.size and known.min() >= 0)
        # A negative index counts from the end, which is what wrapping around does.
        return relay.take(x, index_tensors[0], axis=axes[0], mode="clip" if in_range else "wrap")
    result = relay.adv_index([_to_front(ctx, x, axes), *index_tensors])
    adjacent = axes[-1] - axes[0] == len(axes) - 1
    # The axes of the result's indices are where the indices were if those are adjacent, otherwise in front.
    return _moved(ctx, result, max(map(ctx.rank, index_tensors)), axes[0]) if adjacent else result


@aten("index_put", "_index_put_impl", "_unsafe_index_put")
def index_put(
    ctx: Aten, x: Expr, indices: Sequence[Value], values: Expr, accumulate: bool = False, unsafe: bool = False
) -> Value:
    """Return `x` after `x[indices] = values`, or `x[indices] += values`."""
    mask = _single_mask(ctx, indices)
    values = ctx.cast(values, ctx.dtype(x))
    if mask is not None and _is_single(ctx, values):
        behind = ctx.rank(x) - ctx.rank(mask)
        mask = relay.expand_dims(mask, ctx.rank(mask), behind) if behind else mask
        filler = relay.reshape(values, ())
        return relay.where(mask, relay.add(x, filler) if accumulate else filler, x)
    tensors = _index_tensors(ctx, indices)
    axes = [axis for axis, tensor in enumerate(tensors) if tensor is not None]
    index_tensors = _broadcast(ctx, [tensor for tensor in tensors if tensor is not None])
    if not axes:
        return relay.add(x, values) if accumulate else ctx.broadcast_to(values, ctx.sizes(x))
    data = _to_front(ctx, x, axes)
    index_tensors = [_non_negative(ctx, index, data, axis) for axis, index in enumerate(index_tensors)]
    where, rest = ctx.sizes(index_tensors[0]), ctx.sizes(data)[len(axes) :]
    adjacent = axes[-1] - axes[0] == len(axes) - 1
    if adjacent and axes[0]:
        # The values have the axes before the indices first: bring those of the indices to the front.
        before = rest[: axes[0]]
        values = ctx.broadcast_to(values, [*before, *where, *rest[axes[0] :]])
        count, rank = axes[0], ctx.rank(values)
        middle = range(count, count + len(where))
        values = relay.transpose(values, (*middle, *range(count), *range(count + len(where), rank)))
    else:
        values = ctx.broadcast_to(values, [*where, *rest])
    result = relay.scatter_nd(data, relay.stack(index_tensors, 0), values, "add" if accumulate else "update")
    order = [*axes, *[axis for axis in range(ctx.rank(x)) if axis not in axes]]
    back = [order.index(axis) for axis in range(len(order))]
    return result if back == sorted(back) else relay.transpose(result, tuple(back))


def _single_mask(ctx: Aten, indices: Sequence[Value]) -> Expr | None:
    """Return the only index if it is a mask."""
    if len(indices) == 1 and isinstance(indices[0], Expr) and ctx.dtype(indices[0]) == "bool":
        return indices[0]
    return None


def _is_single(ctx: Aten, values: Expr) -> bool:
    """Whether a tensor has one element."""
    return all(dim == 1 for dim in ctx.shape(values))


def _broadcast(ctx: Aten, tensors: list[Expr]) -> list[Expr]:
    """Broadcast tensors of indices to one shape."""
    if len(tensors) < 2 or all(ctx.shape(tensor) == ctx.shape(tensors[0]) for tensor in tensors):
        return tensors
    total = tensors[0]
    for tensor in tensors[1:]:
        total = relay.add(total, tensor)
    sizes = ctx.sizes(total)
    return [ctx.broadcast_to(tensor, sizes) for tensor in tensors]


def _non_negative(ctx: Aten, index: Expr, data: Expr, axis: int) -> Expr:
    """Replace negative indices, which count from the end."""
    known = ctx.context.constant(index)
    if known is not None and known.size and known.min() >= 0:
        return index
    extent = ctx.tensor(ctx.size(data, axis), "int64")
    return relay.where(relay.less(index, const(0, "int64")), relay.add(index, extent), index)


@aten("index_select")
def index_select(ctx: Aten, x: Expr, dim: int, index: Expr) -> Value:
    if not ctx.rank(x):
        return x
    index = relay.reshape(index, (1,)) if not ctx.rank(index) else index
    return relay.take(x, index, axis=ctx.axis(dim, ctx.rank(x)))


@aten("take")
def take(ctx: Aten, x: Expr, index: Expr) -> Value:
    """Take elements of the flattened tensor."""
    return relay.take(relay.reshape(x, (-1,)), index, axis=0, mode="wrap")


@aten("masked_select")
def masked_select(ctx: Aten, x: Expr, mask: Expr) -> Value:
    """Return the elements at which a mask is true, as a vector."""
    total = relay.logical_or(mask, relay.zeros_like(ctx.cast(x, "bool")))
    sizes = ctx.sizes(total)
    flat = relay.reshape(ctx.broadcast_to(x, sizes), (-1,))
    (places,) = coordinates(ctx, relay.reshape(ctx.broadcast_to(mask, sizes), (-1,)))
    return relay.take(flat, places, axis=0)


@aten("masked_scatter")
def masked_scatter(ctx: Aten, x: Expr, mask: Expr, source: Expr) -> Value:
    """Write the first elements of `source`, in order, where a mask is true."""
    mask = ctx.broadcast_to(mask, ctx.sizes(x))
    flat = relay.cast(relay.reshape(mask, (-1,)), "int64")
    order = relay.subtract(relay.cumsum(flat, axis=0), const(1, "int64"))
    order = relay.maximum(order, const(0, "int64"))
    taken = relay.take(relay.reshape(source, (-1,)), order, axis=0)
    return relay.where(mask, ctx.reshape(taken, ctx.sizes(x)), x)


@aten("nonzero")
def nonzero(ctx: Aten, x: Expr) -> Value:
    """Return the indices of the nonzero elements, one per row."""
    if not ctx.rank(x):
        raise RelayError("nonzero of a scalar cannot be imported")
    return relay.cast(relay.argwhere(_as_mask(ctx, x)), "int64")


aten("argwhere")(nonzero)


@aten("nonzero_numpy", "where.default")
def nonzero_numpy(ctx: Aten, x: Expr) -> Value:
    """Return the indices of the nonzero elements, one vector per axis."""
    return coordinates(ctx, _as_mask(ctx, x))


def _as_mask(ctx: Aten, x: Expr) -> Expr:
    dtype = ctx.dtype(x)
    return x if dtype == "bool" else relay.not_equal(x, const(0, dtype))


@aten("where", "where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar")
def where(ctx: Aten, condition: Expr, x: Value = None, y: Value = None) -> Value:
    if x is None and y is None:
        return nonzero_numpy(ctx, condition)
    a, b = ctx.operands(x, y)
    return relay.where(_as_mask(ctx, condition), a, b)


@aten("masked_fill")
def masked_fill(ctx: Aten, x: Expr, mask: Expr, value: Value) -> Value:
    filler = ctx.tensor(value, ctx.dtype(x)) if not isinstance(value, Expr) else ctx.cast(value, ctx.dtype(x))
    return relay.where(mask, filler, x)


@aten("gather")
def gather(ctx: Aten, x: Expr, dim: int, index: Expr, sparse_grad: bool = False) -> Value:
    """Take elements along an axis; the index may be shorter than the data on the others."""
    rank = ctx.rank(x)
    if not rank:
        return relay.take(relay.reshape(x, (1,)), index, axis=0)
    axis = ctx.axis(dim, rank)
    return relay.gather(cut(ctx, x, ctx.sizes(index), axis), axis, ctx.cast(index, "int64"))


def cut(ctx: Aten, x: Expr, sizes: Sequence[Int], axis: int | None = None) -> Expr:
    """Return the first elements of a tensor, as many as `sizes` says, except on an axis."""
    begin, end, axes = [], [], []
    for other, (extent, wanted) in enumerate(zip(ctx.shape(x), sizes)):
        if other == axis or (extent == ctx.dim(wanted) and isinstance(extent, int)):
            continue
        if isinstance(wanted, Scalar):
            if extent == ctx.dim(wanted):
                continue
            raise DynamicShapeError("an index of dynamic shape must have the shape of the data")
        begin.append(0)
        end.append(wanted)
        axes.append(other)
    return relay.strided_slice(x, begin, end, axes=axes) if axes else x


@aten("take_along_dim")
def take_along_dim(ctx: Aten, x: Expr, index: Expr, dim: int | None = None) -> Value:
    if dim is None:
        return relay.take(relay.reshape(x, (-1,)), relay.reshape(index, (-1,)), axis=0)
    axis = ctx.axis(dim, ctx.rank(x))
    x_sizes, index_sizes = ctx.static_shape(x), ctx.static_shape(index)
    common = [max(a, b) for a, b in zip(x_sizes, index_sizes)]
    data = [extent if other == axis else common[other] for other, extent in enumerate(x_sizes)]
    places = [extent if other == axis else common[other] for other, extent in enumerate(index_sizes)]
    return relay.gather(ctx.broadcast_to(x, data), axis, ctx.broadcast_to(ctx.cast(index, "int64"), places))
