"""Recurrent layers: one step for each element of a sequence.

A short sequence of known length is unrolled: the compiler then fuses the steps' operators with one another
and knows every shape. A long one would make the program long, so it becomes a loop, a tail-recursive
function, as does a sequence whose length is known only at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.expr import Expr, Var, const
from ...ops import namespaces as relay
from .context import Context
from .loops import while_loop

UNROLLED = 64  # steps of the longest sequence that is unrolled

Step = Callable[[Sequence[Expr], Sequence[Expr]], tuple[Expr, Sequence[Expr]]]
"""Given the elements of the sequences at one time and the states, return the output and the new states."""


def scan(
    context: Context,
    sequences: Sequence[Expr],
    states: Sequence[Expr],
    step: Step,
    backwards: bool = False,
    every: bool = True,
) -> tuple[Expr, list[Expr]]:
    """Apply `step` along the first axis of `sequences`; return the outputs and the final states.

    `backwards` starts with the last element; the outputs are in the order of the sequences all the same. If
    `every` is false, the result has only the output of the last step, without an axis for time.
    """
    length = context.shape(sequences[0])[0]
    if isinstance(length, int) and 0 < length <= UNROLLED:
        return _unrolled(context, length, sequences, list(states), step, backwards, every)
    count = length if isinstance(length, int) else None
    return _looped(context, count, sequences, states, step, backwards, every)


def _unrolled(
    context: Context,
    length: int,
    sequences: Sequence[Expr],
    states: list[Expr],
    step: Step,
    backwards: bool,
    every: bool,
) -> tuple[Expr, list[Expr]]:
    parts = [
        [relay.squeeze(part, [0]) for part in relay.split(sequence, length)]
        if length > 1
        else [relay.squeeze(sequence, [0])]
        for sequence in sequences
    ]
    outputs: list[Expr] = []
    for time in reversed(range(length)) if backwards else range(length):
        output, following = step([part[time] for part in parts], states)
        states = list(following)
        context.type(output)
        outputs.append(output)
    if not every:
        return outputs[-1], states
    return relay.stack(outputs[::-1] if backwards else outputs, 0), states


def _looped(
    context: Context,
    length: int | None,
    sequences: Sequence[Expr],
    states: Sequence[Expr],
    step: Step,
    backwards: bool,
    every: bool,
) -> tuple[Expr, list[Expr]]:
    count: Expr
    if length is None:
        count = relay.take(relay.shape_of(sequences[0], dtype="int32"), const(0, "int32"), 0)
    else:
        count = const(length, "int32")
    sample = [relay.take(sequence, const(0, "int32"), 0) for sequence in sequences]
    output, _ = step(sample, states)
    start = _zeros(context, sequences[0], output) if every else relay.zeros_like(output)

    def running(variables: Sequence[Var]) -> Expr:
        return relay.less(variables[0], count)

    def body(variables: Sequence[Var]) -> Sequence[Expr]:
        index, gathered, *current = variables
        one = const(1, "int32")
        time = relay.subtract(relay.subtract(count, one), index) if backwards else index
        output, following = step([relay.take(sequence, time, 0) for sequence in sequences], current)
        if every:
            place = relay.reshape(relay.cast(time, "int64"), (1, 1))
            output = relay.scatter_nd(gathered, place, relay.expand_dims(output, 0), "update")
        return [relay.add(index, one), output, *following]

    initial = [("index", const(0, "int32")), ("outputs", start)]
    initial += [(f"state_{number}", state) for number, state in enumerate(states)]
    _, outputs, *final = while_loop(context, "steps", initial, running, body)
    return outputs, final


def _zeros(context: Context, sequence: Expr, output: Expr) -> Expr:
    """Return zeros in the shape of the outputs of all steps, with the length of `sequence`."""
    shape, dtype = (context.shape(sequence)[0], *context.shape(output)), context.dtype(output)
    if all(isinstance(extent, int) for extent in shape):
        return relay.zeros(shape, dtype)  # type: ignore[arg-type]  # ints
    column = sequence
    while context.rank(column) > 1:
        column = relay.take(column, const(0, "int32"), axis=1)
    steps = relay.cast(relay.zeros_like(column), dtype)
    rank = context.rank(output)
    return relay.add(relay.expand_dims(steps, 1, rank) if rank else steps, relay.zeros_like(output))
