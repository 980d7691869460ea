"""Operators that move elements between spatial axes and the batch."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import Ints, Pairs, attr, required
from ...ir.declaration import Gradient, Precision
from ...ir.expr import Call, Expr
from ...ir.op import OpPattern, Relation, RelationError, Reporter, no_flops
from ...ir.show import show_shape
from ...ir.types import Dim, IncompleteType, Shape, TensorType, Type
from ..arguments import Operand
from ..examples import t
from ..gradient_tools import MOVED, extents, gathered, numbers_of
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, np
from ..operator import operator
from ..relation import tensor
from ..te.lowered import Lowered
from ..te.tensors import (
    Tensor,
    Value,
    converted,
    dims,
    dtype_of,
    every,
    guarded,
    quotient,
    ravel,
    remainder,
    stage,
    unravel,
)
from .layout import divided, many, plus, times
from .space import LENIENT_BLOCKS

__all__ = ["batch_to_space_nd", "space_to_batch_nd"]


def _check_blocks(shape: Shape, block_shape: Ints, pairs: Pairs, name: str) -> None:
    """Raise a RelationError unless each spatial axis has one positive block size and one pair of non-negative
    amounts.
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
    """Relate the types: input (N, d, …, rest); output (N * ∏ b, (d + padding) / b, …, rest)."""
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
    """Relate the types: input (N, d, …, rest); output (N / ∏ b, d * b - crop, …, rest)."""
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
                f"crops of axis {axis} remove {sum(pair)} elements, but there are only {size + sum(pair)}",
                culprits=(0,),
            )
        new.append(size)
    reporter.assign(out, TensorType.of((*new, *shape[len(new) :]), data.dtype))
    return True


def _to_batch(attrs: Anything, x: Array) -> Array:
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


