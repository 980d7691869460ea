"""Recurrent cells: one step of each, and the layers that apply them to sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ir.show import counted
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from ..base.recurrence import scan
from .activations import activate
from .call import Call, Results, Value, layer
from .convolution import SPACE, arranged, convolution, kernel_layout, padding_of, sizes

if TYPE_CHECKING:
    from numpy import ndarray as Array

Step = Callable[[Expr, Sequence[Expr]], tuple[Expr, list[Expr]]]


@dataclass(frozen=True)
class Cell:
    """One step of a recurrent layer. `state_sizes` are the shapes of its states without the batch."""

    step: Step
    state_sizes: list[tuple[int, ...]]


def _kernel(call: Call, cell: Any, name: str) -> Expr:
    """Return a matrix (inputs, units) as `dense` takes it."""
    return call.weight_of(cell, name, lambda values: values.T, "OI")


def _bias(call: Call, cell: Any, row: int | None = None) -> Expr | None:
    if not getattr(cell, "use_bias", True) or getattr(cell, "bias", None) is None:
        return None
    if row is None:
        return call.weight_of(cell, "bias")
    return call.weight_of(cell, "bias", lambda values: values[row], f"row{row}")


def _plus(x: Expr, bias: Expr | None) -> Expr:
    return x if bias is None else relay.add(x, bias)


def cell_of(call: Call, cell: Any, sample: Expr) -> Cell:
    """Return the step of a cell; `sample` is an expression of the type of one element of the sequence."""
    kind = type(cell).__name__
    package = type(cell).__module__.partition(".")[0]
    if package in ("keras", "tf_keras"):
        make = _CELLS.get(kind)
        if make is not None:
            return make(call, cell, sample)
    raise RelayError(
        f"the recurrent cell `{kind}` cannot be imported",
        help=[f"give a converter of {call.kind} in convert_map; a custom cell's `call` is Python code"],
    )


def _simple(call: Call, cell: Any, sample: Expr) -> Cell:
    kernel, recurrent = _kernel(call, cell, "kernel"), _kernel(call, cell, "recurrent_kernel")
    bias = _bias(call, cell)

    def step(x: Expr, states: Sequence[Expr]) -> tuple[Expr, list[Expr]]:
        total = _plus(relay.nn.dense(x, kernel), bias)
        output = activate(call, cell.activation, relay.add(total, relay.nn.dense(states[0], recurrent)))
        return output, [output]

    return Cell(step, [(int(cell.units),)])


def _lstm(call: Call, cell: Any, sample: Expr) -> Cell:
    """Return an LSTM's step. The gates are input, forget, cell and output, in this order of their units."""
    kernel, recurrent = _kernel(call, cell, "kernel"), _kernel(call, cell, "recurrent_kernel")
    bias = _bias(call, cell)

    def step(x: Expr, states: Sequence[Expr]) -> tuple[Expr, list[Expr]]:
        h, c = states
        total = _plus(relay.add(relay.nn.dense(x, kernel), relay.nn.dense(h, recurrent)), bias)
        enter, forget, candidate, leave = relay.split(total, 4, 1)
        gate = cell.recurrent_activation
        remembered = relay.multiply(activate(call, gate, forget), c)
        new = relay.multiply(activate(call, gate, enter), activate(call, cell.activation, candidate))
        memory = relay.add(remembered, new)
        output = relay.multiply(activate(call, gate, leave), activate(call, cell.activation, memory))
        return output, [output, memory]

    return Cell(step, [(int(cell.units),)] * 2)


def _gru(call: Call, cell: Any, sample: Expr) -> Cell:
    """Return a GRU's step. The gates are update, reset and candidate. With `reset_after`, the reset gate acts
    on the product of the state, which has a bias of its own.
    """
    units = int(cell.units)
    kernel = _kernel(call, cell, "kernel")
    after = bool(cell.reset_after)
    bias = _bias(call, cell, 0 if after else None)
    recurrent_bias = _bias(call, cell, 1) if after else None
    gates = call.weight_of(cell, "recurrent_kernel", lambda values: values[:, : 2 * units].T, "gates")
    last = call.weight_of(cell, "recurrent_kernel", lambda values: values[:, 2 * units :].T, "candidate")
    whole = _kernel(call, cell, "recurrent_kernel") if after else None

    def step(x: Expr, states: Sequence[Expr]) -> tuple[Expr, list[Expr]]:
        h = states[0]
        from_x = relay.split(_plus(relay.nn.dense(x, kernel), bias), 3, 1)
        gate = cell.recurrent_activation
        if whole is not None:
            from_h = relay.split(_plus(relay.nn.dense(h, whole), recurrent_bias), 3, 1)
            update = activate(call, gate, relay.add(from_x[0], from_h[0]))
            reset = activate(call, gate, relay.add(from_x[1], from_h[1]))
            candidate: Expr = relay.multiply(reset, from_h[2])
        else:
            of_gates = relay.split(relay.nn.dense(h, gates), 2, 1)
            update = activate(call, gate, relay.add(from_x[0], of_gates[0]))
            reset = activate(call, gate, relay.add(from_x[1], of_gates[1]))
            candidate = relay.nn.dense(relay.multiply(reset, h), last)
        candidate = activate(call, cell.activation, relay.add(from_x[2], candidate))
        rest = relay.subtract(call.number(1.0), update)
        output = relay.add(relay.multiply(update, h), relay.multiply(rest, candidate))
        return output, [output]

    return Cell(step, [(units,)])


