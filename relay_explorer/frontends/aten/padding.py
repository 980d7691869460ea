"""Padding by constants, by reflection, by the edge, and circularly; pixels and channels shuffled."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from .context import Aten
from .registry import aten
from .values import Value

_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}


def padded(ctx: Aten, x: Expr, pad: Value, mode: str, value: Value = 0.0) -> Expr:
    """Pad a tensor: `pad` has two numbers for each axis, from the last axis on; negative ones crop."""
    rank = ctx.rank(x)
    amounts = ctx.integers(pad, "the padding")
    if len(amounts) % 2 or len(amounts) > 2 * rank:
        raise RelayError(
            f"the padding must have two elements for each padded axis, at most {2 * rank} for a tensor with "
            f"{rank} axes, not {len(amounts)}"
        )
    pairs = [(0, 0)] * rank
    for index in range(len(amounts) // 2):
        pairs[rank - 1 - index] = (amounts[2 * index], amounts[2 * index + 1])
    x = _cropped(ctx, x, pairs)
    pairs = [(max(before, 0), max(after, 0)) for before, after in pairs]
    if not any(amount for pair in pairs for amount in pair):
        return x
    if mode == "circular":
        for axis, (before, after) in enumerate(pairs):
            x = _wrapped(x, axis, before, after)
        return x
    if mode not in _MODES:
        raise RelayError(f"PyTorch has no padding mode {mode!r}")
    filler = ctx.tensor(0.0 if value is None else value, ctx.dtype(x))
    return relay.nn.pad(x, tuple(pairs), filler, pad_mode=_MODES[mode])


def _cropped(ctx: Aten, x: Expr, pairs: Sequence[tuple[int, int]]) -> Expr:
    """Leave out elements where a padding is negative."""
    begin, end, axes = [], [], []
    for axis, (before, after) in enumerate(pairs):
        if before >= 0 and after >= 0:
            continue
        extent = ctx.shape(x)[axis]
        if not isinstance(extent, int):
            raise DynamicShapeError(
                f"negative padding requires that the extent of axis {axis} is known at compile time"
            )
        begin.append(max(-before, 0))
        end.append(extent - max(-after, 0))
        axes.append(axis)
    return relay.strided_slice(x, begin, end, axes=axes) if axes else x


def _wrapped(x: Expr, axis: int, before: int, after: int) -> Expr:
    """Continue an axis periodically."""
    parts = [x]
    if before:
        parts.insert(0, relay.strided_slice(x, [-before], [1 << 31], axes=[axis]))
    if after:
        parts.append(relay.strided_slice(x, [0], [after], axes=[axis]))
    return x if len(parts) == 1 else relay.concatenate(parts, axis)


@aten("constant_pad_nd")
def constant_pad(ctx: Aten, x: Expr, pad: Value, value: Value = 0) -> Value:
    return padded(ctx, x, pad, "constant", value)


@aten("pad")
def pad(ctx: Aten, x: Expr, pad: Value, mode: str = "constant", value: Value = None) -> Value:
    return padded(ctx, x, pad, mode, value)


@aten("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def reflection_pad(ctx: Aten, x: Expr, pad: Value) -> Value:
    return padded(ctx, x, pad, "reflect")


@aten("replication_pad1d", "replication_pad2d", "replication_pad3d")
def replication_pad(ctx: Aten, x: Expr, pad: Value) -> Value:
    return padded(ctx, x, pad, "replicate")


@aten("_pad_circular")
def circular_pad(ctx: Aten, x: Expr, pad: Value) -> Value:
    return padded(ctx, x, pad, "circular")


@aten("pixel_shuffle")
def pixel_shuffle(ctx: Aten, x: Expr, factor: int) -> Value:
    """Move channels into blocks of factor × factor pixels."""
    *lead, channels, height, width = ctx.sizes(x)
    count = ctx.integer(channels, "the number of channels") // factor**2
    rank = len(lead)
    split = ctx.reshape(x, [*lead, count, factor, factor, height, width])
    order = (*range(rank), rank, rank + 3, rank + 1, rank + 4, rank + 2)
    rows, columns = ctx.integer(height, "the height") * factor, ctx.integer(width, "the width") * factor
    return ctx.reshape(relay.transpose(split, order), [*lead, count, rows, columns])


@aten("pixel_unshuffle")
def pixel_unshuffle(ctx: Aten, x: Expr, factor: int) -> Value:
    """Move blocks of factor × factor pixels into channels."""
    *lead, channels, height, width = ctx.sizes(x)
    rows, columns = ctx.integer(height, "the height") // factor, ctx.integer(width, "the width") // factor
    rank = len(lead)
    split = ctx.reshape(x, [*lead, channels, rows, factor, columns, factor])
    order = (*range(rank), rank, rank + 2, rank + 4, rank + 1, rank + 3)
    count = ctx.integer(channels, "the number of channels") * factor**2
    return ctx.reshape(relay.transpose(split, order), [*lead, count, rows, columns])


@aten("channel_shuffle", "native_channel_shuffle")
def channel_shuffle(ctx: Aten, x: Expr, groups: int) -> Value:
    """Interleave the groups of channels."""
    batch, channels, *rest = ctx.sizes(x)
    count = ctx.integer(channels, "the number of channels")
    split = ctx.reshape(x, [batch, groups, count // groups, *rest])
    order = (0, 2, 1, *range(3, 3 + len(rest)))
    return ctx.reshape(relay.transpose(split, order), [batch, channels, *rest])
