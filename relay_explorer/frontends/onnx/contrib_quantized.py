"""Convert ONNX Runtime's quantized operators (the domain `com.microsoft`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.source import Node
from .graph import Graph
from .matrix import matmul
from .quantized import (
    Factor,
    aligned,
    by_operator,
    dequantize,
    dequantize_linear,
    dynamically_quantized,
    product,
    quantize,
    quantize_linear,
    requantized,
)
from .registry import MICROSOFT, Inputs, converter, find
from .tools import normal_axis, operand, operands, optional

converter("QuantizeLinear", domain=MICROSOFT)(quantize_linear)
converter("DequantizeLinear", domain=MICROSOFT)(dequantize_linear)


def _real(g: Graph, x: Expr, scale: Expr, zero: Expr | None, axis: int = 1) -> Expr:
    return dequantize(g, x, scale, zero, "float32", axis)


def _binary(combine: Callable[[Expr, Expr], Expr], g: Graph, node: Node, inputs: Inputs) -> Expr:
    """Combine two quantized tensors as real numbers, and quantize the result."""
    a, b = inputs[0], inputs[3]
    if a is None or b is None or inputs[1] is None or inputs[4] is None or inputs[6] is None:
        raise RelayError(f"{node.op} requires two tensors and three scales")
    result = combine(_real(g, a, inputs[1], inputs[2]), _real(g, b, inputs[4], inputs[5]))
    return quantize(g, result, inputs[6], optional(inputs, 7), g.context.dtype(a))


@converter("QLinearAdd", domain=MICROSOFT)
def _qlinear_add(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return _binary(relay.add, g, node, inputs)


@converter("QLinearMul", domain=MICROSOFT)
def _qlinear_mul(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return _binary(relay.multiply, g, node, inputs)


def _unary(compute: Callable[[Expr], Expr], g: Graph, node: Node, inputs: Inputs) -> Expr:
    """Apply a function to a quantized tensor as real numbers, and quantize the result."""
    x, scale, y_scale = inputs[0], inputs[1], inputs[3]
    if x is None or scale is None or y_scale is None:
        raise RelayError(f"{node.op} requires a tensor and two scales")
    result = compute(_real(g, x, scale, inputs[2]))
    return quantize(g, result, y_scale, optional(inputs, 4), g.context.dtype(x))


@converter("QLinearSigmoid", domain=MICROSOFT)
def _qlinear_sigmoid(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return _unary(relay.sigmoid, g, node, inputs)


@converter("QLinearLeakyRelu", domain=MICROSOFT)
def _qlinear_leaky_relu(g: Graph, node: Node, inputs: Inputs) -> Expr:
    alpha = g.attr(node, "alpha", 0.01)
    return _unary(lambda x: relay.nn.leaky_relu(x, alpha), g, node, inputs)


@converter("QLinearSoftmax", domain=MICROSOFT)
def _qlinear_softmax(g: Graph, node: Node, inputs: Inputs) -> Expr:
    opset = g.attr(node, "opset", 0)
    return _unary(lambda x: by_operator("Softmax", g, node, [x], opset), g, node, inputs)


@converter("QLinearAveragePool", domain=MICROSOFT)
def _qlinear_average_pool(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return _unary(lambda x: _pooled("AveragePool", g, node, x), g, node, inputs)


@converter("QLinearGlobalAveragePool", domain=MICROSOFT)
def _qlinear_global_average_pool(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return _unary(lambda x: _pooled("GlobalAveragePool", g, node, x), g, node, inputs)


def _pooled(operator: str, g: Graph, node: Node, x: Expr) -> Expr:
    if not g.attr(node, "channels_last", 0):
        return by_operator(operator, g, node, [x])
    return _channels_last(operator, g, node, [x])


def _channels_last(operator: str, g: Graph, node: Node, inputs: Inputs) -> Expr:
    """Convert a node of an operator of the standard, except that the channels of its data come last."""
    x = operand(node, inputs)
    rank = g.context.rank(x)
    moved = relay.transpose(x, [0, rank - 1, *range(1, rank - 1)])
    result = by_operator(operator, g, node, [moved, *inputs[1:]])
    return relay.transpose(result, [0, *range(2, rank), 1])


@converter("QLinearConv", domain=MICROSOFT)
def _qlinear_conv(g: Graph, node: Node, inputs: Inputs) -> Expr:
    if g.attr(node, "channels_last", 0):
        return _channels_last("QLinearConv", g, node, inputs)
    return by_operator("QLinearConv", g, node, inputs)


@converter("NhwcMaxPool", domain=MICROSOFT)
def _nhwc_max_pool(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return _channels_last("MaxPool", g, node, inputs)


@converter("QLinearWhere", domain=MICROSOFT)
def _qlinear_where(g: Graph, node: Node, inputs: Inputs) -> Expr:
    condition, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = operands(node, inputs, 9)
    dtype = g.context.dtype(a)
    parts = [
        quantize(g, _real(g, *part), y_scale, y_zero, dtype)
        for part in ((a, a_scale, a_zero), (b, b_scale, b_zero))
    ]
    return relay.where(condition, *parts)


@converter("QEmbedLayerNormalization", domain=MICROSOFT)
def _qembed_layer_normalization(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    """Convert as `EmbedLayerNormalization` with the real numbers that the tables stand for."""
    arguments = [*inputs, *[None] * (18 - len(inputs))]
    tables: list[Expr | None] = []
    for place in range(5):
        table, scale, zero = arguments[2 + place], arguments[8 + place], arguments[13 + place]
        tables.append(None if table is None or scale is None else _real(g, table, scale, zero))
    form = find(MICROSOFT, "EmbedLayerNormalization", 1)
    assert form is not None, "EmbedLayerNormalization has a converter"
    results = form(g, node, [*arguments[:2], *tables, arguments[7]])
    assert isinstance(results, list)
    return results[:2]


@converter("QLinearConcat", domain=MICROSOFT)
def _qlinear_concat(g: Graph, node: Node, inputs: Inputs) -> Expr:
    y_scale, y_zero, *others = operands(node, inputs, len(inputs))
    parts = [_real(g, *triple) for triple in zip(others[::3], others[1::3], others[2::3])]
    axis = normal_axis(g.required(node, "axis"), g.context.rank(parts[0]))
    return quantize(g, relay.concatenate(parts, axis), y_scale, y_zero, g.context.dtype(y_zero))


@converter("QGemm", domain=MICROSOFT)
def _qgemm(g: Graph, node: Node, inputs: Inputs) -> Expr:
    """Multiply in int32; without a scale of the result, it is a real number."""
    a, a_scale, a_zero, b, b_scale, b_zero = operands(node, inputs, 6)
    bias, y_scale, y_zero = [optional(inputs, i) for i in range(6, 9)]
    left = relay.transpose(a, [1, 0]) if g.attr(node, "transA", 0) else a
    right = relay.transpose(b, [1, 0]) if g.attr(node, "transB", 0) else b
    total = product(g, Factor(left, a_scale, a_zero), Factor(right, b_scale, b_zero))
    if bias is not None:
        total = relay.add(total, bias)
    alpha = g.attr(node, "alpha", 1.0)
    scale = relay.multiply(aligned(g, a_scale, total, 1), aligned(g, b_scale, total, 1))
    if alpha != 1.0:
        scale = relay.multiply(scale, const(alpha, "float32"))
    if y_scale is not None:
        return requantized(g, total, scale, y_scale, const(0, "uint8") if y_zero is None else y_zero, -1)
    return relay.multiply(relay.cast(total, "float32"), scale)


@converter("MatMulIntegerToFloat", domain=MICROSOFT)
def _matmul_integer_to_float(g: Graph, node: Node, inputs: Inputs) -> Expr:
    a, b, a_scale, b_scale = operands(node, inputs, 4)
    a_zero, b_zero, bias = [optional(inputs, i) for i in range(4, 7)]
    return _scaled_product(g, node, [a, b, a_zero, b_zero], a_scale, b_scale, bias)


@converter("DynamicQuantizeMatMul", domain=MICROSOFT)
def _dynamic_quantize_matmul(g: Graph, node: Node, inputs: Inputs) -> Expr:
    a, b, b_scale = operands(node, inputs, 3)
    b_zero, bias = optional(inputs, 3), optional(inputs, 4)
    rounded, scale, zero = dynamically_quantized(g, a)
    return _scaled_product(g, node, [rounded, b, zero, b_zero], scale, b_scale, bias)


def _scaled_product(
    g: Graph, node: Node, factors: list[Expr | None], a_scale: Expr, b_scale: Expr, bias: Expr | None
) -> Expr:
    """Multiply integers, and scale the sums."""
    total = by_operator("MatMulInteger", g, node, factors)
    scale = relay.multiply(a_scale, b_scale)
    result = relay.multiply(relay.cast(total, "float32"), scale)
    return result if bias is None else relay.add(result, bias)


@converter("QLinearReduceMean", domain=MICROSOFT)
def _qlinear_reduce_mean(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    axes, keep = g.attr(node, "axes", None), bool(g.attr(node, "keepdims", 1))
    rank = g.context.rank(x)
    over = [normal_axis(axis, rank) for axis in axes] if axes else None
    return _unary(lambda value: relay.mean(value, over, keepdims=keep), g, node, inputs)


@converter("MatMulInteger16", domain=MICROSOFT)
def _matmul_integer16(g: Graph, node: Node, inputs: Inputs) -> Expr:
    a, b = operands(node, inputs, 2)
    wide = "uint32" if g.context.dtype(a) == g.context.dtype(b) == "uint16" else "int32"
    return matmul(g, relay.cast(a, wide), relay.cast(b, wide), wide)
