"""Attention: the operators that PyTorch fuses, as products and softmax."""

from __future__ import annotations

import math
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from .context import Aten
from .registry import aten, tensor_call
from .values import Value

_EVAL = [
    "call model.eval() before exporting or tracing it",
    "functions such as scaled_dot_product_attention do not know the mode: pass them a dropout of 0",
]


def no_dropout(probability: Value) -> None:
    """Raise a RelayError unless dropout is switched off."""
    if probability:
        raise RelayError(
            "dropout is active, as in training mode, so the result is random and cannot be imported",
            help=_EVAL,
        )


def masked(ctx: Aten, scores: Expr, mask: Expr | None) -> Expr:
    """Apply a mask: of bools, which keeps scores where it is true, or of numbers, which are added."""
    if mask is None:
        return scores
    dtype = ctx.dtype(scores)
    if ctx.dtype(mask) == "bool":
        return relay.where(mask, scores, const(float("-inf"), dtype))
    return relay.add(scores, ctx.cast(mask, dtype))


def causal(ctx: Aten, rows: Expr, columns: Expr) -> Expr:
    """Return a mask that is true on and below the diagonal, for the sequences of `rows` and `columns`."""
    steps = []
    for x in (rows, columns):
        length = ctx.size(x, ctx.rank(x) - 2)
        steps.append(relay.arange(ctx.tensor(length, "int64"), dtype="int64"))
    return relay.greater_equal(relay.expand_dims(steps[0], 1), relay.expand_dims(steps[1], 0))


def scored(
    ctx: Aten, query: Expr, key: Expr, mask: Expr | None, is_causal: bool, scale: float | None
) -> Expr:
    """Return q·kᵀ·scale + mask."""
    if scale is None:
        width = ctx.shape(query)[-1]
        if not isinstance(width, int):
            raise DynamicShapeError("the head size of attention must be known at compile time")
        scale = 1 / math.sqrt(width)
    rank = ctx.rank(key)
    turned = relay.transpose(key, (*range(rank - 2), rank - 1, rank - 2))
    scores = tensor_call(ctx, "matmul", relay.multiply(query, const(scale, ctx.dtype(query))), turned)
    if is_causal:
        scores = masked(ctx, scores, causal(ctx, query, key))
    return masked(ctx, scores, mask)


def attended(
    ctx: Aten,
    query: Expr,
    key: Expr,
    value: Expr,
    mask: Expr | None,
    is_causal: bool,
    scale: float | None,
    grouped: bool = False,
) -> Expr:
    """Return softmax(q·kᵀ·scale + mask)·v."""
    if grouped:
        key, value = [_repeated(ctx, x, query) for x in (key, value)]
    weights: Expr = relay.nn.softmax(scored(ctx, query, key, mask, is_causal, scale), axis=-1)
    if mask is not None and ctx.dtype(mask) == "bool":
        # PyTorch defines the softmax of a row that is masked entirely as zero.
        some = relay.any(mask, axis=[-1], keepdims=True)
        weights = relay.where(some, weights, const(0.0, ctx.dtype(weights)))
    return tensor_call(ctx, "matmul", weights, value)


