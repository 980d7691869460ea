"""Recurrent layers and cells: LSTM, GRU, and the plain recurrent network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.recurrence import scan
from .attention import no_dropout
from .context import Aten
from .registry import aten
from .values import Value

Step = Callable[[Expr, list[Expr]], list[Expr]]
"""Computes the next state, output first, from the projected input of one step and the present state."""


class Weights:
    """The weights of one layer and direction: `projection` is that of the output, if there is one."""

    def __init__(self, params: Sequence[Expr], has_biases: bool, projects: bool) -> None:
        self.input, self.hidden = params[0], params[1]
        self.input_bias = params[2] if has_biases else None
        self.hidden_bias = params[3] if has_biases else None
        self.projection = params[-1] if projects else None

    def from_input(self, x: Expr) -> Expr:
        """Return what the input contributes to the gates, for rows of inputs."""
        return _dense(x, self.input, self.input_bias)

    def from_hidden(self, hidden: Expr) -> Expr:
        """Return what the hidden state contributes to the gates."""
        return _dense(hidden, self.hidden, self.hidden_bias)


def _dense(x: Expr, weight: Expr, bias: Expr | None) -> Expr:
    product = relay.nn.dense(x, weight)
    return product if bias is None else relay.nn.bias_add(product, bias, axis=-1)


def lstm_step(weights: Weights) -> Step:
    """Return the step of an LSTM: its state is the output and the cell."""

    def step(x: Expr, state: list[Expr]) -> list[Expr]:
        hidden, cell = state
        gates = relay.split(relay.add(x, weights.from_hidden(hidden)), 4, axis=1)
        enter, forget, leave = (relay.sigmoid(gates[index]) for index in (0, 1, 3))
        cell = relay.add(relay.multiply(forget, cell), relay.multiply(enter, relay.tanh(gates[2])))
        hidden = relay.multiply(leave, relay.tanh(cell))
        if weights.projection is not None:
            hidden = relay.nn.dense(hidden, weights.projection)
        return [hidden, cell]

    return step


def gru_step(weights: Weights) -> Step:
    """Return the step of a GRU."""

    def step(x: Expr, state: list[Expr]) -> list[Expr]:
        (hidden,) = state
        from_input = relay.split(x, 3, axis=1)
        from_hidden = relay.split(weights.from_hidden(hidden), 3, axis=1)
        reset, update = (relay.sigmoid(relay.add(from_input[index], from_hidden[index])) for index in (0, 1))
        fresh = relay.tanh(relay.add(from_input[2], relay.multiply(reset, from_hidden[2])))
        return [relay.add(fresh, relay.multiply(update, relay.subtract(hidden, fresh)))]

    return step


def rnn_step(activation: Callable[[Expr], Expr]) -> Callable[[Weights], Step]:
    """Return the step of a plain recurrent network."""

    def make(weights: Weights) -> Step:
        def step(x: Expr, state: list[Expr]) -> list[Expr]:
            (hidden,) = state
            return [activation(relay.add(x, weights.from_hidden(hidden)))]

        return step

    return make


def _projected(ctx: Aten, x: Expr, weights: Weights) -> Expr:
    """Apply the input's weights to all steps of (steps, batch, width) at once."""
    width = ctx.shape(x)[2]
    flat = relay.reshape(x, (-1, ctx.integer(cast(Value, width), "the width of the input")))
    product = weights.from_input(flat)
    return ctx.reshape(product, [*ctx.sizes(x)[:2], cast(int, ctx.shape(product)[1])])


def _run(
    ctx: Aten, x: Expr, weights: Weights, step: Step, state: list[Expr], backward: bool
) -> tuple[Expr, list[Expr]]:
    """Run one layer in one direction; return the outputs of all steps and the last state."""

    def following(parts: Sequence[Expr], before: Sequence[Expr]) -> tuple[Expr, list[Expr]]:
        after = step(parts[0], list(before))
        return after[0], after

    return scan(ctx.context, [_projected(ctx, x, weights)], state, following, backward)


def weights_of(ctx: Aten, params: Sequence[Expr], options: Sequence[Value]) -> list[Weights]:
    """Return the weights of all layers in all directions."""
    has_biases, layers, _, _, bidirectional, _ = options
    rows = ctx.integer(layers, "the number of layers") * (2 if bidirectional else 1)
    each = len(params) // rows
    projects = each == (5 if has_biases else 3)
    return [Weights(params[row * each : (row + 1) * each], bool(has_biases), projects) for row in range(rows)]


