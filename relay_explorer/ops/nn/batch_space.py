"""Operators that trade spatial axes for the batch."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any as Anything

from ...ir.attrs import Attrs, Ints, Pairs, attr, required
from ...ir.expr import Call, Expr
from ...ir.op import OpPattern, Relation, RelationError, Reporter, no_flops
from ...ir.show import show_shape
from ...ir.types import Dim, IncompleteType, Shape, TensorType, Type
from ..arguments import expr
from ..declare import declare
from ..numeric import Array, np
from ..relation import tensor
from .layout import divided, many, plus, times
from .space import LAXER_BLOCKS

__all__ = ["batch_to_space_nd", "space_to_batch_nd"]


class SpaceToBatchNDAttrs(Attrs, key="relay.attrs.SpaceToBatchNDAttrs"):
    block_shape: Ints = attr((1, 1), "The blocks' size on each spatial axis.")
    paddings: Pairs = required("How many elements go before and after the data on each spatial axis.")
    pad_value: float = attr(0.0, "What goes there.")


class BatchToSpaceNDAttrs(Attrs, key="relay.attrs.BatchToSpaceNDAttrs"):
    block_shape: Ints = attr((1, 1), "The blocks' size on each spatial axis.")
    crops: Pairs = required("How many elements are cut off before and after on each spatial axis.")


def _check_blocks(shape: Shape, block_shape: Ints, pairs: Pairs, name: str) -> None:
    """A RelationError where there is not one block size and one pair for each spatial axis, or one is
    negative.
    """
    if len(pairs) != len(block_shape):
        raise RelationError(
            f"block_shape has {many(len(block_shape), 'size', 'sizes')}, but {name} "
            f"{many(len(pairs), 'pair', 'pairs')}",
            "give both for each spatial axis",
        )
    if len(shape) <= len(block_shape):
        raise RelationError(
            f"block_shape has {many(len(block_shape), 'size', 'sizes')}, but the data "
            f"{show_shape(shape)} has "
            f"{many(max(0, len(shape) - 1), 'axis', 'axes')} after the batch",
            culprits=(0,),
        )
    if any(size < 1 for size in block_shape):
        raise RelationError(f"block_shape={list(block_shape)} must be positive")
    if any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        raise RelationError(
            f"{name}={[list(p) for p in pairs]} must hold pairs (before, after) that are not negative"
        )


def _space_to_batch(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Input (N, d, …, rest); output (N * ∏ b, (d + padding) / b, …, rest)."""
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    shape, blocks = data.shape, attrs.block_shape
    _check_blocks(shape, blocks, attrs.paddings, "paddings")
    new: list[Dim] = [times(shape[0], prod(blocks))]
    for axis, (block, pair) in enumerate(zip(blocks, attrs.paddings, strict=True), 1):
        new.append(
            divided(
                plus(shape[axis], sum(pair)),
                block,
                f"axis {axis} with its padding",
                "choose paddings so that the blocks divide it",
            )
        )
    reporter.assign(out, TensorType.of((*new, *shape[len(new) :]), data.dtype))
    return True


