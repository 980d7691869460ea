"""Convert ONNX's normalizations of images."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, converter
from .tools import number, operand, operands

_EPSILON = 1e-5


@converter("BatchNormalization")
def _batch_normalization(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    x, scale, bias, mean, variance = operands(node, inputs, 5)
    epsilon = g.attr(node, "epsilon", _EPSILON)
    if g.opset >= 14 and g.attr(node, "training_mode", 0):
        return _trained(g, node, x, scale, bias, mean, variance)
    if g.opset < 9 and not g.attr(node, "spatial", 1):
        raise RelayError("BatchNormalization with spatial=0, one mean for each element, cannot be imported")
    if len([name for name in node.outputs if name]) > 1:
        raise RelayError(
            "BatchNormalization in training mode of an opset before 14 cannot be imported",
            help=["export the model in evaluation mode (model.eval())"],
        )
    dtype = g.context.dtype(x)
    parameters = [
        p if g.context.dtype(p) == dtype else relay.cast(p, dtype) for p in (scale, bias, mean, variance)
    ]
    gamma, beta, moving_mean, moving_variance = parameters
    y = relay.nn.batch_norm(x, gamma, beta, moving_mean, moving_variance, axis=1, epsilon=epsilon)
    return [y[0]]


def _trained(
    g: Graph, node: Node, x: Expr, scale: Expr, bias: Expr, mean: Expr, variance: Expr
) -> Sequence[Expr]:
    """Normalize by the batch's own mean and variance, and return the running ones too."""
    momentum = g.attr(node, "momentum", 0.9)
    axes = [axis for axis in range(g.context.rank(x)) if axis != 1]
    own_mean = relay.mean(x, axes)
    own_variance = relay.variance(x, axes)
    y = relay.nn.batch_norm(
        x, scale, bias, own_mean, own_variance, axis=1, epsilon=g.attr(node, "epsilon", _EPSILON)
    )[0]

    def running(old: Expr, new: Expr) -> Expr:
        previous = relay.multiply(old, number(g, momentum, old))
        return relay.add(previous, relay.multiply(new, number(g, 1 - momentum, old)))

    return [y, running(mean, own_mean), running(variance, own_variance)]


@converter("InstanceNormalization")
def _instance_normalization(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, scale, bias = operands(node, inputs, 3)
    return relay.nn.instance_norm(x, scale, bias, axis=1, epsilon=g.attr(node, "epsilon", _EPSILON))


@converter("LRN")
def _lrn(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, size = operand(node, inputs), g.required(node, "size")
    if size % 2 == 0:
        return _even_lrn(g, node, x, size)
    return relay.nn.lrn(
        x, size, axis=1, bias=g.attr(node, "bias", 1.0), alpha=g.attr(node, "alpha", 0.0001),
        beta=g.attr(node, "beta", 0.75),
    )  # fmt: skip


def _even_lrn(g: Graph, node: Node, x: Expr, size: int) -> Expr:
    """Normalize by an even number of channels: (size - 1) // 2 before each one, and the rest after it."""
    before = (size - 1) // 2
    width = [(0, 0)] * g.context.rank(x)
    width[1] = (before, size - 1 - before)
    zero = number(g, 0, x)
    squares = relay.nn.pad(relay.multiply(x, x), width, zero)
    channels = g.context.shape(x)[1]
    if not isinstance(channels, int):
        raise DynamicShapeError(
            "LRN of an even size requires that the number of channels is known at compile time"
        )
    total = relay.strided_slice(squares, [0], [channels], [1], axes=[1])
    for offset in range(1, size):
        total = relay.add(total, relay.strided_slice(squares, [offset], [offset + channels], [1], axes=[1]))
    alpha, bias = number(g, g.attr(node, "alpha", 0.0001) / size, x), number(g, g.attr(node, "bias", 1.0), x)
    scaled = relay.add(bias, relay.multiply(alpha, total))
    return relay.divide(x, relay.power(scaled, number(g, g.attr(node, "beta", 0.75), x)))
