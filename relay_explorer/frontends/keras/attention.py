"""Converters of attention layers."""

from __future__ import annotations

import math
from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from ..base.products import matmul
from .call import Call, Results, Value, layer
from .core import einsum_dense


def _expr(call: Call, value: Any) -> Expr | None:
    """Return the expression of a mask that is passed to a call."""
    if value is None:
        return None
    if isinstance(value, Value):
        return call.last(value)
    import numpy as np

    return const(np.asarray(value))


def _causal(call: Call, scores: Expr) -> Expr:
    """Return a mask by which step i sees the steps up to i."""
    queries, keys = call.context.shape(scores)[-2:]
    if not isinstance(queries, int) or not isinstance(keys, int):
        raise DynamicShapeError(
            "causal attention requires that the lengths of the sequences are known at compile time"
        )
    rows = relay.reshape(relay.arange(0, queries, dtype="int32"), (queries, 1))
    return relay.greater_equal(rows, relay.reshape(relay.arange(0, keys, dtype="int32"), (1, keys)))


def _and(masks: list[Expr]) -> Expr | None:
    result: Expr | None = None
    for mask in masks:
        result = mask if result is None else relay.logical_and(result, mask)
    return result


@layer("Attention", "AdditiveAttention", uses_mask=True)
def _attention(call: Call) -> Results:
    """Attend from queries to values: operands are [query, value] or [query, value, key]."""
    query, value = call[0], call[1]
    argument_value = call.arguments.get("inputs")
    count = len(argument_value) if isinstance(argument_value, (list, tuple)) else len(call)
    key = call[2] if count > 2 else value
    scores = _scores(call, query, key)
    passed = call.argument("mask")
    masks = list(passed) if isinstance(passed, (list, tuple)) else [call.value(0).mask, call.value(1).mask]
    query_mask, value_mask = (
        _expr(call, mask) if not isinstance(mask, Expr) else mask for mask in [*masks, None][:2]
    )
    terms: list[Expr] = []
    if value_mask is not None:
        terms.append(relay.expand_dims(relay.cast(value_mask, "bool"), 1))
    if call.argument("use_causal_mask", False):
        terms.append(_causal(call, scores))
    mask = _and(terms)
    if mask is not None:
        low = 65504.0 if call.dtype == "float16" else 1.0e9
        scores = relay.where(mask, scores, relay.subtract(scores, call.number(low)))
    weights = relay.nn.softmax(scores, -1)
    result: Expr = matmul(call.context, weights, value)
    if query_mask is not None:
        result = relay.where(relay.expand_dims(relay.cast(query_mask, "bool"), 2), result, call.number(0.0))
    output = Value(result, mask=query_mask)
    return [output, weights] if call.argument("return_attention_scores", False) else output


def _scores(call: Call, query: Expr, key: Expr) -> Expr:
    scaled = call.attr("scale") is not None
    if call.kind == "Attention" and call.attr("score_mode", "dot") == "dot":
        scores = matmul(call.context, query, key, transpose_b=True)
        return relay.multiply(scores, call.weight("scale")) if scaled else scores
    total = relay.add(relay.expand_dims(query, 2), relay.expand_dims(key, 1))
    if call.kind == "AdditiveAttention":
        bend = relay.tanh(total)
        return relay.sum(relay.multiply(call.weight("scale"), bend) if scaled else bend, [-1])
    bend = relay.tanh(relay.multiply(call.weight("scale"), total) if scaled else total)
    return relay.multiply(call.weight("concat_score_weight"), relay.sum(bend, [-1]))


def _check_options(call: Call) -> None:
    for option in ("use_gate", "_use_gate", "sliding_window", "_sliding_window"):
        if call.attr(option):
            raise RelayError(f"{call.kind} with {option.strip('_')} cannot be imported")


def _operands(call: Call) -> tuple[Value, Value, Value]:
    arguments = call.arguments
    query, value = arguments.get("query"), arguments.get("value")
    if not isinstance(query, Value) or not isinstance(value, Value):
        raise RelayError(f"{call.kind} must be called with the tensors query and value")
    key = arguments.get("key")
    return query, value, key if isinstance(key, Value) else value


