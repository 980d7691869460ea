"""Convert ONNX's activation functions and the softmax family."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, const
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError, ModelFileError
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, OnnxConverter, converter
from .tools import normal_axis, number, operand, operands, text

_SELU = (1.67326319217681884765625, 1.05070102214813232421875)  # the standard's alpha and gamma


@converter("Relu")
def _relu(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return relay.nn.relu(operand(node, inputs))


@converter("LeakyRelu")
def _leaky_relu(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return relay.nn.leaky_relu(operand(node, inputs), float(g.attr(node, "alpha", 0.01)))


@converter("PRelu")
def _prelu(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, slope = operands(node, inputs, 2)
    if g.opset < 7 and g.context.rank(slope) == 1:  # one slope for each channel
        rank = g.context.rank(x)
        slope = relay.expand_dims(slope, 1, rank - 2) if rank > 2 else slope
    zero = number(g, 0, x)
    return relay.where(relay.less(x, zero), relay.multiply(x, slope), x)


@converter("Elu")
def _elu(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return _elu_of(g, operand(node, inputs), g.attr(node, "alpha", 1.0))


def _elu_of(g: Graph, x: Expr, alpha: float) -> Expr:
    """Return `x` where it is positive, else `alpha * (exp(x) - 1)`."""
    zero, one = number(g, 0, x), number(g, 1, x)
    below = relay.multiply(number(g, alpha, x), relay.subtract(relay.exp(relay.minimum(x, zero)), one))
    return relay.where(relay.greater(x, zero), x, below)


@converter("Selu")
def _selu(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    gamma = number(g, g.attr(node, "gamma", _SELU[1]), x)
    return relay.multiply(gamma, _elu_of(g, x, g.attr(node, "alpha", _SELU[0])))


@converter("Celu")
def _celu(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, alpha = operand(node, inputs), g.attr(node, "alpha", 1.0)
    zero, one, a = number(g, 0, x), number(g, 1, x), number(g, alpha, x)
    below = relay.multiply(a, relay.subtract(relay.exp(relay.divide(relay.minimum(x, zero), a)), one))
    return relay.add(relay.maximum(x, zero), relay.minimum(zero, below) if alpha > 0 else below)


@converter("ThresholdedRelu")
def _thresholded_relu(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    return relay.where(relay.greater(x, number(g, g.attr(node, "alpha", 1.0), x)), x, number(g, 0, x))


@converter("HardSigmoid")
def _hard_sigmoid(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    return hard_sigmoid(g, x, g.attr(node, "alpha", 0.2), g.attr(node, "beta", 0.5))


def hard_sigmoid(g: Graph, x: Expr, alpha: float, beta: float) -> Expr:
    """Return `alpha * x + beta`, limited to the range from 0 to 1."""
    return relay.clip(relay.add(relay.multiply(x, number(g, alpha, x)), number(g, beta, x)), 0.0, 1.0)


@converter("HardSwish")
def _hard_swish(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    return relay.multiply(x, hard_sigmoid(g, x, 1 / 6, 0.5))


@converter("Softplus")
def _softplus(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return softplus(g, operand(node, inputs))


def softplus(g: Graph, x: Expr) -> Expr:
    """Return log(1 + exp(x)) in a form that does not overflow."""
    tail = relay.log(relay.add(number(g, 1, x), relay.exp(relay.negative(relay.abs(x)))))
    return relay.add(relay.maximum(x, number(g, 0, x)), tail)


@converter("Mish")
def _mish(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    return relay.multiply(x, relay.tanh(softplus(g, x)))


@converter("Softsign")
def _softsign(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    return relay.divide(x, relay.add(number(g, 1, x), relay.abs(x)))


@converter("Shrink")
def _shrink(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    lambd, bias, zero = (
        number(g, g.attr(node, "lambd", 0.5), x),
        number(g, g.attr(node, "bias", 0.0), x),
        number(g, 0, x),
    )
    above = relay.where(relay.greater(x, lambd), relay.subtract(x, bias), zero)
    return relay.where(relay.less(x, relay.negative(lambd)), relay.add(x, bias), above)


@converter("Gelu")
def _gelu(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    approximate = text(g.attr(node, "approximate"), "none")
    if approximate not in ("none", "tanh"):
        raise RelayError(f"approximate must be 'none' or 'tanh', not {approximate!r}")
    return gelu(g, x, approximate == "tanh")


def gelu(g: Graph, x: Expr, approximate: bool = False) -> Expr:
    """Return x times the normal distribution's function of x, exact or by a hyperbolic tangent."""
    half, one = number(g, 0.5, x), number(g, 1, x)
    if approximate:
        cube = relay.multiply(relay.multiply(x, x), x)
        inner = relay.add(x, relay.multiply(number(g, 0.044715, x), cube))
        share = relay.tanh(relay.multiply(number(g, 0.7978845608028654, x), inner))
    else:
        share = relay.erf(relay.multiply(x, number(g, 0.7071067811865476, x)))
    return relay.multiply(relay.multiply(half, x), relay.add(one, share))