def run_layers(
    ctx: Aten,
    make: Callable[[Weights], Step],
    x: Expr,
    states: list[Expr],
    rows: Sequence[Weights],
    options: Sequence[Value],
) -> tuple[Expr, list[Expr]]:
    """Run all layers in all directions; return the outputs and, for each part of the state, its last values.

    `options` are those of the schema: biases, layers, dropout, training, bidirectional, batch first.
    """
    _, layers, dropout, training, bidirectional, batch_first = options
    if training:
        no_dropout(dropout)
    count, directions = ctx.integer(layers, "the number of layers"), 2 if bidirectional else 1
    if len(rows) != count * directions:
        raise RelayError(f"{count * directions} layers require as many weights, not {len(rows)}")
    single = ctx.rank(x) == 2
    if single:
        x, states = relay.expand_dims(x, 0 if batch_first else 1), [relay.expand_dims(s, 1) for s in states]
    if batch_first:
        x = relay.transpose(x, (1, 0, 2))
    finals: list[list[Expr]] = []
    for layer in range(count):
        outputs = []
        for direction in range(directions):
            row = layer * directions + direction
            start: list[Expr] = [relay.take(state, const(row, "int64"), axis=0) for state in states]
            output, final = _run(ctx, x, rows[row], make(rows[row]), start, direction == 1)
            outputs.append(output)
            finals.append(final)
        x = outputs[0] if directions == 1 else relay.concatenate(outputs, 2)
    last: list[Expr] = [relay.stack([final[part] for final in finals], 0) for part in range(len(states))]
    if batch_first:
        x = relay.transpose(x, (1, 0, 2))
    if single:
        x, last = relay.squeeze(x, [0 if batch_first else 1]), [relay.squeeze(s, [1]) for s in last]
    return x, last


def refuse_packed(params: Value) -> None:
    """Raise a RelayError for the weights of a layer that is applied to packed sequences."""
    if not isinstance(params, (list, tuple)):
        raise RelayError(
            "recurrent layers of packed sequences cannot be imported",
            help=["pad the sequences, and pass the padded tensor to the layer"],
        )


@aten("lstm", "lstm.input")
def lstm(ctx: Aten, x: Expr, states: Sequence[Expr], params: Sequence[Expr], *options: Value) -> Value:
    refuse_packed(params)
    output, last = run_layers(ctx, lstm_step, x, list(states), weights_of(ctx, params, options), options)
    return output, *last


def _single_state(make: Callable[[Weights], Step]) -> Callable[..., Value]:
    def convert(ctx: Aten, x: Expr, state: Expr, params: Sequence[Expr], *options: Value) -> Value:
        refuse_packed(params)
        output, last = run_layers(ctx, make, x, [state], weights_of(ctx, params, options), options)
        return output, *last

    return convert


aten("gru", "gru.input")(_single_state(gru_step))
aten("rnn_tanh", "rnn_tanh.input")(_single_state(rnn_step(relay.tanh)))
aten("rnn_relu", "rnn_relu.input")(_single_state(rnn_step(relay.nn.relu)))


@aten("lstm.data", "gru.data", "rnn_tanh.data", "rnn_relu.data")
def packed(ctx: Aten, *args: Value) -> Value:
    """Refuse packed sequences."""
    refuse_packed(None)
    return None


def run_cell(
    ctx: Aten, make: Callable[[Weights], Step], x: Expr, states: list[Expr], weights: Weights
) -> list[Expr]:
    """Apply one step to one input, which may lack the batch axis."""
    single = ctx.rank(x) == 1
    if single:
        x, states = relay.expand_dims(x, 0), [relay.expand_dims(state, 0) for state in states]
    result = make(weights)(weights.from_input(x), states)
    return [relay.squeeze(part, [0]) for part in result] if single else result


def _weights_of_cell(params: Sequence[Expr | None]) -> Weights:
    present = [param for param in params if param is not None]
    return Weights(present, len(present) == 4, False)


@aten("lstm_cell")
def lstm_cell(ctx: Aten, x: Expr, states: Sequence[Expr], *params: Expr | None) -> Value:
    return run_cell(ctx, lstm_step, x, list(states), _weights_of_cell(params))


def _single_cell(make: Callable[[Weights], Step]) -> Callable[..., Value]:
    def convert(ctx: Aten, x: Expr, state: Expr, *params: Expr | None) -> Value:
        return run_cell(ctx, make, x, [state], _weights_of_cell(params))[0]

    return convert


aten("gru_cell")(_single_cell(gru_step))
aten("rnn_tanh_cell")(_single_cell(rnn_step(relay.tanh)))
aten("rnn_relu_cell")(_single_cell(rnn_step(relay.nn.relu)))
