"""Recurrent layers of PyTorch with quantized weights, which quantize their data in every run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from .context import Aten
from .packed import Cell, Packed
from .quantized_layers import dynamically
from .recurrent import Step, Weights, gru_step, lstm_step, refuse_packed, rnn_step, run_cell, run_layers
from .registry import aten
from .values import Value


class PackedWeights(Weights):
    """The packed weights of one layer and direction."""

    def __init__(self, ctx: Aten, cell: Cell) -> None:
        self.ctx = ctx
        self.cell = cell
        self.projection = None

    def from_input(self, x: Expr) -> Expr:
        """Return what the input contributes to the gates: its range is that of all steps."""
        return dynamically(self.ctx, x, self.cell.input, self.cell.reduce_range)

    def from_hidden(self, hidden: Expr) -> Expr:
        """Return what the hidden state contributes to the gates."""
        return dynamically(self.ctx, hidden, self.cell.hidden, self.cell.reduce_range)


def _layers(
    ctx: Aten,
    make: Callable[[Weights], Step],
    x: Expr,
    states: list[Expr],
    cells: Value,
    options: Sequence[Value],
) -> tuple[Expr, ...]:
    refuse_packed(cells)
    listed = cast("Sequence[Value]", cells)
    if not all(isinstance(cell, Cell) for cell in listed):
        raise RelayError("the weights of a quantized recurrent layer must be packed in objects")
    rows = [PackedWeights(ctx, cast(Cell, cell)) for cell in listed]
    output, last = run_layers(ctx, make, x, states, rows, options[:6])
    return output, *last


@aten("quantized_lstm", "quantized_lstm.input")
def lstm(ctx: Aten, x: Expr, states: Sequence[Expr], cells: Value, *options: Value) -> Value:
    return _layers(ctx, lstm_step, x, list(states), cells, options)


@aten("quantized_gru", "quantized_gru.input")
def gru(ctx: Aten, x: Expr, state: Expr, cells: Value, *options: Value) -> Value:
    return _layers(ctx, gru_step, x, [state], cells, options)


@aten("quantized_lstm.data", "quantized_gru.data")
def of_packed_sequences(ctx: Aten, *_: Value) -> Value:
    """Refuse packed sequences."""
    refuse_packed(None)
    return None


def _cell(input_: Packed, hidden: Packed) -> Cell:
    return Cell(input_, hidden, True)


@aten("quantized::quantized_lstm_cell_dynamic")
def lstm_cell(
    ctx: Aten, x: Expr, states: Sequence[Expr], input_: Packed, hidden: Packed, *biases: Value
) -> Value:
    return run_cell(ctx, lstm_step, x, list(states), PackedWeights(ctx, _cell(input_, hidden)))


def _of_one_state(make: Callable[[Weights], Step]) -> Callable[..., Value]:
    def convert(ctx: Aten, x: Expr, state: Expr, input_: Packed, hidden: Packed, *biases: Value) -> Value:
        return run_cell(ctx, make, x, [state], PackedWeights(ctx, _cell(input_, hidden)))[0]

    return convert


aten("quantized::quantized_gru_cell_dynamic")(_of_one_state(gru_step))
aten("quantized::quantized_rnn_tanh_cell_dynamic")(_of_one_state(rnn_step(relay.tanh)))
aten("quantized::quantized_rnn_relu_cell_dynamic")(_of_one_state(rnn_step(relay.nn.relu)))
