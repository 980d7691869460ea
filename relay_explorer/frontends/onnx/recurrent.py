"""Convert ONNX's recurrent layers: RNN, GRU and LSTM.

The products of the inputs with the weights do not depend on earlier steps, so that one matrix product
computes them for all steps. Short sequences are unrolled: the whole layer is then one program without control
flow, which every executor runs. Long ones, and those of dynamic length, become a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr, const
from ...ir.ndarray import NDArray
from ...ir.show import counted
from ...ops import namespaces as relay
from ..base.context import Context
from ..base.recurrence import Step, scan
from ..base.source import Node
from .graph import Graph
from .recurrent_activations import Activation, activations
from .registry import converter
from .tools import extent_of

Cell = Callable[[Expr, Sequence[Expr]], Sequence[Expr]]
"""A step: from the step's part of the input products, (batch, gates · hidden), and the states to the next."""


@converter("RNN")
def rnn(g: Graph, node: Node, inputs: list[Anything]) -> Sequence[Expr]:
    layer = Layer(g, node, inputs, gates=1, functions=["Tanh"])

    def cell(direction: int) -> Cell:
        f = layer.functions[direction][0]
        weights, bias = layer.recurrent_weights(direction), layer.bias(direction)

        def step(x: Expr, states: Sequence[Expr]) -> Sequence[Expr]:
            return [f(_plus(relay.add(x, relay.nn.dense(states[0], weights)), bias))]

        return step

    return layer.build(cell, states=1)


@converter("GRU")
def gru(g: Graph, node: Node, inputs: list[Anything]) -> Sequence[Expr]:
    layer = Layer(g, node, inputs, gates=3, functions=["Sigmoid", "Tanh"])
    resets_last = bool(g.attr(node, "linear_before_reset", 0))
    hidden = layer.hidden

    def cell(direction: int) -> Cell:
        f, h = layer.functions[direction]
        weights = layer.recurrent_weights(direction)
        of_gates, of_candidate = (
            layer.rows(weights, 0, 2 * hidden),
            layer.rows(weights, 2 * hidden, 3 * hidden),
        )
        input_bias, bias = layer.biases(direction)

        def part(vector: Expr | None, begin: int, end: int) -> Expr | None:
            return None if vector is None else layer.rows(vector, begin * hidden, end * hidden)

        def step(x: Expr, states: Sequence[Expr]) -> Sequence[Expr]:
            (state,) = states
            gates: Expr = relay.add(_columns(x, 0, 2 * hidden), relay.nn.dense(state, of_gates))
            gates = f(_plus(_plus(gates, part(input_bias, 0, 2)), part(bias, 0, 2)))
            update, reset = relay.split(gates, 2, axis=1)
            new: Expr = _plus(_columns(x, 2 * hidden, 3 * hidden), part(input_bias, 2, 3))
            if resets_last:
                old: Expr = _plus(relay.nn.dense(state, of_candidate), part(bias, 2, 3))
                candidate = h(relay.add(new, relay.multiply(reset, old)))
            else:
                old = relay.nn.dense(relay.multiply(reset, state), of_candidate)
                candidate = h(_plus(relay.add(new, old), part(bias, 2, 3)))
            one = const(1.0, layer.dtype)
            carried = relay.multiply(update, state)
            return [relay.add(relay.multiply(relay.subtract(one, update), candidate), carried)]

        return step

    return layer.build(cell, states=1)


@converter("LSTM")
def lstm(g: Graph, node: Node, inputs: list[Anything]) -> Sequence[Expr]:
    layer = Layer(g, node, inputs, gates=4, functions=LSTM_FUNCTIONS)
    return lstm_results(layer, inputs[7] if len(inputs) > 7 else None)


LSTM_FUNCTIONS = ("Sigmoid", "Tanh", "Tanh")


def lstm_results(layer: Layer, peepholes: Expr | None) -> Sequence[Expr]:
    """Return the states of all steps of an LSTM layer, the last ones, and its last memories."""
    coupled = bool(layer.g.attr(layer.node, "input_forget", 0))

    def cell(direction: int) -> Cell:
        f, c, h = layer.functions[direction]
        product, bias = layer.of_state(direction), layer.bias(direction)
        looks: Sequence[Expr | None] = [None, None, None]  # of the input, output and forget gates
        if peepholes is not None:
            whole = layer.of_direction(peepholes, direction)
            looks = [layer.rows(whole, i * layer.hidden, (i + 1) * layer.hidden) for i in range(3)]

        def peep(gate: Expr, which: int, memory: Expr) -> Expr:
            look = looks[which]
            return gate if look is None else relay.add(gate, relay.multiply(look, memory))

        def step(x: Expr, states: Sequence[Expr]) -> Sequence[Expr]:
            state, memory = states
            gates = _plus(relay.add(x, product(state)), bias)
            i, o, z, candidate = relay.split(gates, 4, axis=1)
            write = f(peep(i, 0, memory))
            one = const(1.0, layer.dtype)
            forget = relay.subtract(one, write) if coupled else f(peep(z, 2, memory))
            memory = relay.add(relay.multiply(forget, memory), relay.multiply(write, c(candidate)))
            return [relay.multiply(f(peep(o, 1, memory)), h(memory, clips=False)), memory]

        return step

    return layer.build(cell, states=2)


