"""Writing along an axis: `scatter`, `index_add`, `select_scatter` and their relatives."""

from __future__ import annotations

from collections.abc import Callable

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from .context import Aten
from .indexing import cut
from .registry import aten
from .values import Int, Number, Value

_REDUCTIONS = {
    "sum": "add", "add": "add", "prod": "mul", "multiply": "mul", "mean": "mean", "amin": "min",
    "amax": "max",
}  # fmt: skip


def _scattered(ctx: Aten, x: Expr, dim: int, index: Expr, source: Value, reduction: str) -> Expr:
    """Combine the elements of `x` at indices along an axis with those of `source`."""
    dtype, rank = ctx.dtype(x), ctx.rank(x)
    sizes = ctx.sizes(index)
    if 0 in sizes:
        return x  # no index: PyTorch then accepts any number of axes
    updates = cut(ctx, source, sizes) if isinstance(source, Expr) and ctx.rank(source) else None
    if updates is None:
        updates = ctx.full(sizes, source, dtype)
    if not rank:
        x, index, updates = [relay.reshape(part, (1,)) for part in (x, index, updates)]
        return relay.reshape(_scattered(ctx, x, 0, index, updates, reduction), ())
    index = ctx.cast(index, "int64")
    return relay.scatter_elements(x, index, ctx.cast(updates, dtype), ctx.axis(dim, rank), reduction)


@aten("scatter", "scatter.src", "scatter.value")
def scatter(ctx: Aten, x: Expr, dim: int, index: Expr, source: Value) -> Value:
    return _scattered(ctx, x, dim, index, source, "update")


@aten("scatter.reduce", "scatter.value_reduce")
def scatter_by(ctx: Aten, x: Expr, dim: int, index: Expr, source: Value, reduce: str) -> Value:
    return _scattered(ctx, x, dim, index, source, _reduction(reduce))  # a sum or a product


@aten("scatter_add")
def scatter_add(ctx: Aten, x: Expr, dim: int, index: Expr, source: Expr) -> Value:
    return _scattered(ctx, x, dim, index, source, "add")


@aten("scatter_reduce", "scatter_reduce.two")
def scatter_reduce(
    ctx: Aten, x: Expr, dim: int, index: Expr, source: Expr, reduce: str, include_self: bool = True
) -> Value:

    def combine(data: Expr, value: Value, reduction: str) -> Expr:
        return _scattered(ctx, data, dim, index, value, reduction)

    return _combined(ctx, combine, x, source, _reduction(reduce), include_self)


def _combined(
    ctx: Aten,
    combine: Callable[[Expr, Value, str], Expr],
    x: Expr,
    source: Expr,
    reduction: str,
    include_self: bool,
) -> Expr:
    """Combine the elements of `x` with those of `source`, which `combine(data, value, reduction)` writes;
    without `include_self`, what the written elements were before does not count.
    """
    dtype = ctx.dtype(x)
    if dtype == "bool":  # a sum is true if an element is, a product if all are
        whole = _combined(
            ctx, combine, ctx.cast(x, "int32"), ctx.cast(source, "int32"), reduction, include_self
        )
        return relay.not_equal(whole, const(0, "int32"))
    if not include_self:
        x = combine(x, _neutral(ctx, x, reduction), "update")
    if reduction != "mean":
        return combine(x, source, reduction)
    counts = ctx.full(ctx.sizes(x), 1, dtype)
    if not include_self:
        counts = combine(counts, 0, "update")
    counts = combine(counts, 1, "add")
    total = combine(x, source, "add")
    divide = relay.divide if dtype.startswith(("float", "bfloat")) else relay.floor_divide
    return divide(total, counts)


def _reduction(name: str) -> str:
    if name not in _REDUCTIONS:
        raise RelayError(f"PyTorch has no reduction {name!r}")
    return _REDUCTIONS[name]


