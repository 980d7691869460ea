"""Operators that join, repeat, reverse and shift tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from . import scalars
from .context import Aten
from .registry import aten
from .shape import sliced
from .values import Int, Value


@aten("cat", "concat", "concatenate")
def cat(ctx: Aten, tensors: Sequence[Expr], dim: int = 0) -> Value:
    """Join along an axis; empty vectors are ignored, as PyTorch does."""
    if not tensors:
        raise RelayError("cat requires at least one tensor")
    dtype = ctx.result_type(*tensors)
    operands = [x for x in tensors if ctx.shape(x) != (0,)] or list(tensors[:1])
    parts = [ctx.cast(x, dtype) for x in operands]
    if len(parts) == 1:
        return parts[0]
    return relay.concatenate(parts, ctx.axis(dim, ctx.rank(parts[0])))


@aten("stack")
def stack(ctx: Aten, tensors: Sequence[Expr], dim: int = 0) -> Value:
    if not tensors:
        raise RelayError("stack requires at least one tensor")
    parts = ctx.operands(*tensors, dtype=ctx.result_type(*tensors))
    return relay.stack(list(parts), ctx.axis(dim, ctx.rank(parts[0]) + 1))


@aten("hstack")
def hstack(ctx: Aten, tensors: Sequence[Expr]) -> Value:
    parts = [_at_least(ctx, x, 1) for x in tensors]
    return cat(ctx, parts, 0 if ctx.rank(parts[0]) == 1 else 1)


@aten("vstack", "row_stack")
def vstack(ctx: Aten, tensors: Sequence[Expr]) -> Value:
    return cat(ctx, [_at_least(ctx, x, 2) for x in tensors], 0)


@aten("column_stack")
def column_stack(ctx: Aten, tensors: Sequence[Expr]) -> Value:
    columns = [ctx.reshape(x, [-1, 1]) if ctx.rank(x) < 2 else x for x in tensors]
    return cat(ctx, columns, 1)


@aten("dstack")
def dstack(ctx: Aten, tensors: Sequence[Expr]) -> Value:
    return cat(ctx, [_at_least(ctx, x, 3) for x in tensors], 2)


def _at_least(ctx: Aten, x: Expr, rank: int) -> Expr:
    """Return a tensor with at least `rank` axes, as `torch.atleast_1d` to `atleast_3d` do."""
    have = ctx.rank(x)
    if have >= rank:
        return x
    if have == 0:
        return relay.reshape(x, (1,) * rank)
    if rank == 3:
        x = relay.expand_dims(x, 0) if have == 1 else x
        return relay.expand_dims(x, 2)
    return relay.expand_dims(x, 0)


def _declare_at_least(rank: int, name: str) -> None:
    def convert(ctx: Aten, x: Expr) -> Value:
        return _at_least(ctx, x, rank)

    def convert_all(ctx: Aten, tensors: Sequence[Expr]) -> Value:
        return [_at_least(ctx, x, rank) for x in tensors]

    aten(name)(convert)
    aten(f"{name}.Sequence")(convert_all)


_declare_at_least(1, "atleast_1d")
_declare_at_least(2, "atleast_2d")
_declare_at_least(3, "atleast_3d")


@aten("repeat")
def repeat(ctx: Aten, x: Expr, counts: Sequence[Int]) -> Value:
    known = [scalars.known(ctx, count) for count in counts]
    if all(isinstance(count, int) for count in known):
        reps = cast("list[int]", known)
        if all(count == 1 for count in reps) and len(reps) == ctx.rank(x):
            return x
        return relay.tile(x, reps)
    return relay.tile(x, ctx.vector(cast("list[Int]", known)))


@aten("tile")
def tile(ctx: Aten, x: Expr, counts: Sequence[Int]) -> Value:
    missing = ctx.rank(x) - len(counts)
    return repeat(ctx, x, [*[1] * missing, *counts])


@aten("repeat_interleave.self_int")
def repeat_interleave(
    ctx: Aten, x: Expr, count: Int, dim: int | None = None, output_size: object = None
) -> Value:
    if dim is None:
        x, dim = ctx.reshape(x, [-1]), 0
    return relay.repeat(x, ctx.integer(count, "the number of repetitions"), ctx.axis(dim, ctx.rank(x)))


@aten("repeat_interleave.self_Tensor")
def repeat_interleave_tensor(
    ctx: Aten, x: Expr, counts: Expr, dim: int | None = None, output_size: object = None
) -> Value:
    """Repeat each element by its own count, which must be known at compile time."""
    from ...ops import np

    known = ctx.context.constant(counts)
    if known is None:
        raise DynamicShapeError("the repeats of repeat_interleave must be known at compile time")
    if dim is None:
        x, dim = ctx.reshape(x, [-1]), 0
    axis = ctx.axis(dim, ctx.rank(x))
    extent = ctx.integer(ctx.size(x, axis), "the extent of the repeated axis")
    repeated = np.repeat(np.arange(extent), known if known.size != 1 else int(known.reshape(-1)[0]))
    return relay.take(x, const(repeated, "int64"), axis=axis)


@aten("flip")
def flip(ctx: Aten, x: Expr, dims: Sequence[int]) -> Value:
    for dim in dims:
        x = relay.reverse(x, ctx.axis(dim, ctx.rank(x))) if ctx.rank(x) else x
    return x


@aten("fliplr")
def fliplr(ctx: Aten, x: Expr) -> Value:
    return flip(ctx, x, [1])


@aten("flipud")
def flipud(ctx: Aten, x: Expr) -> Value:
    return flip(ctx, x, [0])


@aten("rot90")
def rot90(ctx: Aten, x: Expr, k: int = 1, dims: Sequence[int] = (0, 1)) -> Value:
    rank = ctx.rank(x)
    first, second = [ctx.axis(dim, rank) for dim in dims]
    swapped = list(range(rank))
    swapped[first], swapped[second] = second, first
    match k % 4:
        case 0:
            return x
        case 1:
            return relay.transpose(relay.reverse(x, second), swapped)
        case 2:
            return relay.reverse(relay.reverse(x, first), second)
    return relay.reverse(relay.transpose(x, swapped), second)


@aten("roll")
def roll(ctx: Aten, x: Expr, shifts: Sequence[Int], dims: Sequence[int] = ()) -> Value:
    """Shift elements along axes; those that leave at the end come in at the start."""
    moves = ctx.integers(shifts, "the shifts")
    if not dims:
        if len(moves) != 1:
            raise RelayError(f"roll without dims requires one shift, not {len(moves)}")
        return ctx.reshape(_rolled(ctx, ctx.reshape(x, [-1]), moves[0], 0), ctx.sizes(x))
    for move, dim in zip(moves, ctx.integers(dims), strict=True):
        x = _rolled(ctx, x, move, ctx.axis(dim, ctx.rank(x)))
    return x


def _rolled(ctx: Aten, x: Expr, shift: int, axis: int) -> Expr:
    extent = ctx.shape(x)[axis] if ctx.rank(x) else 1
    if isinstance(extent, int):
        shift = shift % extent if extent else 0
    if shift == 0:
        return x
    front = sliced(ctx, x, axis, -shift, None, 1)
    back = sliced(ctx, x, axis, 0, -shift, 1)
    return relay.concatenate([front, back], axis)


@aten("meshgrid", "meshgrid.indexing")
def meshgrid(ctx: Aten, tensors: Sequence[Expr], indexing: str = "ij") -> Value:
    vectors = [relay.reshape(x, (1,)) if not ctx.rank(x) else x for x in tensors]
    return list(relay.meshgrid(vectors, indexing))


@aten("cartesian_prod")
def cartesian_prod(ctx: Aten, tensors: Sequence[Expr]) -> Value:
    if len(tensors) == 1:
        return tensors[0]
    grids = [ctx.reshape(grid, [-1]) for grid in cast("list[Expr]", meshgrid(ctx, tensors))]
    return relay.stack(grids, 1)


def _trilu(ctx: Aten, x: Expr, k: int, upper: bool) -> Expr:
    if ctx.dtype(x) == "bool":
        return relay.cast(relay.trilu(relay.cast(x, "uint8"), const(k, "int64"), upper), "bool")
    return relay.trilu(x, const(k, "int64"), upper)


@aten("tril")
def tril(ctx: Aten, x: Expr, diagonal: Int = 0) -> Value:
    return _trilu(ctx, x, ctx.integer(diagonal, "the diagonal"), False)


@aten("triu")
def triu(ctx: Aten, x: Expr, diagonal: Int = 0) -> Value:
    return _trilu(ctx, x, ctx.integer(diagonal, "the diagonal"), True)


@aten("diagonal", "diagonal_copy")
def diagonal(ctx: Aten, x: Expr, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    """Return the elements whose indices on two axes differ by the offset, as the last axis."""
    rank = ctx.rank(x)
    first, second = ctx.axis(dim1, rank), ctx.axis(dim2, rank)
    rows = ctx.integer(ctx.size(x, first), "the extent of a matrix")
    columns = ctx.integer(ctx.size(x, second), "the extent of a matrix")
    top, left = max(-offset, 0), max(offset, 0)
    count = max(0, min(rows - top, columns - left))
    rest = [axis for axis in range(rank) if axis not in (first, second)]
    moved = relay.transpose(x, [*rest, first, second])
    flat = ctx.reshape(moved, [*[ctx.size(x, axis) for axis in rest], rows * columns])
    chosen = [(top + step) * columns + left + step for step in range(count)]
    return relay.take(flat, const(chosen, "int64"), axis=len(rest))


@aten("diag")
def diag(ctx: Aten, x: Expr, offset: int = 0) -> Value:
    return diag_embed(ctx, x, offset) if ctx.rank(x) == 1 else diagonal(ctx, x, offset)


@aten("diag_embed")
def diag_embed(ctx: Aten, x: Expr, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Value:
    """Return matrices with the last axis on a diagonal and zeros elsewhere."""
    rank = ctx.rank(x) + 1
    first, second = ctx.axis(dim1, rank), ctx.axis(dim2, rank)
    count = ctx.integer(ctx.size(x, rank - 2), "the extent of a diagonal")
    side = count + abs(offset)
    from ...ops import np

    position = np.arange(side)
    mask = const(position[None, :] - position[:, None] == offset, "bool")
    low = max(offset, 0)
    padded = relay.nn.pad(x, [(0, 0)] * (rank - 2) + [(low, side - count - low)])
    spread = relay.expand_dims(padded, rank - 2)
    matrices = relay.where(mask, spread, const(0, ctx.dtype(x)))
    order = [axis for axis in range(rank) if axis not in (first, second)]
    back = [0] * rank
    for at, axis in enumerate([*order, first, second]):
        back[axis] = at
    return matrices if back == list(range(rank)) else relay.transpose(matrices, back)


@aten("trace")
def trace(ctx: Aten, x: Expr) -> Value:
    total = cast(Expr, diagonal(ctx, x))
    return relay.sum(total if ctx.dtype(x) != "bool" else relay.cast(total, "int64"))


@aten("unfold", "unfold_copy")
def unfold(ctx: Aten, x: Expr, dim: int, size: int, step: int) -> Value:
    """Return all windows of an axis; their elements become the last axis."""
    rank = ctx.rank(x)
    axis = ctx.axis(dim, rank)
    extent = ctx.integer(ctx.size(x, axis), "the extent of an axis that is unfolded")
    if size > extent or step < 1:
        raise RelayError(
            f"unfold requires a size of at most the axis's extent, {extent}, not {size}, and a positive "
            f"step, not {step}"
        )
    count = (extent - size) // step + 1
    chosen = [[window * step + offset for offset in range(size)] for window in range(count)]
    windows = relay.take(x, const(chosen, "int64"), axis=axis)
    order = [at for at in range(rank + 1) if at != axis + 1]
    return relay.transpose(windows, [*order, axis + 1])
