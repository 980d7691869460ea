"""The attention of GluonNLP's transformers, which keeps queries, keys and values in one tensor."""

from __future__ import annotations

import math

from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.context import Results
from .elementwise import number
from .registry import Operation, converts


def _heads(op: Operation, index: int, parts: int) -> list[Expr]:
    """Split (time, batch, heads × parts × features) into `parts` of (batch × heads, time, features)."""
    length, batch, width = op.static_shape(index)
    heads = op.attrs.int("heads")
    features = width // (heads * parts)
    x = relay.reshape(op[index], (length, batch, heads, parts, features))
    x = relay.reshape(relay.transpose(x, [3, 1, 2, 0, 4]), (parts, batch * heads, length, features))
    return (
        [relay.squeeze(part, [0]) for part in relay.split(x, parts, 0)]
        if parts > 1
        else [relay.squeeze(x, [0])]
    )


def _scores(op: Operation, queries: Expr, keys: Expr) -> Expr:
    features = op.context.static_shape(queries)[2]
    scaled = relay.multiply(queries, number(op, 1 / math.sqrt(features)))
    return relay.nn.batch_matmul(scaled, keys, transpose_b=True)


def _weighted(op: Operation, attention: Expr, values: Expr) -> Expr:
    """Return the sums of the values as (time, batch, heads × features)."""
    heads = op.attrs.int("heads")
    product = relay.nn.batch_matmul(attention, values, transpose_b=False)
    rows, length, features = op.context.static_shape(product)
    split = relay.reshape(product, (rows // heads, heads, length, features))
    return relay.reshape(relay.transpose(split, [2, 0, 1, 3]), (length, rows // heads, heads * features))


@converts("_contrib_interleaved_matmul_selfatt_qk")
def self_attention_scores(op: Operation) -> Results:
    queries, keys, _ = _heads(op, 0, 3)
    return _scores(op, queries, keys)


@converts("_contrib_interleaved_matmul_selfatt_valatt")
def self_attention_values(op: Operation) -> Results:
    return _weighted(op, op[1], _heads(op, 0, 3)[2])


@converts("_contrib_interleaved_matmul_encdec_qk")
def cross_attention_scores(op: Operation) -> Results:
    return _scores(op, _heads(op, 0, 1)[0], _heads(op, 1, 2)[0])


@converts("_contrib_interleaved_matmul_encdec_valatt")
def cross_attention_values(op: Operation) -> Results:
    return _weighted(op, op[1], _heads(op, 0, 2)[1])


@converts("_contrib_div_sqrt_dim")
def div_sqrt_dim(op: Operation) -> Results:
    return relay.divide(op[0], number(op, math.sqrt(op.extent(0, -1))))