def _normalizer(build: Callable[[Graph, Expr, int], Call], since: int) -> OnnxConverter:
    """Return the converter of an operator of the softmax family. Before opset 13, it treats all axes from
    `axis` on as one.
    """

    def convert(g: Graph, node: Node, inputs: list[Expr | None]) -> Expr:
        x = operand(node, inputs)
        rank = g.context.rank(x)
        axis = normal_axis(g.attr(node, "axis", -1 if since >= 13 else 1), rank)
        if rank == 0:
            return relay.reshape(build(g, relay.reshape(x, (1,)), 0), ())
        if since >= 13 or axis == rank - 1:
            return build(g, x, axis)
        shape = g.context.shape(x)
        if all(dim == 1 for dim in shape[axis + 1 :]):
            return build(g, x, axis)
        flat = relay.reshape(x, [*[0] * axis, -1])
        numbers = [dim for dim in shape if isinstance(dim, int)]
        result = build(g, flat, axis)
        return relay.reshape(result, numbers) if len(numbers) == rank else relay.reshape_like(result, x)

    return convert


def _softmax(g: Graph, x: Expr, axis: int) -> Call:
    return relay.nn.softmax(x, axis)


def _log_softmax(g: Graph, x: Expr, axis: int) -> Call:
    return relay.nn.log_softmax(x, axis)


def _hardmax(g: Graph, x: Expr, axis: int) -> Call:
    """Return 1 at the first largest element along an axis, 0 elsewhere."""
    extent, dtype = g.context.shape(x)[axis], g.context.dtype(x)
    if not isinstance(extent, int):
        raise DynamicShapeError("Hardmax requires that the extent of its axis is known at compile time")
    return relay.one_hot(relay.argmax(x, axis), const(1, dtype), const(0, dtype), extent, axis, dtype)


for _since in (1, 13):
    converter("Softmax", since=_since)(_normalizer(_softmax, _since))
    converter("LogSoftmax", since=_since)(_normalizer(_log_softmax, _since))
    converter("Hardmax", since=_since)(_normalizer(_hardmax, _since))


@converter("LpNormalization")
def _lp_normalization(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    axis, p = normal_axis(g.attr(node, "axis", -1), g.context.rank(x)), g.attr(node, "p", 2)
    if p == 1:
        norm = relay.sum(relay.abs(x), axis, keepdims=True)
    elif p == 2:
        norm = relay.sqrt(relay.sum(relay.multiply(x, x), axis, keepdims=True))
    else:
        raise ModelFileError(f"LpNormalization has p={p}; it must be 1 or 2")
    zero = number(g, 0, x)
    return relay.where(relay.equal(norm, zero), relay.zeros_like(x), relay.divide(x, norm))