def _neutral(ctx: Aten, x: Expr, reduction: str) -> float | int:
    """Return the number that leaves others unchanged."""
    if reduction in ("add", "mean", "mul"):
        return 1 if reduction == "mul" else 0
    dtype = ctx.dtype(x)
    if dtype.startswith(("float", "bfloat")):
        return float("inf") if reduction == "min" else float("-inf")
    bits = int("".join(c for c in dtype if c.isdigit()) or 8)
    low, high = (0, (1 << bits) - 1) if dtype.startswith("u") else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    return high if reduction == "min" else low


def _like(ctx: Aten, x: Expr, axis: int, index: Expr, source: Expr) -> Expr:
    """Broadcast a vector of indices along an axis to the shape of `source`."""
    index = relay.reshape(index, (1,)) if not ctx.rank(index) else index
    behind = ctx.rank(x) - axis - 1
    index = relay.expand_dims(index, 1, behind) if behind else index
    return ctx.broadcast_to(ctx.cast(index, "int64"), ctx.sizes(source))


def _along(ctx: Aten, x: Expr, dim: int, index: Expr, source: Expr, reduction: str) -> Expr:
    """Combine the slices of `x` at indices along an axis with those of `source`."""
    if not ctx.rank(x):
        whole = _along(ctx, relay.reshape(x, (1,)), 0, index, relay.reshape(source, (-1,)), reduction)
        return relay.reshape(whole, ())
    axis = ctx.axis(dim, ctx.rank(x))
    source = ctx.cast(source, ctx.dtype(x))
    return relay.scatter_elements(x, _like(ctx, x, axis, index, source), source, axis, reduction)


@aten("index_add")
def index_add(ctx: Aten, x: Expr, dim: int, index: Expr, source: Expr, alpha: Number = 1) -> Value:
    if alpha != 1:
        source = relay.multiply(source, ctx.tensor(alpha, ctx.dtype(source)))
    return _along(ctx, x, dim, index, source, "add")


@aten("index_copy")
def index_copy(ctx: Aten, x: Expr, dim: int, index: Expr, source: Expr) -> Value:
    return _along(ctx, x, dim, index, source, "update")


@aten("index_fill")
def index_fill(ctx: Aten, x: Expr, dim: int, index: Expr, value: Value) -> Value:
    axis = ctx.axis(dim, ctx.rank(x))
    index = relay.reshape(index, (1,)) if not ctx.rank(index) else index
    sizes = ctx.sizes(x) or [1]
    sizes[axis] = ctx.size(index, 0)
    return _along(ctx, x, axis, index, ctx.full(sizes, value, ctx.dtype(x)), "update")


@aten("index_reduce")
def index_reduce(
    ctx: Aten, x: Expr, dim: int, index: Expr, source: Expr, reduce: str, include_self: bool = True
) -> Value:
    sizes = ctx.sizes(source)

    def combine(data: Expr, value: Value, reduction: str) -> Expr:
        updates = value if isinstance(value, Expr) else ctx.full(sizes, value, ctx.dtype(data))
        return _along(ctx, data, dim, index, updates, reduction)

    return _combined(ctx, combine, x, source, _reduction(reduce), include_self)


@aten("select_scatter")
def select_scatter(ctx: Aten, x: Expr, source: Expr, dim: int, index: Int) -> Value:
    """Return `x` with a slice of extent 1 replaced."""
    axis = ctx.axis(dim, ctx.rank(x))
    extent = ctx.tensor(ctx.size(x, axis), "int64")
    place = ctx.tensor(index, "int64")
    if not (isinstance(index, int) and index >= 0):
        place = relay.where(relay.less(place, const(0, "int64")), relay.add(place, extent), place)
    chosen = relay.equal(_steps(ctx, x, axis), place)
    return relay.where(chosen, relay.expand_dims(ctx.cast(source, ctx.dtype(x)), axis), x)


