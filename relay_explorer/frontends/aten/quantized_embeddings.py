"""Embeddings of PyTorch whose rows are integers of 8 or 4 bits, each with a scale and zero point of its own.

The rows that are looked up are dequantized, not the table.
"""

from __future__ import annotations

from typing import Any as Anything

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ...ops.numeric import Array
from .context import Aten
from .embedding import bags_of_rows
from .packed import Packed
from .registry import aten
from .values import Value


def _refuse_pruned(pruned: Value) -> None:
    if pruned:
        raise RelayError("embeddings whose rows have been pruned cannot be imported")


def _bytes(ctx: Aten, packed: Packed, indices: Expr) -> Expr:
    """Return the real values of rows of bytes."""
    weight = packed.weight
    rows = relay.take(packed.parameter("weight", weight.int_repr().numpy()), indices, axis=0)
    scales, zeros = (_of_rows(values, indices) for values in _parameters(weight))
    return relay.multiply(relay.subtract(relay.cast(rows, "float32"), zeros), scales)


def _half_bytes(ctx: Aten, packed: Packed, indices: Expr) -> Expr:
    """Return the real values of rows of 4 bits, of which two share a byte. PyTorch stores the scale of a row,
    and the real value of the integer 0, in float16.
    """
    weight = packed.weight
    units, features = weight.shape
    table = weight.int_repr().numpy().reshape(units, -1)
    rows = relay.take(packed.parameter("weight", table), indices, axis=0)
    low = relay.bitwise_and(rows, const(15, "uint8"))
    high = relay.right_shift(rows, const(4, "uint8"))
    pairs = relay.stack([low, high], axis=-1)
    whole = ctx.reshape(pairs, [*ctx.sizes(indices), 2 * table.shape[1]])
    if features % 2:
        whole = relay.strided_slice(whole, [0], [features], axes=[-1])
    scales, zeros = _parameters(weight)
    steps, starts = (values.astype("float16").astype("float32") for values in (scales, -zeros * scales))
    product = relay.multiply(relay.cast(whole, "float32"), _of_rows(steps, indices))
    return relay.add(product, _of_rows(starts, indices))


def _parameters(weight: Anything) -> tuple[Array, Array]:
    """Return the scales and the zero points of the rows, which are real numbers."""
    return weight.q_per_channel_scales().float().numpy(), weight.q_per_channel_zero_points().float().numpy()


def _of_rows(values: Array, indices: Expr) -> Expr:
    return relay.expand_dims(relay.take(const(values), indices, axis=0), -1)


@aten("quantized::embedding_byte")
def embedding_byte(ctx: Aten, packed: Packed, indices: Expr, pruned: bool = False) -> Value:
    _refuse_pruned(pruned)
    return _bytes(ctx, packed, indices)


@aten("quantized::embedding_4bit")
def embedding_4bit(ctx: Aten, packed: Packed, indices: Expr, pruned: bool = False) -> Value:
    _refuse_pruned(pruned)
    return _half_bytes(ctx, packed, indices)


@aten("quantized::embedding_bag_byte", "quantized::embedding_bag_4bit")
def embedding_bag(
    ctx: Aten,
    packed: Packed,
    indices: Expr,
    offsets: Expr | None = None,
    scale_grad: bool = False,
    mode: int = 0,
    pruned: bool = False,
    sample_weights: Expr | None = None,
    mapping: Expr | None = None,
    include_last_offset: bool = False,
) -> Value:
    """Sum the rows of each bag: of each row of a matrix of indices, or of a vector from offset to offset."""
    _refuse_pruned(pruned or mapping is not None)
    read = _half_bytes if "4" in str(packed.weight.dtype) else _bytes
    rows = read(ctx, packed, indices)
    if ctx.rank(indices) == 1:
        if offsets is None:
            raise RelayError("a vector of indices requires the offsets of its bags")
        return bags_of_rows(ctx, rows, offsets, mode, sample_weights, include_last_offset)
    if mode not in (0, 1):
        raise RelayError("embedding_bag with mode='max' cannot be imported")
    if sample_weights is not None:
        rows = relay.multiply(rows, relay.expand_dims(sample_weights, -1))
    return relay.sum(rows, axis=[1]) if mode == 0 else relay.mean(rows, axis=[1])
