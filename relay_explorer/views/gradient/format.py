"""The data of the gradient view: a function beside its derivative."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, ClassVar, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..format import Sentence, Token, View
from ..schema import Amount, Flat, Index, OneOf, RowIndex, SentenceOrNone, Size, Wire, as_object
from ..words import counted

ValueIndex = Annotated[int, Index("values")]
LineIndex = Annotated[int, Index("lines")]
LineOrNone = Annotated[int, Index("lines", none=True)]


class GradientMark(IntEnum):
    """The kind of a step of the backward pass."""

    BEGIN = 0
    SEED = 1
    RULE = 2
    SUM = 3
    PASSED = 4
    ARRIVED = 5
    END = 6


class Role(IntEnum):
    """The purpose of a line of the backward pass."""

    BEGINNING = 0
    SUM = 1
    RULE = 2
    ZEROS = 3


class Kept(IntEnum):
    """What the backward pass uses of a forward value."""

    NOT = 0
    NUMBERS = 1
    SHAPE = 2


class Value(NamedTuple):
    """A parameter or a binding of the forward program: what is stored of it, the line that computes its
    complete derivative (-1: none), and the values that use it.
    """

    row: RowIndex
    name: str
    label: str
    type: str
    bytes: Amount
    given: bool
    kept: Kept
    derivative: LineOrNone
    users: tuple[Annotated[int, Index("values", order="later")], ...]


class Use(NamedTuple):
    """A forward value that a line uses, and how."""

    value: ValueIndex
    how: Kept


class Line(NamedTuple):
    """A binding that the backward pass adds, beside the value to whose rule or sum it belongs."""

    value: ValueIndex
    role: Role
    tokens: Annotated[tuple[Token, ...], Flat()]
    name: str
    type: str
    flops: Amount
    bytes: Amount
    uses: Annotated[tuple[Use, ...], Flat()]


class Handed(NamedTuple):
    """A derivative that a step passes on: to which value, and the line that computes it (-1: unchanged)."""

    value: ValueIndex
    line: LineOrNone


class GradientStep(NamedTuple):
    """One expression of the backward pass; `kept` are the stored bytes that later steps still use."""

    mark: Annotated[int, OneOf(GradientMark)]
    value: Annotated[int, Index("values", none=True)]
    say: Sentence
    rule: SentenceOrNone = ()
    lines: tuple[LineIndex, ...] = ()
    came: tuple[ValueIndex, ...] = ()
    to: Annotated[tuple[Handed, ...], Flat()] = ()
    kept: Amount = 0


@as_object
class Work(NamedTuple):
    """Calls of operators, their operations (FLOPs), and the bytes of their results."""

    calls: Amount
    flops: Amount
    bytes: Amount


@as_object
class Held(NamedTuple):
    """A number of values, and their bytes."""

    values: Amount
    bytes: Amount


@dataclass(frozen=True)
class GradientView(View):
    """A function and its derivatives, side by side."""

    kind: ClassVar[str] = "gradient"
    values: tuple[Value, ...]
    lines: tuple[Line, ...]
    steps: Annotated[tuple[GradientStep, ...], Size(least=1)]
    forward: Annotated[Work, Wire(inside="totals")]
    backward: Annotated[Work, Wire(inside="totals")]
    kept: Annotated[Held, Wire(inside="totals")]
    shapes: Annotated[Held, Wire(inside="totals")]

    def beside(self) -> dict[int, str]:
        return {value.row: self._differentiated(value) for value in self.values}

    def _differentiated(self, value: Value) -> str:
        """Name the derivative by a value, and what is stored of the value for the backward pass."""
        parts = [self.lines[value.derivative].name if value.derivative >= 0 else ""]
        if not value.given and value.kept:
            parts.append(
                "its shape" if value.kept == Kept.SHAPE else f"stored: {counted(value.bytes, 'byte')}"
            )
        return ", ".join(filter(None, parts))

    first_step: ClassVar[int] = 1

    def story(self) -> list[Sentence]:
        return [step.say for step in self.steps]
