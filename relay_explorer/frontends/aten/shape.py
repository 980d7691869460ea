"""Operators that rearrange a tensor's elements without computing with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ir.types import Any
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from . import scalars
from .context import Aten
from .registry import aten
from .values import Int, Scalar, Value


@aten("view", "reshape", "_unsafe_view", "view_copy", "_reshape_copy", "_reshape_alias")
def view(ctx: Aten, x: Expr, size: Sequence[Int], *rest: object) -> Value:
    return ctx.reshape(x, size)


@aten("view_as", "reshape_as")
def view_as(ctx: Aten, x: Expr, other: Expr) -> Value:
    return ctx.reshape(x, ctx.sizes(other))


@aten("flatten", "flatten.using_ints")
def flatten(ctx: Aten, x: Expr, start: int = 0, end: int = -1) -> Value:
    rank = ctx.rank(x)
    if not rank:
        return relay.reshape(x, (1,))
    first, last = ctx.axis(start, rank), ctx.axis(end, rank)
    if first > last:
        raise RelayError(f"flatten requires that start_dim ≤ end_dim, not {start} and {end}")
    if first == last:
        return x
    sizes = ctx.sizes(x)
    merged = sizes[first : last + 1]
    product: Int = 1
    for size in merged:
        product = cast(Int, scalars.binary(ctx, "mul", product, size))
    if not isinstance(product, int) and all(
        isinstance(size, int) for size in sizes[:first] + sizes[last + 1 :]
    ):
        product = -1
    return ctx.reshape(x, [*sizes[:first], product, *sizes[last + 1 :]])


@aten("ravel")
def ravel(ctx: Aten, x: Expr) -> Value:
    return ctx.reshape(x, [-1])


@aten("unflatten", "unflatten.int")
def unflatten(ctx: Aten, x: Expr, dim: int, sizes: Sequence[Int]) -> Value:
    axis, old = ctx.axis(dim, ctx.rank(x)), ctx.sizes(x)
    parts = list(sizes)
    if -1 in parts and isinstance(old[axis], int):
        known = 1
        for part in parts:
            known *= 1 if part == -1 else ctx.integer(part)
        parts[parts.index(-1)] = cast(int, old[axis]) // known
    return ctx.reshape(x, [*old[:axis], *parts, *old[axis + 1 :]])


@aten("squeeze")
def squeeze(ctx: Aten, x: Expr) -> Value:
    if not ctx.is_static(x):
        raise RelayError(
            "squeeze without dim requires a static shape, because it removes the axes of extent 1, but the "
            f"type is {ctx.type(x)}",
            help=["write x.squeeze(dim)"],
        )
    return _squeezed(ctx, x, range(ctx.rank(x)))


@aten("squeeze.dim", "squeeze.dims", "squeeze_copy.dim", "squeeze_copy.dims")
def squeeze_dims(ctx: Aten, x: Expr, dims: int | Sequence[int]) -> Value:
    return _squeezed(ctx, x, [dims] if isinstance(dims, int) else dims)


def _squeezed(ctx: Aten, x: Expr, dims: Sequence[int]) -> Expr:
    """Drop those of the axes that have extent 1."""
    rank, shape = ctx.rank(x), ctx.shape(x)
    axes = sorted({ctx.axis(dim, rank) for dim in dims}) if rank else []
    if any(isinstance(shape[axis], Any) for axis in axes):
        raise DynamicShapeError(
            "squeeze requires that the extents of its axes are known at compile time, because it removes "
            "those of extent 1"
        )
    dropped = [axis for axis in axes if shape[axis] == 1]
    return relay.squeeze(x, dropped) if dropped else x


@aten("unsqueeze", "unsqueeze_copy")
def unsqueeze(ctx: Aten, x: Expr, dim: int) -> Value:
    return relay.expand_dims(x, ctx.axis(dim, ctx.rank(x) + 1))


@aten("expand", "expand_copy")
def expand(ctx: Aten, x: Expr, size: Sequence[Int], implicit: bool = False) -> Value:
    """Broadcast to a shape; -1 keeps an axis."""
    old = ctx.sizes(x)
    added = len(size) - len(old)
    if added < 0:
        raise RelayError(f"a tensor with {len(old)} axes cannot be expanded to {len(size)}")
    wanted = [
        old[position - added] if dim == -1 and position >= added else dim for position, dim in enumerate(size)
    ]
    return ctx.broadcast_to(x, wanted)


@aten("expand_as")
def expand_as(ctx: Aten, x: Expr, other: Expr) -> Value:
    return ctx.broadcast_to(x, ctx.sizes(other))


@aten("broadcast_to")
def broadcast_to(ctx: Aten, x: Expr, size: Sequence[Int]) -> Value:
    return expand(ctx, x, size)


@aten("broadcast_tensors")
def broadcast_tensors(ctx: Aten, tensors: Sequence[Expr]) -> Value:
    """Broadcast tensors to their common shape."""
    rank = max(ctx.rank(x) for x in tensors)
    shape: list[Int] = []
    for position in range(rank):
        extents: list[Int] = [
            ctx.size(x, position - rank + ctx.rank(x)) for x in tensors if position - rank + ctx.rank(x) >= 0
        ]
        longer = [size for size in extents if size != 1]
        shape.append(longer[0] if longer else 1)
        if isinstance(shape[-1], Scalar):
            shape[-1] = next((size for size in longer if isinstance(size, int)), shape[-1])
    return [ctx.broadcast_to(x, shape) for x in tensors]


@aten("permute", "permute_copy")
def permute(ctx: Aten, x: Expr, dims: Sequence[int]) -> Value:
    axes = [ctx.axis(dim, ctx.rank(x)) for dim in dims]
    return x if axes == list(range(len(axes))) else relay.transpose(x, axes)


@aten("transpose", "transpose.int", "swapaxes", "swapdims", "transpose_copy.int")
def transpose(ctx: Aten, x: Expr, dim0: int, dim1: int) -> Value:
    rank = ctx.rank(x)
    first, second = ctx.axis(dim0, rank), ctx.axis(dim1, rank)
    if first == second:
        return x
    axes = list(range(rank))
    axes[first], axes[second] = second, first
    return relay.transpose(x, axes)


@aten("t", "numpy_T", "t_copy")
def t(ctx: Aten, x: Expr) -> Value:
    return x if ctx.rank(x) < 2 else relay.transpose(x)


@aten("mT", "adjoint", "mH", "matrix_H")
def matrix_transpose(ctx: Aten, x: Expr) -> Value:
    return transpose(ctx, x, -2, -1)


@aten("movedim", "movedim.int", "moveaxis", "movedim.intlist", "moveaxis.intlist", "moveaxis.int")
def movedim(ctx: Aten, x: Expr, source: int | Sequence[int], destination: int | Sequence[int]) -> Value:
    rank = ctx.rank(x)
    old = [ctx.axis(dim, rank) for dim in ctx.integers(source)]
    new = [ctx.axis(dim, rank) for dim in ctx.integers(destination)]
    order = [axis for axis in range(rank) if axis not in old]
    for to, axis in sorted(zip(new, old)):
        order.insert(to, axis)
    return permute(ctx, x, order)


@aten("narrow")
def narrow(ctx: Aten, x: Expr, dim: int, start: Value, length: Int) -> Value:
    begin = ctx.scalar(start) if isinstance(start, Expr) else cast(Int, start)
    axis = ctx.axis(dim, ctx.rank(x))
    begin = cast(Int, scalars.known(ctx, begin))
    if isinstance(begin, int) and begin < 0:
        begin = cast(Int, scalars.binary(ctx, "add", begin, ctx.size(x, axis)))
    return sliced(ctx, x, axis, begin, cast(Int, scalars.binary(ctx, "add", begin, length)), 1)


@aten("slice", "slice.Tensor", "slice_copy.Tensor")
def slice_(
    ctx: Aten, x: Value, dim: Value = 0, start: Value = None, end: Value = None, step: Value = 1
) -> Value:
    """Return elements `start`, `start + step` … of an axis, before `end`; or the same of a list or string."""
    if isinstance(x, (list, str, tuple)):  # (list, start, end, step)
        bounds = [None if value is None else ctx.integer(value, "a bound") for value in (dim, start, end)]
        low, high, by = bounds if end is not None else (bounds[0], bounds[1], 1)
        return cast(Value, x[slice(low, high, by)])
    assert isinstance(x, Expr)
    axis = ctx.axis(ctx.integer(dim, "the axis"), ctx.rank(x))
    return sliced(
        ctx, x, axis, cast("Int | None", start), cast("Int | None", end), ctx.integer(step, "the step")
    )


_END = (1 << 63) - 1


def sliced(ctx: Aten, x: Expr, axis: int, start: Int | None, end: Int | None, step: int) -> Expr:
    """Slice an axis as Python does, with bounds that may be known only at run time."""
    size = ctx.shape(x)[axis]
    begin = 0 if start is None else scalars.known(ctx, start)
    stop = _END if end is None else scalars.known(ctx, end)
    if step < 1:
        raise RelayError(f"PyTorch has no slices with the step {step}")
    if isinstance(begin, int) and isinstance(stop, int):
        if isinstance(size, int):
            low, high, _ = slice(begin, stop, step).indices(size)
            if low == 0 and high == size and step == 1:
                return x
            return relay.strided_slice(x, [low], [max(low, high)], [step], axes=[axis])
        if begin == 0 and stop == _END and step == 1:
            return x
        if begin >= 0 and (stop == _END or stop < 0):
            return _tail(ctx, x, axis, begin, stop, step)
    known_stop = ctx.dim(cast(Int, stop))
    if begin == 0 and step == 1 and not isinstance(known_stop, Any) and known_stop == size:
        return x
    extent = ctx.size(x, axis)
    low_expr = _bound(ctx, cast(Int, begin), extent)
    high_expr = _bound(ctx, extent if stop == _END else cast(Int, stop), extent)
    return relay.strided_slice(
        x,
        _at_axis(ctx, x, axis, low_expr, const([0], "int64")),
        _at_axis(ctx, x, axis, high_expr, None),
        _at_axis(ctx, x, axis, const([step], "int64"), const([1], "int64")),
    )


def _tail(ctx: Aten, x: Expr, axis: int, begin: int, stop: int, step: int) -> Expr:
    """Slice a dynamic axis up to its end, or to a number of elements before it."""
    return relay.strided_slice(x, [begin], [stop if stop < 0 else _END], [step], axes=[axis])


def _bound(ctx: Aten, value: Int, extent: Int) -> Expr:
    """Return a bound as a vector of one element between 0 and the extent."""
    bound = ctx.vector([value])
    size = ctx.vector([extent])
    zero = const([0], "int64")
    if not isinstance(value, int) or value < 0:
        bound = relay.where(relay.less(bound, zero), relay.add(bound, size), bound)
        bound = relay.maximum(bound, zero)
    return relay.minimum(bound, size)


def _at_axis(ctx: Aten, x: Expr, axis: int, value: Expr, other: Expr | None) -> Expr:
    """Return a vector with one element per axis: `value` at an axis, elsewhere `other` or the extent."""
    parts = [
        value if at == axis else other if other is not None else ctx.vector([ctx.size(x, at)])
        for at in range(ctx.rank(x))
    ]
    return parts[0] if len(parts) == 1 else relay.concatenate(parts, 0)


@aten("select", "select.int", "select_copy.int")
def select(ctx: Aten, x: Expr, dim: int, index: Value) -> Value:
    """Return the slice at an index of an axis, without the axis."""
    axis = ctx.axis(dim, ctx.rank(x))
    size = ctx.shape(x)[axis]
    position = index if isinstance(index, Expr) else scalars.known(ctx, cast(Int, index))
    if isinstance(position, int):
        if isinstance(size, int):
            if not -size <= position < size:
                raise RelayError(f"index {position} is out of range for an axis of extent {size}")
            position %= size
        elif position < 0:
            position = cast(Int, scalars.binary(ctx, "add", position, ctx.size(x, axis)))
    return relay.take(x, ctx.tensor(position, "int64"), axis=axis)


@aten("unbind", "unbind.int")
def unbind(ctx: Aten, x: Expr, dim: int = 0) -> Value:
    axis = ctx.axis(dim, ctx.rank(x))
    count = ctx.integer(ctx.size(x, axis), "the extent of an axis that is unbound")
    if count == 0:
        return []
    parts = relay.split(x, count, axis) if count > 1 else [x]
    return [relay.squeeze(part, [axis]) for part in parts]


@aten("split", "split.Tensor")
def split(ctx: Aten, x: Expr, size: Int | Sequence[Int], dim: int = 0) -> Value:
    if isinstance(size, (list, tuple)):
        return split_sizes(ctx, x, size, dim)
    axis = ctx.axis(dim, ctx.rank(x))
    step = ctx.integer(size, "the size of a split")
    count = ctx.integer(ctx.size(x, axis), "the extent of an axis that is split")
    if step <= 0 and count:
        raise RelayError(f"the split size must be positive, not {step}")
    return _split_at(x, list(range(step, count, step)), axis)


@aten("split_with_sizes", "split.sizes", "split_with_sizes_copy", "unsafe_split_with_sizes")
def split_sizes(ctx: Aten, x: Expr, sizes: Sequence[Int], dim: int = 0) -> Value:
    axis = ctx.axis(dim, ctx.rank(x))
    known = [scalars.known(ctx, size) for size in sizes]
    if all(isinstance(size, int) for size in known):
        ends, end = [], 0
        for size in cast("list[int]", known):
            end += size
            ends.append(end)
        extent = ctx.shape(x)[axis]
        if isinstance(extent, int) and ends and ends[-1] != extent:
            raise RelayError(f"the split sizes {list(known)} do not add up to the axis's extent, {extent}")
        return _split_at(x, ends[:-1], axis)
    parts: list[Value] = []
    begin: Int = 0
    for part_size in cast("list[Int]", known):
        end_at = cast(Int, scalars.binary(ctx, "add", begin, part_size))
        parts.append(sliced(ctx, x, axis, begin, end_at, 1))
        begin = end_at
    return parts


def _split_at(x: Expr, ends: list[int], axis: int) -> list[Expr]:
    return list(relay.split(x, ends, axis)) if ends else [x]


@aten("chunk", "unsafe_chunk")
def chunk(ctx: Aten, x: Expr, count: int, dim: int = 0) -> Value:
    """Split into at most `count` parts of the same extent, of which the last may be shorter."""
    axis = ctx.axis(dim, ctx.rank(x))
    extent = ctx.integer(ctx.size(x, axis), "the extent of an axis that is split")
    step = max(1, -(-extent // ctx.integer(count)))
    return _split_at(x, list(range(step, extent, step)), axis)


@aten("unsafe_split", "unsafe_split.Tensor", "split_copy.Tensor")
def unsafe_split(ctx: Aten, x: Expr, size: Int, dim: int = 0) -> Value:
    return split(ctx, x, size, dim)


@aten("tensor_split.sections")
def tensor_split(ctx: Aten, x: Expr, sections: Int, dim: int = 0) -> Value:
    """Split into parts whose extents differ by at most one; the longer ones come first."""
    axis = ctx.axis(dim, ctx.rank(x))
    extent, count = ctx.integer(ctx.size(x, axis), "the extent"), ctx.integer(sections)
    short, longer = divmod(extent, count)
    ends, end = [], 0
    for part in range(count - 1):
        end += short + (part < longer)
        ends.append(end)
    return _split_at(x, ends, axis)


@aten("tensor_split.indices")
def tensor_split_indices(ctx: Aten, x: Expr, indices: Sequence[Int], dim: int = 0) -> Value:
    axis = ctx.axis(dim, ctx.rank(x))
    bounds: list[Int | None] = [0, *indices, None]
    return [sliced(ctx, x, axis, bounds[at], bounds[at + 1], 1) for at in range(len(bounds) - 1)]


@aten("tensor_split.tensor_indices_or_sections")
def tensor_split_tensor(ctx: Aten, x: Expr, indices: Expr, dim: int = 0) -> Value:
    known = ctx.context.constant(indices)
    if known is None:
        raise DynamicShapeError("the split indices of tensor_split must be known at compile time")
    if known.ndim == 0:
        return tensor_split(ctx, x, int(known), dim)
    return tensor_split_indices(ctx, x, [int(index) for index in known], dim)


@aten("hsplit.int", "hsplit.array")
def hsplit(ctx: Aten, x: Expr, parts: Int | Sequence[Int]) -> Value:
    return _split_evenly(ctx, x, parts, 0 if ctx.rank(x) == 1 else 1)


@aten("vsplit.int", "vsplit.array")
def vsplit(ctx: Aten, x: Expr, parts: Int | Sequence[Int]) -> Value:
    return _split_evenly(ctx, x, parts, 0)


def _split_evenly(ctx: Aten, x: Expr, parts: Int | Sequence[Int], axis: int) -> Value:
    if isinstance(parts, (list, tuple)):
        return tensor_split_indices(ctx, x, parts, axis)
    return tensor_split(ctx, x, cast(Int, parts), axis)
