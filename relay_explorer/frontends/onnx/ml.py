"""Convert operators of the domain `ai.onnx.ml` that are plain arithmetic on tensors."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.source import Node
from .graph import Graph
from .registry import ML, Inputs, converter
from .tools import as_int64, operand, operands, text


@converter("ArrayFeatureExtractor", domain=ML)
def _array_feature_extractor(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, indices = operands(node, inputs, 2)
    rank = g.context.rank(x)
    picked = relay.take(x, relay.reshape(as_int64(g, indices), [-1]), axis=rank - 1)
    return relay.expand_dims(picked, 0) if rank == 1 else picked


@converter("Binarizer", domain=ML)
def _binarizer(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    dtype = g.context.dtype(x)
    return relay.cast(relay.greater(x, const(g.attr(node, "threshold", 0.0), dtype)), dtype)


@converter("Scaler", domain=ML)
def _scaler(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = relay.cast(operand(node, inputs), "float32")
    offset, scale = list(g.attr(node, "offset", [])) or [0.0], list(g.attr(node, "scale", [])) or [1.0]
    return relay.multiply(relay.subtract(x, const(offset, "float32")), const(scale, "float32"))


@converter("LinearRegressor", domain=ML)
def _linear_regressor(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = relay.cast(operand(node, inputs), "float32")
    targets = g.attr(node, "targets", 1)
    transform = text(g.attr(node, "post_transform"), "NONE")
    coefficients = list(g.attr(node, "coefficients", []))
    if transform != "NONE":
        raise RelayError(f"LinearRegressor with post_transform={transform} cannot be imported")
    if targets < 1 or len(coefficients) % targets:
        raise RelayError(
            f"the {len(coefficients)} coefficients of LinearRegressor cannot be divided among {targets} "
            "targets"
        )
    weights = const(coefficients, "float32")
    result = relay.nn.dense(x, relay.reshape(weights, [targets, len(coefficients) // targets]))
    intercepts = list(g.attr(node, "intercepts", []))
    return relay.add(result, const(intercepts, "float32")) if intercepts else result