def _mask(call: Call, query: Value, value: Value, key: Value, scores: Expr) -> Expr | None:
    """Return the mask of the scores (batch, queries, keys): all masks that are given or that values carry."""
    terms: list[Expr] = []
    arguments = call.arguments
    of_query = _given_or(call, "query_mask", query.mask)
    of_value = _given_or(call, "value_mask", value.mask)
    of_key = _given_or(call, "key_mask", key.mask if key is not value else None)
    if of_query is not None:
        terms.append(relay.expand_dims(relay.cast(of_query, "bool"), 2))
    terms += [
        relay.expand_dims(relay.cast(mask, "bool"), 1) for mask in (of_value, of_key) if mask is not None
    ]
    if arguments.get("use_causal_mask"):
        terms.append(_causal(call, scores))
    argument_value = _expr(call, arguments.get("attention_mask"))
    if argument_value is not None:
        terms.append(relay.cast(argument_value, "bool"))
    return _and(terms)


def _given_or(call: Call, name: str, carried: Expr | None) -> Expr | None:
    argument_value = _expr(call, call.arguments.get(name))
    return carried if argument_value is None else argument_value


def _attended(call: Call, scores: Expr, mask: Expr | None) -> Expr:
    """Return the softmax of scores (batch, heads, queries, keys) with a mask."""
    if mask is not None:
        if call.context.rank(mask) == 3:
            mask = relay.expand_dims(mask, 1)
        low = -3.0e4 if call.dtype == "float16" else -1.0e9
        off = relay.subtract(call.number(1.0), relay.cast(mask, call.dtype))
        scores = relay.add(scores, relay.multiply(off, call.number(low)))
    return relay.nn.softmax(scores, -1)


def _part(call: Call, *names: str) -> Any:
    for name in names:
        part = call.attr(name)
        if part is not None:
            return part
    raise RelayError(
        f"the layer `{call.layer.name}` has no weights yet",
        help=["build the model: call it once, or call model.build(shape)"],
    )


def _heads_first(x: Expr) -> Expr:
    return relay.transpose(x, (0, 2, 1, 3))


@layer("MultiHeadAttention", "GroupQueryAttention", "GroupedQueryAttention", uses_mask=True)
def _multi_head_attention(call: Call) -> Results:
    _check_options(call)
    query, value, key = _operands(call)
    axes = call.attr("_attention_axes") or call.attr("attention_axes")
    if call.context.rank(query.expr) != 3 or (axes is not None and tuple(axes) != (1,)):
        raise RelayError(
            f"{call.kind} can be imported only for a query with 3 axes and attention_axes=1; its query has "
            f"type {call.context.type(query.expr)}"
        )
    q, k, v = (
        _heads_first(einsum_dense(call, _part(call, f"_{name}_dense"), call.cast(call.last(argument_value))))
        for name, argument_value in (("query", query), ("key", key), ("value", value))
    )
    q = relay.multiply(q, call.number(1.0 / math.sqrt(_size(call))))
    heads, groups = call.context.shape(q)[1], call.context.shape(k)[1]
    if isinstance(heads, int) and isinstance(groups, int) and heads != groups:
        k, v = relay.repeat(k, heads // groups, 1), relay.repeat(v, heads // groups, 1)
    scores = matmul(call.context, q, k, transpose_b=True)
    weights = _attended(call, scores, _mask(call, query, value, key, scores))
    mixed = _heads_first(matmul(call.context, weights, v))
    output = Value(einsum_dense(call, _part(call, "_output_dense"), mixed), mask=query.mask)
    return [output, weights] if call.argument("return_attention_scores", False) else output


def _size(call: Call) -> int:
    """Return the number of features of one head's keys."""
    for name in ("key_dim", "_key_dim", "head_dim"):
        size = call.attr(name)
        if size is not None:
            return int(size)
    raise RelayError(f"{call.kind} does not say how many features a head has")
