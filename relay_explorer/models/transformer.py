"""A transformer encoder, normalization after each sublayer."""

from __future__ import annotations

import math

from .. import relay
from ..ir.expr import Expr
from ..ir.module import IRModule
from .layers import Builder


def encoder(
    layers: int = 12, tokens: int = 128, width: int = 768, heads: int = 12, hidden: int = 3072
) -> IRModule:
    """Build an encoder from x (tokens, width), one sequence of embedded tokens, to (tokens, width)."""
    b = Builder()
    x: Expr = b.input("x", (tokens, width))
    for index in range(1, layers + 1):
        name = f"layer{index}"
        attended = _attention(b, x, f"{name}_attention", tokens, width, heads)
        x = b.layer_norm(relay.add(x, attended), f"{name}_norm1", width)
        inner = _gelu(b.dense(x, f"{name}_ffn1", width, hidden))
        x = b.layer_norm(relay.add(x, b.dense(inner, f"{name}_ffn2", hidden, width)), f"{name}_norm2", width)
    return b.module(x)


def _attention(b: Builder, x: Expr, name: str, tokens: int, width: int, heads: int) -> Expr:
    """Add multi-head self-attention. Heads are the batch axis of the batched products."""
    size = width // heads

    def split(data: Expr) -> Expr:
        """Split (tokens, width) into (heads, tokens, size)."""
        return relay.transpose(relay.reshape(data, (tokens, heads, size)), axes=(1, 0, 2))

    query, key, value = (
        split(b.dense(x, f"{name}_{part}", width, width)) for part in ("query", "key", "value")
    )
    scores = relay.multiply(relay.nn.batch_matmul(query, key), relay.const(1 / math.sqrt(size)))
    # batch_matmul transposes its second argument, so the values are transposed first.
    mixed = relay.nn.batch_matmul(relay.nn.softmax(scores, axis=-1), relay.transpose(value, axes=(0, 2, 1)))
    joined = relay.reshape(relay.transpose(mixed, axes=(1, 0, 2)), (tokens, width))
    return b.dense(joined, f"{name}_output", width, width)


def _gelu(x: Expr) -> Expr:
    """Compute x Φ(x), with Φ expressed by the error function."""
    half = relay.multiply(x, relay.const(0.5))
    return relay.multiply(
        half, relay.add(relay.const(1.0), relay.erf(relay.multiply(x, relay.const(math.sqrt(0.5)))))
    )