def _steps(ctx: Aten, x: Expr, axis: int) -> Expr:
    """Return the numbers 0, 1, … along an axis, so that they broadcast against `x`."""
    steps = relay.arange(ctx.tensor(ctx.size(x, axis), "int64"), dtype="int64")
    behind = ctx.rank(x) - axis - 1
    return relay.expand_dims(steps, 1, behind) if behind else steps


@aten("slice_scatter")
def slice_scatter(
    ctx: Aten,
    x: Expr,
    source: Expr,
    dim: int = 0,
    start: Int | None = None,
    end: Int | None = None,
    step: int = 1,
) -> Value:
    """Return `x` with the elements start, start + step, … along an axis replaced."""
    axis = ctx.axis(dim, ctx.rank(x))
    extent = ctx.size(x, axis)
    source = ctx.cast(source, ctx.dtype(x))
    if isinstance(extent, int) and all(value is None or isinstance(value, int) for value in (start, end)):
        first, last, _ = slice(start, end, step).indices(extent)
        if (first, last, step) == (0, extent, 1):
            return ctx.broadcast_to(source, ctx.sizes(x))
        if step == 1:
            parts = [source] if last > first else []
            if first:
                parts.insert(0, relay.strided_slice(x, [0], [first], axes=[axis]))
            if max(first, last) < extent:
                parts.append(relay.strided_slice(x, [max(first, last)], [extent], axes=[axis]))
            return parts[0] if len(parts) == 1 else relay.concatenate(parts, axis)
    count = ctx.tensor(ctx.size(source, axis), "int64")
    place = ctx.tensor(0 if start is None else start, "int64")
    whole = ctx.tensor(extent, "int64")
    if not (isinstance(start, int) and start >= 0) and start is not None:
        place = relay.where(relay.less(place, const(0, "int64")), relay.add(place, whole), place)
    offsets = relay.multiply(relay.arange(count, dtype="int64"), const(step, "int64"))
    return _along(ctx, x, axis, relay.add(offsets, relay.minimum(place, whole)), source, "update")


@aten("diagonal_scatter")
def diagonal_scatter(
    ctx: Aten, x: Expr, source: Expr, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Value:
    """Return `x` with a diagonal replaced."""
    rank = ctx.rank(x)
    rows, columns = ctx.axis(dim1, rank), ctx.axis(dim2, rank)
    others = [axis for axis in range(rank) if axis not in (rows, columns)]
    moved = relay.transpose(x, (rows, columns, *others))
    height, width = ctx.static_shape(moved)[:2]
    count = max(0, min(height + min(offset, 0), width - max(offset, 0)))
    steps = relay.arange(const(count, "int64"), dtype="int64")
    first, second = (relay.add(steps, const(max(shift, 0), "int64")) for shift in (-offset, offset))
    last = ctx.rank(source) - 1
    updates = relay.transpose(ctx.cast(source, ctx.dtype(x)), (last, *range(last)))
    result = relay.scatter_nd(moved, relay.stack([first, second], 0), updates, "update")
    order = [rows, columns, *others]
    return relay.transpose(result, tuple(order.index(axis) for axis in range(rank)))


@aten("fill_diagonal")
def fill_diagonal(ctx: Aten, x: Expr, value: Value, wrap: bool = False) -> Value:
    extents = ctx.static_shape(x)
    if wrap and len(extents) == 2 and extents[0] > extents[1] + 1:
        raise RelayError(
            f"fill_diagonal_ with wrap=True cannot be imported for a matrix of shape {extents}, because its "
            "diagonal would wrap around"
        )
    equal: Expr | None = None
    steps = [_steps(ctx, x, axis) for axis in range(len(extents))]
    for step in steps[1:]:
        same = relay.equal(steps[0], step)
        equal = same if equal is None else relay.logical_and(equal, same)
    assert equal is not None
    return relay.where(equal, ctx.tensor(value, ctx.dtype(x)), x)