class Layer:
    """What the three layers share: the operands by direction, the iteration over the steps, the results."""

    def __init__(
        self, g: Graph, node: Node, inputs: Sequence[Expr | None], gates: int, functions: Sequence[str]
    ) -> None:
        self.g = g
        self.node = node
        self.context: Context = g.context
        operands = [*inputs, *[None] * (8 - len(inputs))]
        self.bias_operand, self.lengths, self.initial = operands[3], operands[4], operands[5:7]
        self.batch_first = bool(g.attr(node, "layout", 0))
        data, self.weights, self.recurrent = operands[:3]
        if data is None or self.weights is None or self.recurrent is None:
            raise RelayError(f"{node.op} requires the inputs X, W and R")
        self.data: Expr = relay.transpose(data, [1, 0, 2]) if self.batch_first else data
        self.dtype = self.context.dtype(data)
        self.gates = gates
        directions, rows, columns = self.context.static_shape(self.recurrent)
        self.hidden: int = g.attr(node, "hidden_size", columns)
        if columns != self.hidden or rows != gates * self.hidden:
            raise RelayError(
                f"the recurrent weights of {node.op} must have the shape "
                f"{(directions, gates * self.hidden, self.hidden)}, not {(directions, rows, columns)}"
            )
        self.direction = g.attr(node, "direction", "forward")
        if self.direction not in ("forward", "reverse", "bidirectional"):
            raise RelayError(f"the direction of {node.op} is {self.direction!r}, which ONNX does not define")
        if directions != (2 if self.direction == "bidirectional" else 1):
            raise RelayError(
                f"{node.op} has direction={self.direction}, but weights for "
                f"{counted(directions, 'direction')}"
            )
        self.directions = directions
        self.functions: list[list[Activation]] = activations(g, node, functions, directions)

    # -- operands

    def of_direction(self, operand: Expr, direction: int) -> Expr:
        """Return the part of an operand that belongs to a direction, without copying a known weight."""
        known = self.context.constant(operand)
        if known is not None:
            return Constant(NDArray.sharing(known[direction]))
        if self.directions == 1:
            return relay.squeeze(operand, [0])
        return relay.take(operand, const(direction, "int64"), axis=0)

    def rows(self, operand: Expr, begin: int, end: int) -> Expr:
        """Return rows of a weight matrix, or elements of a bias."""
        if isinstance(operand, Constant):
            return Constant(NDArray.sharing(operand.data.shared()[begin:end]))
        return relay.strided_slice(operand, [begin], [end], axes=[0])

    def recurrent_weights(self, direction: int) -> Expr:
        """Return the matrix with which the state is multiplied."""
        assert self.recurrent is not None
        return self.of_direction(self.recurrent, direction)

    def of_state(self, direction: int) -> Callable[[Expr], Expr]:
        """Return the function that multiplies the state by its weights."""
        weights = self.recurrent_weights(direction)
        return lambda state: relay.nn.dense(state, weights)

    def of_inputs(self, flat: Expr, direction: int) -> Expr:
        """Return the products of the rows of a matrix with the weights of the inputs."""
        assert self.weights is not None
        return relay.nn.dense(flat, self.of_direction(self.weights, direction))

    def biases(self, direction: int) -> tuple[Expr | None, Expr | None]:
        """Return the biases of the input's and of the state's product, None where the layer has none."""
        if self.bias_operand is None:
            return None, None
        whole, half = self.of_direction(self.bias_operand, direction), self.gates * self.hidden
        return self.rows(whole, 0, half), self.rows(whole, half, 2 * half)

    def bias(self, direction: int) -> Expr | None:
        """Return the sum of the two biases."""
        first, second = self.biases(direction)
        return None if first is None or second is None else relay.add(first, second)

    def products(self, data: Expr, direction: int) -> Expr:
        """Return the products of all steps' inputs with the weights, (steps, batch, gates · hidden)."""
        assert self.weights is not None
        weights = self.of_direction(self.weights, direction)
        steps, batch, _ = self.context.shape(data)
        width = self.gates * self.hidden
        if not isinstance(steps, int) and not isinstance(batch, int):
            return relay.nn.batch_matmul(data, relay.expand_dims(weights, 0))
        flat = self.of_inputs(relay.reshape(data, [-1, self.context.static_shape(weights)[1]]), direction)
        shape = [steps if isinstance(steps, int) else -1, batch if isinstance(batch, int) else -1, width]
        return relay.reshape(flat, shape)

    # -- the steps

    def build(self, cell: Callable[[int], Cell], states: int) -> list[Expr]:
        """Return the layer's results: the states of all steps, and the last ones."""
        every: list[Expr] = []
        last: list[list[Expr]] = []
        for direction in range(self.directions):
            backward = self.direction == "reverse" or direction == 1
            results, final = self._run(cell(direction), states, direction, backward)
            every.append(results)
            last.append(final)
        if self.batch_first:
            every = [relay.transpose(results, [1, 0, 2]) for results in every]
        steps = relay.stack(every, 2 if self.batch_first else 1)
        axis = 1 if self.batch_first else 0
        return [steps, *[relay.stack([final[i] for final in last], axis) for i in range(states)]]

    def _run(self, cell: Cell, states: int, direction: int, backward: bool) -> tuple[Expr, list[Expr]]:
        """Return the states of all steps of one direction, in the order of the input, and the last states."""
        if self.lengths is None:
            products = self.products(self.data, direction)
            initial = self._all_initial(products, states, direction)
            return scan(self.context, [products], initial, _step(cell), backward)
        products = self.products(self._reversed(self.data) if backward else self.data, direction)
        initial = self._all_initial(products, states, direction)
        results, final = scan(self.context, [products, self._goes_on(products)], initial, _masked_step(cell))
        ran = relay.expand_dims(relay.greater(self.lengths, const(0, "int32")), 1)
        # ONNX Runtime returns zeros for sequences of length 0.
        final = [relay.where(ran, state, relay.zeros_like(state)) for state in final]
        return (self._reversed(results) if backward else results), final

    def _all_initial(self, products: Expr, states: int, direction: int) -> list[Expr]:
        return [self._initial(self.initial[i], products, direction) for i in range(states)]

    def _goes_on(self, products: Expr) -> Expr:
        """Return whether each step is within each sequence of the batch, (steps, batch)."""
        assert self.lengths is not None
        count = extent_of(self.g, products, 0, "int32")
        steps = relay.arange(const(0, "int32"), count, const(1, "int32"), "int32")
        return relay.less(relay.expand_dims(steps, 1), relay.expand_dims(self.lengths, 0))

    def _reversed(self, data: Expr) -> Expr:
        """Reverse the steps, for each sequence of the batch within its own length."""
        if self.lengths is None:
            return relay.reverse(data, 0)
        return relay.reverse_sequence(data, self.lengths, seq_axis=0, batch_axis=1)

    def _initial(self, operand: Expr | None, products: Expr, direction: int) -> Expr:
        if operand is not None:
            if self.batch_first:
                operand = relay.transpose(operand, [1, 0, 2])
            return self.of_direction(operand, direction)
        batch = self.context.shape(products)[1]
        if isinstance(batch, int):
            return relay.zeros((batch, self.hidden), self.dtype)
        return relay.zeros_like(_columns(relay.take(products, const(0, "int64"), axis=0), 0, self.hidden))


def _step(cell: Cell) -> Step:
    def step(parts: Sequence[Expr], states: Sequence[Expr]) -> tuple[Expr, Sequence[Expr]]:
        following = cell(parts[0], states)
        return following[0], following

    return step


def _masked_step(cell: Cell) -> Step:
    """Return a step that, after the end of a sequence, outputs 0 and keeps the states."""

    def step(parts: Sequence[Expr], states: Sequence[Expr]) -> tuple[Expr, Sequence[Expr]]:
        following = cell(parts[0], states)
        goes_on = relay.expand_dims(parts[1], 1)
        output = relay.where(goes_on, following[0], relay.zeros_like(following[0]))
        return output, [relay.where(goes_on, new, old) for new, old in zip(following, states)]

    return step


def _plus(value: Expr, bias: Expr | None) -> Expr:
    return value if bias is None else relay.add(value, bias)


def _columns(value: Expr, begin: int, end: int, axis: int = 1) -> Expr:
    return relay.strided_slice(value, [begin], [end], axes=[axis])