def _stacked(call: Call, cell: Any, sample: Expr) -> Cell:
    """Each cell's output is the next one's input."""
    cells: list[Cell] = []
    x = sample
    for inner in cell.cells:
        member = cell_of(call, inner, x)
        cells.append(member)
        x, _ = member.step(x, [_zeros(call, sample, size) for size in member.state_sizes])

    def step(x: Expr, states: Sequence[Expr]) -> tuple[Expr, list[Expr]]:
        following: list[Expr] = []
        for inner in cells:
            count = len(inner.state_sizes)
            x, new = inner.step(x, states[len(following) : len(following) + count])
            following += new
        return x, following

    return Cell(step, [size for inner in cells for size in inner.state_sizes])


def _conv_lstm(call: Call, cell: Any, sample: Expr) -> Cell:
    """Return the step of an LSTM whose products are convolutions; images have Keras's order of axes."""
    rank = int(cell.rank)
    first = str(cell.data_format) == "channels_first"
    kernel, filters = sizes(cell.kernel_size, rank), int(cell.filters)
    strides, dilation = sizes(cell.strides, rank), sizes(cell.dilation_rate, rank)
    layout, ones = kernel_layout(rank, first), (1,) * rank

    def change(values: Array) -> Array:
        return arranged(values, first)

    weight = call.weight_of(cell, "kernel", change, layout)
    recurrent = call.weight_of(cell, "recurrent_kernel", change, layout)
    bias = _bias(call, cell)
    axis = 1 if first else rank + 1

    def of_input(x: Expr) -> Expr:
        padding = padding_of(call, call.context.shape(x), first, kernel, strides, dilation, str(cell.padding))
        result = convolution(call, x, first, weight, kernel, strides, dilation, padding, 1, 4 * filters)
        return result if bias is None else relay.nn.bias_add(result, bias, axis)

    def step(x: Expr, states: Sequence[Expr]) -> tuple[Expr, list[Expr]]:
        h, c = states
        padding = padding_of(call, call.context.shape(h), first, kernel, ones, ones, "same")
        of_state = convolution(call, h, first, recurrent, kernel, ones, ones, padding, 1, 4 * filters)
        enter, forget, candidate, leave = relay.split(relay.add(of_input(x), of_state), 4, axis)
        gate = cell.recurrent_activation
        remembered = relay.multiply(activate(call, gate, forget), c)
        new = relay.multiply(activate(call, gate, enter), activate(call, cell.activation, candidate))
        memory = relay.add(remembered, new)
        output = relay.multiply(activate(call, gate, leave), activate(call, cell.activation, memory))
        return output, [output, memory]

    space = call.context.shape(of_input(sample))[1:]
    size = [extent for extent in space if isinstance(extent, int)]
    size[0 if first else -1] = filters
    if len(size) != rank + 1:
        raise DynamicShapeError("the extents of the images of a ConvLSTM must be known at compile time")
    assert SPACE[rank]
    return Cell(step, [tuple(size)] * 2)


_CELLS: dict[str, Callable[[Call, Any, Expr], Cell]] = {
    "SimpleRNNCell": _simple, "LSTMCell": _lstm, "GRUCell": _gru, "StackedRNNCells": _stacked,
    "ConvLSTMCell": _conv_lstm,
}  # fmt: skip


def _zeros(call: Call, sample: Expr, size: tuple[int, ...]) -> Expr:
    """Return a state of zeros for the batch of `sample`."""
    batch = call.context.shape(sample)[0]
    if isinstance(batch, int):
        return relay.zeros((batch, *size), call.dtype)
    # The batch is known only at run time: take it from the element of the sequence.
    rank = call.context.rank(sample)
    column = relay.sum(relay.zeros_like(sample), list(range(1, rank)), keepdims=False)
    column = relay.reshape(column, (-1,) + (1,) * len(size))
    return relay.add(column, relay.zeros((1, *size), call.dtype))


