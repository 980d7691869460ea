"""Convert ONNX Runtime's attention operators (the domain `com.microsoft`)."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from ..base.source import Node
from .graph import Graph
from .matrix import matmul
from .quantized import dequantize
from .registry import MICROSOFT, Inputs, converter
from .tools import extent_of, operands, optional

_FILTER = -10000.0


@converter("Attention", domain=MICROSOFT)
def _attention(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    x, weights = operands(node, inputs, 2)
    bias, mask, past, added = [optional(inputs, i) for i in range(2, 6)]
    if g.attr(node, "do_rotary", 0) or g.attr(node, "past_present_share_buffer", 0):
        raise RelayError("Attention with do_rotary=1 or past_present_share_buffer=1 cannot be imported")
    return _projected(g, node, x, weights, bias, mask, past, added)


@converter("QAttention", domain=MICROSOFT)
def _qattention(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    x, weights, bias, x_scale, w_scale = operands(node, inputs, 5)
    mask, x_zero, w_zero, past = [optional(inputs, i) for i in range(5, 9)]
    x = dequantize(g, x, x_scale, x_zero, "float32")
    weights = dequantize(g, weights, w_scale, w_zero, "float32", axis=1)
    return _projected(g, node, x, weights, bias, mask, past, None)


def _projected(
    g: Graph,
    node: Node,
    x: Expr,
    weights: Expr,
    bias: Expr | None,
    mask: Expr | None,
    past: Expr | None,
    added: Expr | None,
) -> Sequence[Expr]:
    """Attend with queries, keys and values that one product computes from the input."""
    widths = list(g.attr(node, "qkv_hidden_sizes", []))
    total = g.context.static_shape(weights)[1]
    if not widths:
        widths = [total // 3] * 3
    if len(widths) != 3 or sum(widths) != total:
        raise RelayError(
            f"the weights of {node.op} have {total} columns, but the widths of queries, keys and values are "
            f"{widths}"
        )
    product = matmul(g, x, weights)
    if bias is not None:
        product = relay.add(product, bias)
    heads: int = g.required(node, "num_heads")
    parts = relay.split(product, [widths[0], widths[0] + widths[1]], axis=2)
    query, key, value = [_by_head(part, heads, width) for part, width in zip(parts, widths)]
    if past is not None:
        before = relay.split(past, 2, axis=0)
        key = relay.concatenate([relay.squeeze(before[0], [0]), key], 2)
        value = relay.concatenate([relay.squeeze(before[1], [0]), value], 2)
    result = attend(
        g, query, key, value, _mask(g, node, mask, key), added,
        g.attr(node, "scale", 0.0), widths[0] // heads,
        bool(g.attr(node, "unidirectional", 0)), g.attr(node, "mask_filter_value", _FILTER),
    )  # fmt: skip
    outputs: list[Expr] = [_joined(result, widths[2])]
    return [*outputs, relay.stack([key, value], 0)] if any(node.outputs[1:]) else outputs


@converter("MultiHeadAttention", domain=MICROSOFT)
def _multi_head_attention(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    (query,) = operands(node, inputs, 1)
    key, value, bias, mask, added, past_key, past_value = [optional(inputs, i) for i in range(1, 8)]
    heads: int = g.required(node, "num_heads")
    if key is None or value is None or any(g.context.rank(part) != 3 for part in (query, key, value)):
        raise RelayError("MultiHeadAttention can be imported only for queries, keys and values with 3 axes")
    parts = [query, key, value]
    widths = []
    for part in parts:
        width = g.context.shape(part)[2]
        if not isinstance(width, int):
            raise DynamicShapeError(
                "MultiHeadAttention requires that the hidden sizes are known at compile time"
            )
        widths.append(width)
    if bias is not None:
        cuts = relay.split(bias, [widths[0], widths[0] + widths[1]], axis=0)
        parts = [relay.add(part, cut) for part, cut in zip(parts, cuts)]
    query, key, value = [_by_head(part, heads, width) for part, width in zip(parts, widths)]
    if past_key is not None and past_value is not None:
        key, value = relay.concatenate([past_key, key], 2), relay.concatenate([past_value, value], 2)
    result = attend(
        g, query, key, value, _mask(g, node, mask, key), added,
        g.attr(node, "scale", 0.0), widths[0] // heads,
        bool(g.attr(node, "unidirectional", 0)), g.attr(node, "mask_filter_value", _FILTER),
    )  # fmt: skip
    return [_joined(result, widths[2]), key, value]


def _by_head(x: Expr, heads: int, width: int) -> Expr:
    """Rearrange (batch, positions, heads · features) to (batch, heads, positions, features)."""
    if width % heads:
        raise RelayError(f"{width} features cannot be divided among {heads} heads")
    return relay.transpose(relay.reshape(x, [0, 0, heads, width // heads]), [0, 2, 1, 3])


def _joined(x: Expr, width: int) -> Expr:
    """Rearrange (batch, heads, positions, features) to (batch, positions, heads · features)."""
    return relay.reshape(relay.transpose(x, [0, 2, 1, 3]), [0, 0, width])


def _mask(g: Graph, node: Node, mask: Expr | None, key: Expr) -> Expr | None:
    """Return which keys a query may see, in a shape that is broadcast to (batch, heads, queries, keys)."""
    if mask is None:
        return None
    shape = g.context.shape(mask)
    keep = relay.cast(mask, "int32")
    batch, length = g.context.shape(key)[0], extent_of(g, key, 2)
    if len(shape) == 1:
        if shape[0] != batch:
            raise RelayError(
                f"{node.op} with a mask of the sequences' start and end positions cannot be imported"
            )
        places = relay.cast(relay.arange(const(0, "int64"), length, const(1, "int64"), "int64"), "int32")
        return relay.expand_dims(relay.less(places, relay.expand_dims(keep, 1)), 1, 2)
    zero = const(0, "int32")
    if len(shape) == 2:
        return relay.expand_dims(relay.greater(keep, zero), 1, 2)
    if len(shape) == 3:
        return relay.expand_dims(relay.greater(keep, zero), 1)
    raise RelayError(f"{node.op} with a mask of {len(shape)} axes cannot be imported")


def attend(
    g: Graph,
    query: Expr,
    key: Expr,
    value: Expr,
    mask: Expr | None,
    added: Expr | None,
    scale: float,
    width: int,
    causal: bool,
    hidden: float,
) -> Expr:
    """Return softmax(query · keyᵀ · scale + masks) · value for tensors (batch, heads, positions, features).

    `hidden` is added to the scores of keys that a query may not see.
    """
    dtype = g.context.dtype(query)
    scores: Expr = matmul(g, query, relay.transpose(key, [0, 1, 3, 2]))
    scores = relay.multiply(scores, const(scale or width**-0.5, dtype))
    none, far = const(0.0, dtype), const(hidden, dtype)
    if causal:
        rows, columns = extent_of(g, query, 2), extent_of(g, key, 2)
        start, one = const(0, "int64"), const(1, "int64")
        first = relay.subtract(columns, rows)  # positions of the past
        at = relay.expand_dims(relay.add(relay.arange(start, rows, one, "int64"), first), 1)
        seen = relay.less_equal(relay.arange(start, columns, one, "int64"), at)
        scores = relay.where(
            seen, scores, const(-3.4028234663852886e38 if dtype != "float16" else -65504.0, dtype)
        )
    if mask is not None:
        scores = relay.add(scores, relay.where(mask, none, far))
    if added is not None:
        scores = relay.add(scores, added)
    return matmul(g, relay.nn.softmax(scores, -1), value)
