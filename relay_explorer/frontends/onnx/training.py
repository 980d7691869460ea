"""Convert one step of ONNX's optimizers: Adagrad, Adam and Momentum.

Each takes a learning rate, the number of steps so far, and then for every parameter its value, its gradient
and the optimizer's state; it returns the new parameters and the new states.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.errors import ModelFileError
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, converter
from .tools import operands, text

TRAINING = "ai.onnx.preview.training"


def _groups(node: Node, inputs: Inputs, each: int) -> tuple[Expr, Expr, list[list[Expr]]]:
    """Return the rate, the number of steps, and the operands of every parameter."""
    count, rest = divmod(len(inputs) - 2, each)
    if count < 1 or rest:
        raise ModelFileError(
            f"{node.op} requires 2 operands and {each} for each parameter, but has {len(inputs)}"
        )
    rate, steps, *others = operands(node, inputs, len(inputs))
    return rate, steps, [others[i::count] for i in range(count)]


def _number(g: Graph, value: float, like: Expr) -> Expr:
    return const(value, g.context.dtype(like))


def _scaled(g: Graph, x: Expr, factor: float) -> Expr:
    return relay.multiply(x, _number(g, factor, x))


@converter("Adagrad", domain=TRAINING)
def _adagrad(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    rate, steps, groups = _groups(node, inputs, 3)
    decay, norm = g.attr(node, "decay_factor", 0.0), g.attr(node, "norm_coefficient", 0.0)
    elapsed = relay.cast(steps, g.context.dtype(rate))
    rate = relay.divide(rate, relay.add(_number(g, 1.0, rate), _scaled(g, elapsed, decay)))
    new: list[Expr] = []
    states: list[Expr] = []
    for x, gradient, state in groups:
        slope = relay.add(_scaled(g, x, norm), gradient)
        state = relay.add(state, relay.multiply(slope, slope))
        divisor = relay.add(relay.sqrt(state), _number(g, g.attr(node, "epsilon", 1e-6), x))
        new.append(relay.subtract(x, relay.divide(relay.multiply(rate, slope), divisor)))
        states.append(state)
    return [*new, *states]


@converter("Adam", domain=TRAINING)
def _adam(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    rate, steps, groups = _groups(node, inputs, 4)
    alpha, beta = g.attr(node, "alpha", 0.9), g.attr(node, "beta", 0.999)
    norm, after = g.attr(node, "norm_coefficient", 0.0), g.attr(node, "norm_coefficient_post", 0.0)
    new: list[Expr] = []
    first: list[Expr] = []
    second: list[Expr] = []
    for x, gradient, mean, square in groups:
        one = _number(g, 1.0, x)
        slope = relay.add(_scaled(g, x, norm), gradient)
        mean = relay.add(_scaled(g, mean, alpha), _scaled(g, slope, 1 - alpha))
        square = relay.add(_scaled(g, square, beta), _scaled(g, relay.multiply(slope, slope), 1 - beta))
        elapsed = relay.cast(steps, g.context.dtype(x))
        of_square = relay.sqrt(relay.subtract(one, relay.power(_number(g, beta, x), elapsed)))
        of_mean = relay.subtract(one, relay.power(_number(g, alpha, x), elapsed))
        corrected = relay.divide(relay.multiply(rate, of_square), of_mean)
        step = relay.where(relay.greater(steps, const(0, "int64")), corrected, rate)
        divisor = relay.add(relay.sqrt(square), _number(g, g.attr(node, "epsilon", 1e-6), x))
        moved = relay.subtract(x, relay.divide(relay.multiply(step, mean), divisor))
        new.append(_scaled(g, moved, 1 - after))
        first.append(mean)
        second.append(square)
    return [*new, *first, *second]


@converter("Momentum", domain=TRAINING)
def _momentum(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    rate, steps, groups = _groups(node, inputs, 3)
    alpha, beta = g.required(node, "alpha"), g.required(node, "beta")
    norm, mode = g.required(node, "norm_coefficient"), text(g.required(node, "mode"))
    if mode not in ("standard", "nesterov"):
        raise RelayError(f"the mode {mode!r} of Momentum is not defined by ONNX")
    new: list[Expr] = []
    states: list[Expr] = []
    for x, gradient, state in groups:
        slope = relay.add(_scaled(g, x, norm), gradient)
        one = _number(g, 1.0, x)
        later = relay.greater(steps, const(0, "int64"))
        share = relay.where(later, _number(g, beta, x), one)  # the first gradient counts in full
        state = relay.add(_scaled(g, state, alpha), relay.multiply(share, slope))
        step = relay.add(slope, _scaled(g, state, alpha)) if mode == "nesterov" else state
        new.append(relay.subtract(x, relay.multiply(rate, step)))
        states.append(state)
    return [*new, *states]