def _repeated(ctx: Aten, x: Expr, query: Expr) -> Expr:
    """Repeat the heads of keys or values for the groups of query heads that share them."""
    axis = ctx.rank(x) - 3
    heads, wanted = ctx.shape(x)[axis], ctx.shape(query)[axis]
    if not isinstance(heads, int) or not isinstance(wanted, int):
        raise DynamicShapeError("the numbers of attention heads must be known at compile time")
    return x if heads == wanted else relay.repeat(x, wanted // heads, axis)


@aten("scaled_dot_product_attention")
def scaled_dot_product_attention(
    ctx: Aten,
    query: Expr,
    key: Expr,
    value: Expr,
    mask: Expr | None = None,
    dropout: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:
    no_dropout(dropout)
    return attended(ctx, query, key, value, mask, is_causal, scale, enable_gqa)


@aten("_scaled_dot_product_flash_attention_for_cpu")
def flash_attention(
    ctx: Aten,
    query: Expr,
    key: Expr,
    value: Expr,
    dropout: float = 0.0,
    is_causal: bool = False,
    mask: Expr | None = None,
    scale: float | None = None,
) -> Value:
    """Attend; the second result, which the backward pass needs, is the logarithm of softmax's denominator."""
    no_dropout(dropout)
    result = attended(ctx, query, key, value, mask, is_causal, scale)
    return result, relay.logsumexp(scored(ctx, query, key, mask, is_causal, scale), axis=[-1])


@aten("_scaled_dot_product_attention_math")
def attention_math(
    ctx: Aten,
    query: Expr,
    key: Expr,
    value: Expr,
    mask: Expr | None = None,
    dropout: float = 0.0,
    is_causal: bool = False,
    dropout_mask: Expr | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:
    no_dropout(dropout)
    return attended(ctx, query, key, value, mask, is_causal, scale, enable_gqa), None


def _projected(ctx: Aten, x: Expr, weight: Expr, bias: Expr | None) -> Expr:
    return tensor_call(ctx, "linear", x, weight, bias)


def _heads(ctx: Aten, x: Expr, heads: int) -> Expr:
    """Split the width of (batch, sequence, width) into heads: (batch, heads, sequence, width / heads)."""
    batch, length, width = ctx.sizes(x)
    each = ctx.integer(width) // heads
    return relay.transpose(ctx.reshape(x, [batch, length, heads, each]), (0, 2, 1, 3))


def _mask_of(ctx: Aten, mask: Expr | None, mask_type: Value) -> Expr | None:
    """Return a mask of multi-head attention, true for what is left out, as one that is true for what counts.

    The type is 0 for (sequence, sequence), 1 for (batch, sequence), and 2 for all four axes.
    """
    if mask is None:
        return None
    if mask_type == 1:
        mask = relay.expand_dims(relay.expand_dims(mask, 1), 1)
    return relay.logical_not(mask) if ctx.dtype(mask) == "bool" else mask


@aten("_native_multi_head_attention")
def native_multi_head_attention(
    ctx: Aten,
    query: Expr,
    key: Expr,
    value: Expr,
    width: int,
    heads: int,
    qkv_weight: Expr,
    qkv_bias: Expr,
    proj_weight: Expr,
    proj_bias: Expr,
    mask: Expr | None = None,
    need_weights: bool = True,
    average_weights: bool = True,
    mask_type: Value = None,
) -> Value:
    """Convert the fast path of `nn.MultiheadAttention` in eval mode."""
    weights = relay.split(qkv_weight, 3, axis=0)
    biases = relay.split(qkv_bias, 3, axis=0)
    q, k, v = [
        _heads(ctx, _projected(ctx, x, weights[index], biases[index]), heads)
        for index, x in enumerate((query, key, value))
    ]
    combined_mask = _mask_of(ctx, mask, mask_type)
    mixed = relay.transpose(attended(ctx, q, k, v, combined_mask, False, None), (0, 2, 1, 3))
    batch, length, _ = ctx.sizes(query)
    result = _projected(ctx, ctx.reshape(mixed, [batch, length, width]), proj_weight, proj_bias)
    if not need_weights:
        return result, None
    scale = const(1 / math.sqrt(width // heads), ctx.dtype(q))
    scores = tensor_call(ctx, "matmul", relay.multiply(q, scale), relay.transpose(k, (0, 1, 3, 2)))
    shares = relay.nn.softmax(masked(ctx, scores, combined_mask), axis=-1)
    return result, relay.mean(shares, axis=[1]) if average_weights else shares


@aten("_transformer_encoder_layer_fwd")
def transformer_encoder_layer(
    ctx: Aten,
    x: Expr,
    width: int,
    heads: int,
    qkv_weight: Expr,
    qkv_bias: Expr,
    proj_weight: Expr,
    proj_bias: Expr,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Expr,
    norm_bias_1: Expr,
    norm_weight_2: Expr,
    norm_bias_2: Expr,
    ffn_weight_1: Expr,
    ffn_bias_1: Expr,
    ffn_weight_2: Expr,
    ffn_bias_2: Expr,
    mask: Expr | None = None,
    mask_type: Value = None,
) -> Value:
    """Convert the fast path of `nn.TransformerEncoderLayer` in eval mode."""

    projection = (qkv_weight, qkv_bias, proj_weight, proj_bias)
    options = (mask, False, True, mask_type)

    def attention(y: Expr) -> Expr:
        both = native_multi_head_attention(ctx, y, y, y, width, heads, *projection, *options)
        return cast("tuple[Expr, None]", both)[0]

    def network(y: Expr) -> Expr:
        hidden = _projected(ctx, y, ffn_weight_1, ffn_bias_1)
        hidden = tensor_call(ctx, "gelu", hidden, "none") if use_gelu else relay.nn.relu(hidden)
        return _projected(ctx, hidden, ffn_weight_2, ffn_bias_2)

    def norm(y: Expr, weight: Expr, bias: Expr) -> Expr:
        return relay.nn.layer_norm(y, weight, bias, axis=-1, epsilon=eps)

    if norm_first:
        x = relay.add(x, attention(norm(x, norm_weight_1, norm_bias_1)))
        return relay.add(x, network(norm(x, norm_weight_2, norm_bias_2)))
    x = norm(relay.add(x, attention(x)), norm_weight_1, norm_bias_1)
    return norm(relay.add(x, network(x)), norm_weight_2, norm_bias_2)
