"""The data of the memory view: the buffer and the lifetime of each value."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Annotated, ClassVar, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..format import Question, Sentence, View
from ..schema import Amount, Flat, Index, OneOf, RowIndex, RowOrNone, Size, as_object
from ..words import counted

LifeIndex = Annotated[int, Index("lives")]
ValueIndex = Annotated[int, Index("values")]
StepIndex = Annotated[int, Index("steps")]


class MemoryMark(IntEnum):
    """What a step does to the memory."""

    BEGIN = 0
    NEW = 1
    AGAIN = 2
    GROWN = 3
    VIEW = 4
    BRANCH = 5
    COPY = 6
    END = 7


class Origin(IntEnum):
    """Where a tensor comes from."""

    COMPUTED = 0
    PARAMETER = 1
    CONSTANT = 2


class MemoryValue(NamedTuple):
    """A tensor of the program: its row, its name, its label (the operator that computes it), its type and
    size. `origin` is 0 for a computed value, 1 for a parameter, 2 for a constant.
    """

    row: RowOrNone
    name: str
    label: str
    type: str
    bytes: Amount
    origin: Annotated[int, OneOf(Origin)]


class Life(NamedTuple):
    """A tensor that is stored: the step that computes it and the last that reads it, its buffer, the `bytes`
    that it takes there, why it has that buffer, and the previous life in that buffer (-1: none).
    """

    value: Annotated[int, Index("values", none=True)]
    made: StepIndex
    last: StepIndex
    buffer: Annotated[int, Index("buffers")]
    bytes: Amount
    rule: Annotated[int, Index("rules")]
    before: Annotated[int, Index("lives", none=True, order="earlier")]
    name: str


class MemoryStep(NamedTuple):
    """A step: the lifetimes that it begins, reads and ends, and the values that it concerns."""

    mark: Annotated[int, OneOf(MemoryMark)]
    label: str
    say: Sentence
    makes: tuple[LifeIndex, ...] = ()
    reads: tuple[LifeIndex, ...] = ()
    frees: tuple[LifeIndex, ...] = ()
    values: tuple[ValueIndex, ...] = ()


@as_object
class MemoryTotals(NamedTuple):
    """Bytes: the peak of live bytes, the size of all buffers, their size without reuse; the size of
    parameters and constants outside of the buffers; and the size of an arena in which values have address
    ranges instead of whole buffers (None if unknown).
    """

    peak: Amount
    arena: Amount
    total: Amount
    outside: Amount
    packed: Amount | None


class Buffer(NamedTuple):
    """A buffer's address range."""

    offset: Amount
    size: Amount


class Inside(NamedTuple):
    """A value that is never stored, and the step in whose kernel it is computed."""

    value: ValueIndex
    step: StepIndex


class Renamed(NamedTuple):
    """A row that gives another name, or another shape, to a value that is stored anyway."""

    row: RowIndex
    value: ValueIndex


class Axis(NamedTuple):
    """A choice between plans: its name, and the alternatives."""

    name: str
    choices: Annotated[tuple[str, ...], Size(least=1)]


@as_object
class MemoryVariant(NamedTuple):
    """One plan: `buffers` are offsets and sizes, `live` the bytes in use during each step, `inside` values
    that are never stored, each with the step in whose kernel it is.
    """

    say: Sentence
    steps: Annotated[tuple[MemoryStep, ...], Size(least=2)]
    lives: tuple[Life, ...]
    buffers: tuple[Buffer, ...]
    live: Annotated[tuple[Amount, ...], Size("steps")]
    inside: Annotated[tuple[Inside, ...], Flat()]
    totals: MemoryTotals


@dataclass(frozen=True)
class MemoryView(View):
    """A function's values in memory, under several plans. `same` are rows that give another name, or another
    shape, to a value that is stored anyway, each with that value. `grid` has the variant for each combination
    of choices, with the last of the `axes` varying fastest.
    """

    kind: ClassVar[str] = "memory"
    choice_key: ClassVar[str] = "plan"
    values: tuple[MemoryValue, ...]
    rules: tuple[str, ...]
    same: Annotated[tuple[Renamed, ...], Flat()]
    axes: tuple[Axis, ...]
    grid: tuple[Annotated[int, Index("variants")], ...]
    variants: Annotated[tuple[MemoryVariant, ...], Size(least=1)]

    def questions(self) -> tuple[Question, ...]:
        return tuple(Question(axis.name, axis.choices) for axis in self.axes)

    def beside(self) -> dict[int, str]:
        """Return, by row, the buffer and the lifetime of its values."""
        stored: dict[int, list[str]] = {}
        for life in self.variants[0].lives:
            if life.value >= 0 and (row := self.values[life.value].row) >= 0:
                stored.setdefault(row, []).append(
                    f"b{life.buffer}, {counted(life.bytes, 'byte')}, steps {life.made} to {life.last}"
                )
        return {row: "; ".join(texts) for row, texts in stored.items()}

    def story(self) -> list[Sentence]:
        return [step.say for step in self.variants[0].steps]

    def last_step(self, state: Mapping[str, str]) -> int:
        """Return the number of the last step of the chosen plan. Step 0 is before the first operator."""
        asked = [int(part) if part.isdecimal() else 0 for part in state.get("plan", "").split(".")]
        place = 0
        for number, axis in enumerate(self.axes):
            choice = asked[number] if number < len(asked) else 0
            place = place * len(axis.choices) + (choice if choice < len(axis.choices) else 0)
        return len(self.variants[self.grid[place]].steps) - 1