@dataclass
class Run:
    """The result of a recurrent layer: the outputs of all steps in the sequence's order, or the last output;
    and the final states.
    """

    outputs: Expr
    states: list[Expr]


def run(call: Call, of: Any, x: Expr, states: Sequence[Expr] | None, mask: Expr | None) -> Run:
    """Apply a recurrent layer `of` to a sequence (batch, time, …) in Keras's order."""
    if getattr(of, "stateful", False):
        raise RelayError(
            f"`{of.name}` is stateful: it keeps its state from one run to the next; a Relay program has no "
            "such state",
            help=["build the layer with stateful=False, and pass initial_state as an input of the model"],
        )
    rank = call.context.rank(x)
    sequence = relay.transpose(x, (1, 0, *range(2, rank)))
    sample = relay.squeeze(relay.strided_slice(x, [0], [1], axes=[1]), [1])
    cell = cell_of(call, of.cell, sample)
    initial = list(states) if states else [_zeros(call, sample, size) for size in cell.state_sizes]
    if len(initial) != len(cell.state_sizes):
        raise RelayError(
            f"`{of.name}` has {counted(len(cell.state_sizes), 'state')}, but is called with {len(initial)}"
        )
    every = bool(getattr(of, "return_sequences", False))
    backwards = bool(getattr(of, "go_backwards", False))
    if mask is None:
        outputs, final = scan(
            call.context, [sequence], initial, lambda at, now: cell.step(at[0], now), backwards, every
        )
    else:
        zeroed = bool(getattr(of, "zero_output_for_mask", False))
        outputs, final = _masked(call, cell, sequence, sample, initial, mask, backwards, every, zeroed)
    if every:
        outputs = relay.transpose(outputs, (1, 0, *range(2, call.context.rank(outputs))))
    return Run(outputs, final)


def _masked(
    call: Call, cell: Cell, sequence: Expr, sample: Expr, initial: list[Expr], mask: Expr, backwards: bool,
    every: bool, zeroed: bool,
) -> tuple[Expr, list[Expr]]:  # fmt: skip
    """Skip the steps that the mask excludes: they keep the states, and repeat the output before them."""
    first, _ = cell.step(sample, initial)
    blank = relay.zeros_like(first)

    def step(at: Sequence[Expr], now: Sequence[Expr]) -> tuple[Expr, Sequence[Expr]]:
        previous, *states = now
        counts = at[1]
        output, following = cell.step(at[0], states)

        def chosen(new: Expr, old: Expr) -> Expr:
            rank = call.context.rank(new)
            return relay.where(relay.reshape(counts, (-1,) + (1,) * (rank - 1)), new, old)

        output = chosen(output, blank if zeroed else previous)
        return output, [output, *[chosen(new, old) for new, old in zip(following, states)]]

    outputs, final = scan(
        call.context, [sequence, relay.transpose(mask, (1, 0))], [blank, *initial], step, backwards, every
    )
    return outputs, final[1:]


def mask_argument(call: Call) -> Expr | None:
    """Return the mask of the first operand: the one that is passed, or that of its value."""
    argument_value = call.argument("mask")
    if isinstance(argument_value, Value):
        return argument_value.expr
    if argument_value is not None:
        raise RelayError(f"the mask of `{call.layer.name}` must be one tensor")
    return call.value(0).mask


def initial_states(call: Call) -> list[Expr] | None:
    """Return the states that are passed to a call: by name, or after the sequence in a list."""
    argument_value = call.argument("initial_state")
    if argument_value is None:
        sequences = call.arguments.get("sequences", call.arguments.get("inputs"))
        if isinstance(sequences, (list, tuple)) and len(sequences) > 1:
            argument_value = list(sequences[1:])
    if argument_value is None:
        return None
    argument_value = argument_value if isinstance(argument_value, (list, tuple)) else [argument_value]
    flat = [
        part for state in argument_value for part in (state if isinstance(state, (list, tuple)) else [state])
    ]
    return [call.cast(call.last(state)) for state in flat]


@layer("SimpleRNN", "LSTM", "GRU", "RNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", uses_mask=True)
def _recurrent(call: Call) -> Results:
    mask = mask_argument(call)
    result = run(call, call.layer, call[0], initial_states(call), mask)
    every = bool(call.attr("return_sequences"))
    # Keras returns the outputs in the order in which the layer computed them.
    backwards = every and bool(call.attr("go_backwards"))
    outputs = Value(
        relay.reverse(result.outputs, 1) if backwards else result.outputs, mask=mask if every else None
    )
    if call.attr("return_state", False):
        return [outputs, *result.states]
    return outputs
