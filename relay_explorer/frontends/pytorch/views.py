"""Which operators return a view of their operand, and how a change of the view is written into its base."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything
from typing import cast

from ...ir import const
from ...ir.expr import Expr
from ...ir.types import Any
from ...ops import namespaces as relay
from ..aten import Aten
from ..aten.values import Int

WriteBack = Callable[[Aten, Expr, Expr, Sequence[Anything]], Expr]
"""`(ctx, base, view, args)` returns the base with the elements of the view; `args` are those of the operator
that made the view, after the base.
"""


def _reshaped(ctx: Aten, base: Expr, view: Expr, args: Sequence[Anything]) -> Expr:
    return ctx.reshape(view, ctx.sizes(base))


def _swapped(ctx: Aten, base: Expr, view: Expr, args: Sequence[Anything]) -> Expr:
    axes = list(range(ctx.rank(base)))
    first, second = [ctx.axis(dim, len(axes)) for dim in args[:2]]
    axes[first], axes[second] = second, first
    return relay.transpose(view, axes)


def _turned(ctx: Aten, base: Expr, view: Expr, args: Sequence[Anything]) -> Expr:
    return view if ctx.rank(base) < 2 else relay.transpose(view)


def _permuted(ctx: Aten, base: Expr, view: Expr, args: Sequence[Anything]) -> Expr:
    order = [ctx.axis(dim, ctx.rank(base)) for dim in args[0]]
    return relay.transpose(view, [order.index(axis) for axis in range(len(order))])


def _selected(ctx: Aten, base: Expr, view: Expr, args: Sequence[Anything]) -> Expr:
    """Write a slice without its axis back: one element of the axis is replaced."""
    axis = ctx.axis(args[0], ctx.rank(base))
    extent = ctx.shape(base)[axis]
    mask = _positions(ctx, base, axis)
    index = args[1] if isinstance(args[1], Expr) else ctx.tensor(args[1], "int64")
    if not isinstance(args[1], int) or args[1] < 0:
        size = ctx.tensor(ctx.size(base, axis), "int64")
        index = relay.where(relay.less(index, const(0, "int64")), relay.add(index, size), index)
    elif isinstance(extent, int) and extent == 1:
        return ctx.reshape(view, ctx.sizes(base))
    return relay.where(relay.equal(mask, index), relay.expand_dims(view, axis), base)


def _positions(ctx: Aten, x: Expr, axis: int) -> Expr:
    """Return the indices along an axis, shaped so that they can be broadcast to `x`."""
    from ...ops import np

    extent = ctx.size(x, axis)
    following = (1,) * (ctx.rank(x) - axis - 1)
    if isinstance(extent, int):
        return const(np.arange(extent).reshape(extent, *following), "int64")
    positions = relay.arange(const(0, "int64"), extent.expr, const(1, "int64"), "int64")
    return relay.reshape(positions, (-1, *following))


def _sliced(ctx: Aten, base: Expr, view: Expr, args: Sequence[Anything]) -> Expr:
    """Write a slice back: the parts before and after it stay."""
    dim, start, end, step = args
    axis = ctx.axis(dim, ctx.rank(base))
    extent = ctx.shape(base)[axis]
    if not isinstance(extent, int):
        if (start is None or start == 0) and ctx.shape(view)[axis] is extent and not isinstance(extent, Any):
            return view
        return _inserted(ctx, base, view, axis, start or 0, step)
    low = 0 if start is None else ctx.integer(start, "the start of a slice that is changed")
    high = extent if end is None else ctx.integer(end, "the end of a slice that is changed")
    low, high, _ = slice(low, high, step).indices(extent)
    if step == 1:
        return _between(base, view, axis, low, max(low, high), extent)
    return _inserted(ctx, base, view, axis, low, step)


def _between(base: Expr, view: Expr, axis: int, low: int, high: int, extent: int) -> Expr:
    """Return the base with elements `low` to `high` of an axis replaced."""
    parts = [view]
    if low > 0:
        parts.insert(0, relay.strided_slice(base, [0], [low], axes=[axis]))
    if high < extent:
        parts.append(relay.strided_slice(base, [high], [extent], axes=[axis]))
    return view if len(parts) == 1 else relay.concatenate(parts, axis)


def _inserted(ctx: Aten, base: Expr, view: Expr, axis: int, start: Int, step: int) -> Expr:
    """Return the base with every `step`-th element of an axis, from `start` on, replaced in order."""
    positions = _positions(ctx, base, axis)
    first = ctx.tensor(start, "int64")
    if not isinstance(start, int) or start < 0:
        size = ctx.tensor(ctx.size(base, axis), "int64")
        first = relay.where(relay.less(first, const(0, "int64")), relay.add(first, size), first)
        first = relay.maximum(first, const(0, "int64"))
    count = ctx.tensor(ctx.size(view, axis), "int64")
    offset = relay.subtract(positions, first)
    by = const(step, "int64")
    number = relay.floor_divide(offset, by)
    inside = relay.logical_and(
        relay.logical_and(
            relay.greater_equal(offset, const(0, "int64")),
            relay.equal(relay.floor_mod(offset, by), const(0, "int64")),
        ),
        relay.less(number, count),
    )
    flat = relay.reshape(relay.clip(number, 0, 2**31), (-1,))
    return relay.where(inside, relay.take(view, flat, axis=axis), base)


def _narrowed(ctx: Aten, base: Expr, view: Expr, args: Sequence[Anything]) -> Expr:
    dim, start, length = args
    begin = ctx.integer(start, "the start of a part that is changed")
    end = begin + ctx.integer(length, "the length of a part that is changed")
    return _sliced(ctx, base, view, (dim, begin, end, 1))


def _same(ctx: Aten, base: Expr, view: Expr, args: Sequence[Anything]) -> Expr:
    return view


WRITE_BACK: dict[str, WriteBack] = {
    "aten::view": _reshaped, "aten::view_as": _reshaped, "aten::unsqueeze": _reshaped,
    "aten::squeeze": _reshaped, "aten::_unsafe_view": _reshaped, "aten::unflatten": _reshaped,
    "aten::transpose": _swapped, "aten::swapaxes": _swapped, "aten::swapdims": _swapped,
    "aten::t": _turned, "aten::numpy_T": _turned, "aten::permute": _permuted,
    "aten::select": _selected, "aten::slice": _sliced, "aten::narrow": _narrowed,
    "aten::detach": _same, "aten::alias": _same, "aten::data": _same,
}  # fmt: skip

# These return a view of some operands and a copy of others, which depends on their layout in memory.
UNCERTAIN = frozenset(
    {"aten::reshape", "aten::reshape_as", "aten::flatten", "aten::contiguous", "aten::ravel"}
)


def part_of_split(
    name: str, ctx: Aten, args: Sequence[Anything], index: int, parts: Sequence[Expr]
) -> WriteBack | None:
    """Return how part `index` of a split tensor is written back, or None where that cannot be expressed."""
    if name == "aten::unbind":
        dim = args[0]
        return lambda ctx, base, view, _: _selected(ctx, base, view, (dim, index))
    if name not in ("aten::split", "aten::chunk", "aten::split_with_sizes", "aten::tensor_split"):
        return None
    dim = cast(int, args[1])

    def write(ctx: Aten, base: Expr, view: Expr, _: Sequence[Anything]) -> Expr:
        axis = ctx.axis(dim, ctx.rank(base))
        ends = [0]
        for part in parts:
            ends.append(ends[-1] + ctx.integer(ctx.size(part, axis), "the extent of a part"))
        return _between(base, view, axis, ends[index], ends[index + 1], ends[-1])

    return write
