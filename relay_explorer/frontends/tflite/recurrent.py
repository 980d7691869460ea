"""Converters of recurrent layers. Every run starts with the state zero, as a new interpreter does."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.context import Results
from ..base.recurrence import scan
from .hybrid import Rows, is_hybrid
from .integer_lstm import integer_lstm
from .operation import Operation, activation, converter


def _float_data(op: Operation) -> None:
    """Raise a RelayError if the data is quantized; weights may be."""
    for index in range(len(op)):
        if op.has(index) and op.dtype(index) != "float32" and not is_hybrid(op, index, 0):
            raise RelayError(
                f"{op.name} with operands of {op.dtype(index)} cannot be imported: its kernel rounds "
                "intermediate results, and none of the operators of Relay does that in the same way",
                help=["convert the model without quantization, or unroll the layer (`unroll=True`)"],
            )


_GATES = ("input", "forget", "cell", "output")


class _Lstm:
    """The weights of an LSTM at an offset among an operator's operands.

    The gates are input, forget, cell and output; without an input gate, that is 1 - forget.
    """

    def __init__(self, op: Operation, first: int, norms: int | None) -> None:
        self.op = op
        self.kernels = [first + place for place in range(4)]
        self.recurrent = [first + 4 + place for place in range(4)]
        self.peepholes = [self._given(first + 8 + place) for place in range(3)]
        self.biases = [self._given(first + 11 + place) for place in range(4)]
        self.projection, self.projection_bias = first + 15, self._given(first + 16)
        self.norms = [None] * 4 if norms is None else [self._given(norms + place) for place in range(4)]

    def _given(self, index: int) -> Expr | None:
        return self.op.real(index) if self.op.has(index) else None

    def gate(self, place: int, x: Rows, h: Rows, c: Expr | None) -> Expr:
        """Return the sum of a gate before its activation function; `c` is what a peephole sees."""
        kernel, recurrent = self.kernels[place], self.recurrent[place]
        if not self.op.has(kernel) or not self.op.has(recurrent):
            raise RelayError(f"{self.op.name} has no weights for its {_GATES[place]} gate")
        total = relay.add(x.times(kernel), h.times(recurrent))
        hole = self.peepholes[{0: 0, 1: 1, 3: 2}[place]] if place != 2 else None
        if hole is not None and c is not None:
            total = relay.add(total, relay.multiply(c, hole))
        norm, bias = self.norms[place], self.biases[place]
        if norm is not None:
            total = relay.multiply(_normalized(total), norm)
        return total if bias is None else relay.add(total, bias)

    def step(self, data: Expr, state: Expr, c: Expr) -> tuple[Expr, Expr]:
        """Return the output and the cell after one step."""
        op = self.op
        x, h = Rows(op, data), Rows(op, state)
        kind = int(op.attr("fused_activation_function"))
        forget = relay.sigmoid(self.gate(1, x, h, c))
        if not op.has(self.kernels[0]):
            enter: Expr = relay.subtract(const(1.0, "float32"), forget)
        else:
            enter = relay.sigmoid(self.gate(0, x, h, c))
        candidate = activation(self.gate(2, x, h, None), kind)
        cell: Expr = relay.add(relay.multiply(forget, c), relay.multiply(enter, candidate))
        bound = float(op.attr("cell_clip", 0.0))
        if bound > 0:
            cell = relay.clip(cell, -bound, bound)
        leave = relay.sigmoid(self.gate(3, x, h, cell))
        output: Expr = relay.multiply(leave, activation(cell, kind))
        if op.has(self.projection):
            output = Rows(op, output).times(self.projection)
            if self.projection_bias is not None:
                output = relay.add(output, self.projection_bias)
            bound = float(op.attr("proj_clip", 0.0))
            if bound > 0:
                output = relay.clip(output, -bound, bound)
        return output, cell


def _normalized(x: Expr) -> Expr:
    mean = relay.mean(x, [1], keepdims=True)
    centered = relay.subtract(x, mean)
    variance = relay.mean(relay.multiply(centered, centered), [1], keepdims=True)
    return relay.divide(centered, relay.sqrt(relay.add(variance, const(1e-8, "float32"))))


def _time_major(op: Operation, x: Expr, time_major: bool) -> Expr:
    return x if time_major else relay.transpose(x, (1, 0, 2))


def _run_lstm(op: Operation, lstm: _Lstm, h: int, c: int, backwards: bool) -> Expr:
    time_major = bool(op.attr("time_major", False))
    x = _time_major(op, op.stored(0), time_major)

    def step(at: Sequence[Expr], states: Sequence[Expr]) -> tuple[Expr, Sequence[Expr]]:
        output, cell = lstm.step(at[0], states[0], states[1])
        return output, (output, cell)

    outputs, _ = scan(op.context, [x], [op.stored(h), op.stored(c)], step, backwards)
    return _time_major(op, outputs, time_major)


@converter("UNIDIRECTIONAL_SEQUENCE_LSTM", mode="own")
def _unidirectional_lstm(op: Operation) -> Expr:
    if op.dtype(0) == "int8":
        return integer_lstm(op)
    _float_data(op)
    lstm = _Lstm(op, 1, 20 if len(op) > 20 and op.has(21) else None)
    return _run_lstm(op, lstm, 18, 19, False)


@converter("BIDIRECTIONAL_SEQUENCE_LSTM", mode="own")
def _bidirectional_lstm(op: Operation) -> Results:
    _float_data(op)
    if op.has(39):
        raise RelayError("BIDIRECTIONAL_SEQUENCE_LSTM with an auxiliary input cannot be imported")
    forward = _run_lstm(op, _Lstm(op, 1, None), 35, 36, False)
    backward = _run_lstm(op, _Lstm(op, 18, None), 37, 38, True)
    if op.attr("merge_outputs", False):
        return relay.concatenate([forward, backward], 2)
    return [forward, backward]


def _run_rnn(op: Operation, first: int, state: int, backwards: bool) -> Expr:
    time_major = bool(op.attr("time_major", False))
    x = _time_major(op, op.stored(0), time_major)

    def step(at: Sequence[Expr], states: Sequence[Expr]) -> tuple[Expr, Sequence[Expr]]:
        total = relay.add(Rows(op, at[0]).times(first), Rows(op, states[0]).times(first + 1))
        output = op.activated(relay.add(total, op.stored(first + 2)))
        return output, (output,)

    outputs, _ = scan(op.context, [x], [op.stored(state)], step, backwards)
    return _time_major(op, outputs, time_major)


@converter("UNIDIRECTIONAL_SEQUENCE_RNN", mode="own")
def _unidirectional_rnn(op: Operation) -> Expr:
    _float_data(op)
    return _run_rnn(op, 1, 4, False)


@converter("BIDIRECTIONAL_SEQUENCE_RNN", mode="own")
def _bidirectional_rnn(op: Operation) -> Results:
    _float_data(op)
    if op.has(9):
        raise RelayError("BIDIRECTIONAL_SEQUENCE_RNN with an auxiliary input cannot be imported")
    forward, backward = _run_rnn(op, 1, 4, False), _run_rnn(op, 5, 8, True)
    if op.attr("merge_outputs", False):
        return relay.concatenate([forward, backward], 2)
    return [forward, backward]


@converter("RNN", mode="own")
def _rnn(op: Operation) -> Expr:
    """Convert one step of a simple recurrent layer."""
    _float_data(op)
    total = relay.add(Rows(op, op.stored(0)).times(1), Rows(op, op.stored(4)).times(2))
    return op.activated(relay.add(total, op.stored(3)))
