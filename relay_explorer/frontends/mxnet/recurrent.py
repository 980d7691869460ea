"""MXNet's fused recurrent layers, whose weights are one vector."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.context import Results
from ..base.errors import DynamicShapeError
from ..base.recurrence import scan
from .elementwise import number
from .registry import Operation, converts
from .weights import rnn_size

_GATES = {"lstm": 4, "gru": 3, "rnn_relu": 1, "rnn_tanh": 1}


class _Weights:
    """Takes matrices and vectors from the front of a vector of weights."""

    def __init__(self, vector: Expr) -> None:
        self.vector = vector
        self.position = 0

    def take(self, *shape: int) -> Expr:
        size = 1
        for extent in shape:
            size *= extent
        begin, self.position = self.position, self.position + size
        part = relay.strided_slice(self.vector, [begin], [self.position])
        return relay.reshape(part, shape)


@converts("RNN", "_npx_rnn")
def recurrent(op: Operation) -> Results:
    """Layers of a recurrent network; data, states and results have the axes (time, batch, features)."""
    mode = op.attrs.text("mode")
    if mode not in _GATES:
        raise RelayError(f"RNN with mode={mode!r} is not supported")
    for name in ("projection_size", "lstm_state_clip_min", "lstm_state_clip_max"):
        if op.attrs.has(name):
            raise RelayError(f"RNN with {name} is not supported")
    if op.attrs.bool("use_sequence_length", False):
        raise RelayError("RNN with use_sequence_length=True is not supported")
    layers, hidden = op.attrs.int("num_layers"), op.attrs.int("state_size")
    directions = 2 if op.attrs.bool("bidirectional", False) else 1
    width, gates = op.extent(0, 2), _GATES[mode] * hidden
    expected = rnn_size(op.attrs, width)
    if op.static_shape(1) != (expected,):
        raise RelayError(f"the parameters of RNN must have the shape {(expected,)}, not {op.static_shape(1)}")
    states = [
        _states(op, index, layers * directions, hidden) for index in range(2, 4 if mode == "lstm" else 3)
    ]

    weights = _Weights(op[1])
    matrices = []
    for layer in range(layers):
        inputs = width if layer == 0 else hidden * directions
        for _ in range(directions):
            matrices.append([weights.take(gates, inputs), weights.take(gates, hidden)])
    biases = [[weights.take(gates), weights.take(gates)] for _ in range(layers * directions)]

    data = op[0]
    final: list[list[Expr]] = [[] for _ in states]
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            number_ = layer * directions + direction
            initial = [state[number_] for state in states]
            output, last = _layer(op, mode, data, initial, matrices[number_], biases[number_], direction == 1)
            outputs.append(output)
            for column, state in zip(final, last):
                column.append(state)
        data = outputs[0] if directions == 1 else relay.concatenate(outputs, 2)
        op.context.type(data)
    if not op.attrs.bool("state_outputs", False):
        return data
    return [data, *(relay.stack(column, 0) for column in final)]


def _states(op: Operation, index: int, count: int, hidden: int) -> list[Expr]:
    """Return the initial states of the layers. One whose batch MXNet infers has the extent 1 there."""
    state = op[index]
    batch = op.shape(0)[1]
    if op.shape(index)[1] == 1 and batch != 1:
        if not isinstance(batch, int):
            raise DynamicShapeError(
                "RNN requires that the batch size is known at compile time, because the initial state has "
                "extent 1 there"
            )
        state = relay.broadcast_to(state, (count, batch, hidden))
    return [relay.take(state, const(number, "int32"), 0) for number in range(count)]


def _layer(
    op: Operation,
    mode: str,
    data: Expr,
    states: Sequence[Expr],
    matrices: Sequence[Expr],
    biases: Sequence[Expr],
    backwards: bool,
) -> tuple[Expr, list[Expr]]:
    """One layer in one direction: the products with the inputs are computed for all steps at once."""
    length, batch, width = op.context.shape(data)
    if not isinstance(width, int):
        raise DynamicShapeError("RNN requires that the number of features is known at compile time")
    rows = relay.nn.dense(relay.reshape(data, (-1, width)), matrices[0])
    known = [extent if isinstance(extent, int) else -1 for extent in (length, batch)]
    if known.count(-1) > 1:
        raise DynamicShapeError(
            "RNN requires that the sequence length or the batch size is known at compile time"
        )
    projected = relay.reshape(relay.nn.bias_add(rows, biases[0], -1), (*known, op.context.shape(rows)[1]))  # type: ignore[arg-type]  # the number of gates

    def step(parts: Sequence[Expr], current: Sequence[Expr]) -> tuple[Expr, list[Expr]]:
        recurrent_part = relay.nn.bias_add(relay.nn.dense(current[0], matrices[1]), biases[1], -1)
        following = _cell(op, mode, parts[0], recurrent_part, current)
        return following[0], following

    return scan(op.context, [projected], states, step, backwards)


def _cell(op: Operation, mode: str, x: Expr, h: Expr, states: Sequence[Expr]) -> list[Expr]:
    """Return the new states from the products with the input and with the state."""
    if mode == "rnn_relu":
        return [relay.nn.relu(relay.add(x, h))]
    if mode == "rnn_tanh":
        return [relay.tanh(relay.add(x, h))]
    if mode == "lstm":
        enter, forget, candidate, leave = relay.split(relay.add(x, h), 4, 1)
        memory = relay.add(
            relay.multiply(relay.sigmoid(forget), states[1]),
            relay.multiply(relay.sigmoid(enter), relay.tanh(candidate)),
        )
        return [relay.multiply(relay.sigmoid(leave), relay.tanh(memory)), memory]
    xs, hs = relay.split(x, 3, 1), relay.split(h, 3, 1)
    reset = relay.sigmoid(relay.add(xs[0], hs[0]))
    update = relay.sigmoid(relay.add(xs[1], hs[1]))
    candidate = relay.tanh(relay.add(xs[2], relay.multiply(reset, hs[2])))
    carried = relay.multiply(update, states[0])
    return [relay.add(carried, relay.multiply(relay.subtract(number(op, 1), update), candidate))]