def _batch_to_space(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Input (N, d, …, rest); output (N / ∏ b, d * b - crop, …, rest)."""
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    shape, blocks = data.shape, attrs.block_shape
    _check_blocks(shape, blocks, attrs.crops, "crops")
    new: list[Dim] = [divided(shape[0], prod(blocks), "the batch", f"each block takes {prod(blocks)} images")]
    for axis, (block, pair) in enumerate(zip(blocks, attrs.crops, strict=True), 1):
        size = plus(times(shape[axis], block), -sum(pair))
        if isinstance(size, int) and size < 0:
            raise RelationError(
                f"crops of axis {axis} cut off {sum(pair)} elements, but there are only {size + sum(pair)}",
                culprits=(0,),
            )
        new.append(size)
    reporter.assign(out, TensorType.of((*new, *shape[len(new) :]), data.dtype))
    return True


def _to_batch(attrs: SpaceToBatchNDAttrs, x: Array) -> Array:
    blocks, axes = attrs.block_shape, len(attrs.block_shape)
    rest = x.shape[axes + 1 :]
    x = np.pad(
        x, [(0, 0), *attrs.paddings, *[(0, 0)] * len(rest)], constant_values=x.dtype.type(attrs.pad_value)
    )
    sizes = [x.shape[axis + 1] // block for axis, block in enumerate(blocks)]
    split = [extent for pair in zip(sizes, blocks, strict=True) for extent in pair]
    places, within = range(1, 2 * axes, 2), range(2, 2 * axes + 1, 2)
    cut = x.reshape(len(x), *split, *rest)
    moved = cut.transpose(*within, 0, *places, *range(2 * axes + 1, cut.ndim))
    return moved.reshape(len(x) * prod(blocks), *sizes, *rest)


def _to_space(attrs: BatchToSpaceNDAttrs, x: Array) -> Array:
    blocks, axes = attrs.block_shape, len(attrs.block_shape)
    sizes, rest = x.shape[1 : axes + 1], x.shape[axes + 1 :]
    cut = x.reshape(*blocks, len(x) // prod(blocks), *sizes, *rest)
    pairs = [axis for n in range(axes) for axis in (axes + 1 + n, n)]
    moved = cut.transpose(axes, *pairs, *range(2 * axes + 1, cut.ndim))
    joined = moved.reshape(len(moved), *[d * b for d, b in zip(sizes, blocks, strict=True)], *rest)
    inner = [slice(a, d - b) for (a, b), d in zip(attrs.crops, joined.shape[1:], strict=False)]
    return joined[(slice(None), *inner)]


_SPACE_TO_BATCH = declare(
    "nn.space_to_batch_nd",
    "Pads the spatial axes and moves the places within blocks into the batch.",
    formula=r"y_{\,u N + n,\, i,\, \ldots} = x_{n,\, b i + u - p,\, \ldots}",
    relation=Relation(
        "SpaceToBatchND",
        _space_to_batch,
        "{out} = {0} with N ∏ b, and (d + padding) / b on each spatial axis",
    ),
    attrs=SpaceToBatchNDAttrs,
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    family="shape",
    level=5,
    lenient_in_tvm=LAXER_BLOCKS,
    compute=_to_batch,
    gradient="shape.space_to_batch",
    lowering="space.space_to_batch",
)
_BATCH_TO_SPACE = declare(
    "nn.batch_to_space_nd",
    "Moves images of the batch into blocks of the spatial axes, and crops these.",
    formula=r"y_{n,\, b i + u - c,\, \ldots} = x_{\,u N + n,\, i,\, \ldots}",
    relation=Relation(
        "BatchToSpaceND", _batch_to_space, "{out} = {0} with N / ∏ b, and d b - crop on each spatial axis"
    ),
    attrs=BatchToSpaceNDAttrs,
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    family="shape",
    level=5,
    lenient_in_tvm=LAXER_BLOCKS,
    compute=_to_space,
    gradient="shape.moved",
    lowering="space.batch_to_space",
)


def space_to_batch_nd(
    data: Expr, block_shape: Sequence[int], paddings: Sequence[Sequence[int]], pad_value: float = 0
) -> Call:
    """`data` (N, d₁, …, rest): (N * ∏ bᵢ, (dᵢ + paddingᵢ) / bᵢ, …, rest)."""
    return Call(
        _SPACE_TO_BATCH,
        [expr(data)],
        SpaceToBatchNDAttrs(block_shape=block_shape, paddings=paddings, pad_value=pad_value),
    )


def batch_to_space_nd(data: Expr, block_shape: Sequence[int], crops: Sequence[Sequence[int]]) -> Call:
    """`data` (N, d₁, …, rest): (N / ∏ bᵢ, dᵢ * bᵢ - cropᵢ, …, rest)."""
    return Call(_BATCH_TO_SPACE, [expr(data)], BatchToSpaceNDAttrs(block_shape=block_shape, crops=crops))