def _to_space(attrs: Anything, x: Array) -> Array:
    blocks, axes = attrs.block_shape, len(attrs.block_shape)
    sizes, rest = x.shape[1 : axes + 1], x.shape[axes + 1 :]
    cut = x.reshape(*blocks, len(x) // prod(blocks), *sizes, *rest)
    pairs = [axis for n in range(axes) for axis in (axes + 1 + n, n)]
    moved = cut.transpose(axes, *pairs, *range(2 * axes + 1, cut.ndim))
    joined = moved.reshape(len(moved), *[d * b for d, b in zip(sizes, blocks, strict=True)], *rest)
    inner = [slice(a, d - b) for (a, b), d in zip(attrs.crops, joined.shape[1:], strict=False)]
    return joined[(slice(None), *inner)]


def _space_to_batch_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Apply the operator to the flat indices of the elements, with one past the last index as the pad value,
    and so find which element of `data` each element of the output is a copy of.
    """
    (data,) = call.args
    assert call.attrs is not None
    spare = {**dict(call.attrs.items()), "pad_value": float(prod(extents(data)))}
    numbered = Call(call.op, [numbers_of(data, call)], type(call.attrs)(**spare))
    return [gathered(call, grad, data, numbered, spare=True)]


def _space_to_batch_te(call: Lowered) -> list[Tensor]:
    """Move the positions within blocks into the outer part of the batch; padding holds the pad value."""
    x, attrs = call.inputs[0], call.attrs
    blocks, axes = attrs.block_shape, len(attrs.block_shape)
    batch, *space = dims(x)[: axes + 1]
    pairs = attrs.paddings
    sizes = [quotient(d + sum(pair), b) for d, pair, b in zip(space, pairs, blocks, strict=True)]
    around = converted(attrs.pad_value, dtype_of(x))

    def element(n: Value, *i: Value) -> Value:
        within = unravel(n // batch, blocks)
        inside, place = [], []
        for axis, at in enumerate(i[:axes]):
            before, after = pairs[axis]
            place.append(at * blocks[axis] + within[axis] - before)
            inside += [place[-1] >= 0] * (before > 0) + [place[-1] < space[axis]] * (after > 0)
        return guarded(every(inside), x(n % batch, *place, *i[axes:]), around)

    return [stage((batch * prod(blocks), *sizes, *dims(x)[axes + 1 :]), element, call.name)]


def _batch_to_space_te(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    blocks, axes = attrs.block_shape, len(attrs.block_shape)
    batch = quotient(dims(x)[0], prod(blocks))
    space = dims(x)[1 : axes + 1]
    sizes = [d * b - sum(crop) for d, b, crop in zip(space, blocks, attrs.crops, strict=True)]

    def element(n: Value, *i: Value) -> Value:
        at = [p + crop[0] for p, crop in zip(i[:axes], attrs.crops, strict=True)]
        within = ravel([remainder(p, b) for p, b in zip(at, blocks, strict=True)], blocks)
        return x(within * batch + n, *[quotient(p, b) for p, b in zip(at, blocks, strict=True)], *i[axes:])

    return [stage((batch, *sizes, *dims(x)[axes + 1 :]), element, call.name)]


@operator(
    "nn.space_to_batch_nd",
    description="Pads the spatial axes and moves the positions within each block into the batch.",
    formula=r"y_{\,u N + n,\, i,\, \ldots} = x_{n,\, b i + u - p,\, \ldots}",
    family="shape",
    level=5,
    relation=Relation(
        "SpaceToBatchND",
        _space_to_batch,
        "{out} = {0} with N ∏ b, and (d + padding) / b on each spatial axis",
    ),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=_to_batch,
    gradient=Gradient(
        "each element of dy is added to the element of dx that was copied to its position, except padding",
        _space_to_batch_gradient,
    ),
    lowering=_space_to_batch_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(t(1, 4, 4, 1), [2, 2], [[0, 0], [0, 0]]),
    attrs_key="relay.attrs.SpaceToBatchNDAttrs",
    lenient_in_tvm=LENIENT_BLOCKS,
)
def space_to_batch_nd(
    data: Operand,
    block_shape: Annotated[
        Sequence[int], attr((1, 1), "The blocks' size on each spatial axis.", kind="Ints")
    ],
    paddings: Annotated[
        Sequence[Sequence[int]],
        required("The padding before and after the data on each spatial axis.", kind="Pairs"),
    ],
    pad_value: Annotated[float, attr(0.0, "The value of the padding.")] = 0,
) -> Call:
    """Rearrange `data` (N, d₁, …, rest) to (N * ∏ bᵢ, (dᵢ + paddingᵢ) / bᵢ, …, rest)."""


@operator(
    "nn.batch_to_space_nd",
    description="Moves images of the batch into blocks of the spatial axes, and crops these.",
    formula=r"y_{n,\, b i + u - c,\, \ldots} = x_{\,u N + n,\, i,\, \ldots}",
    family="shape",
    level=5,
    relation=Relation(
        "BatchToSpaceND", _batch_to_space, "{out} = {0} with N / ∏ b, and d b - crop on each spatial axis"
    ),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=_to_space,
    gradient=MOVED,
    lowering=_batch_to_space_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(t(4, 2, 2, 1), [2, 2], [[0, 0], [0, 0]]),
    attrs_key="relay.attrs.BatchToSpaceNDAttrs",
    lenient_in_tvm=LENIENT_BLOCKS,
)
def batch_to_space_nd(
    data: Operand,
    block_shape: Annotated[
        Sequence[int], attr((1, 1), "The blocks' size on each spatial axis.", kind="Ints")
    ],
    crops: Annotated[
        Sequence[Sequence[int]],
        required("The number of elements cropped before and after on each spatial axis.", kind="Pairs"),
    ],
) -> Call:
    """Rearrange `data` (N, d₁, …, rest) to (N / ∏ bᵢ, dᵢ * bᵢ - cropᵢ, …, rest)."""
