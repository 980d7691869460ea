"""The data of the view of a partial evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Annotated, ClassVar, Literal, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..format import Passage, Remark, Sentence, View
from ..schema import (
    Amount,
    Flat,
    Index,
    OneOf,
    RowIndex,
    RowOrNone,
    Size,
    Spread,
    as_object,
)

ProgramRow = Annotated[int, Index("split")]
ProgramRowOrNone = Annotated[int, Index("split", none=True)]
StepIndex = Annotated[int, Index("steps")]
FrameIndex = Annotated[int, Index("frames")]


class PartialMark(IntEnum):
    """The kind of a step."""

    BEGIN = 0
    COMPUTED = 1
    BUILT = 2
    KEPT = 3
    EFFECT = 4
    INLINED = 5
    UNROLLED = 6
    RETURNED = 7
    DECIDED = 8
    UNDECIDED = 9
    REFUSED = 10
    END = 11
    GAP = 12


class State(IntEnum):
    """How much of a value is static, or that it is the result of an effect, which is never moved."""

    KNOWN = 0
    PART = 1
    UNKNOWN = 2
    EFFECT = 3


class Bound(NamedTuple):
    """The program's row `at` gets a value in a frame; `row` of the residual program computes it."""

    tag: Literal["b"]
    frame: FrameIndex
    at: ProgramRow
    state: State
    text: str
    row: RowOrNone


class CellValue(NamedTuple):
    """A cell, and its static content."""

    cell: str
    text: str


class Cells(NamedTuple):
    """The static contents of cells from now on; the contents of all other cells are dynamic."""

    tag: Literal["c"]
    held: Annotated[tuple[CellValue, ...], Flat(), Spread()]


class PartialStep(NamedTuple):
    """One decision about the row `row`, in `frame`. `block` is the row of the branch that is entered."""

    mark: Annotated[int, OneOf(PartialMark)]
    row: ProgramRowOrNone
    frame: FrameIndex
    say: Sentence
    block: ProgramRowOrNone = -1
    changes: tuple[Bound | Cells, ...] = ()

    @property
    def bound(self) -> tuple[Bound, ...]:
        """The rows that get a value."""
        return tuple(change for change in self.changes if isinstance(change, Bound))

    @property
    def cells(self) -> Cells | None:
        """The static contents of cells, if the step changes them."""
        return next((change for change in self.changes if isinstance(change, Cells)), None)


class PartialFrame(NamedTuple):
    """A function being evaluated: its name and rows, its caller and the row of the call, its recursion depth
    (`turn`), and its first and last step.
    """

    name: str
    first: ProgramRowOrNone
    last: ProgramRowOrNone
    caller: Annotated[int, Index("frames", none=True, order="earlier")]
    call: ProgramRowOrNone
    turn: Amount
    begins: StepIndex
    ends: StepIndex


class ResidualRow(NamedTuple):
    """A row of the residual program: after which step it exists, the row that it came from (-1: none), and
    whether it is needed.
    """

    born: StepIndex
    source: ProgramRowOrNone
    needed: bool


class Item(NamedTuple):
    """What a token names: the row that defines it, in its own program, and its name, or ""."""

    row: RowIndex
    name: str


class Gap(NamedTuple):
    """Step `step` stands for `left_out` steps that are not in the data."""

    step: StepIndex
    left_out: Amount


@as_object
class PartialTotals(NamedTuple):
    """Totals of the whole run: the work done at compile time, and the length of the residual program."""

    steps: Amount
    computed: Amount
    decided: Amount
    inlined: Amount
    kept: Amount
    needed: Amount


@dataclass(frozen=True)
class PartialView(View):
    """A function evaluated as far as its data are static, and the residual program. The rows are the
    program's, and from `split` on those of the residual program; `items` are the rows that tokens refer to,
    with their names.
    """

    kind: ClassVar[str] = "partial"
    split: Amount
    items: tuple[Item, ...]
    residual: Annotated[tuple[ResidualRow, ...], Flat()]
    frames: tuple[PartialFrame, ...]
    steps: Annotated[tuple[PartialStep, ...], Size(least=1)]
    totals: PartialTotals
    start: StepIndex
    gap: Gap | None = None

    def opening(self) -> str:
        match self.steps[self.start].mark:
            case PartialMark.UNROLLED:
                return "the first recursive call, which is unrolled"
            case PartialMark.DECIDED:
                return "the first choice that depends on static data alone"
            case PartialMark.COMPUTED:
                return "the first operator that is computed at compile time"
            case PartialMark.KEPT:
                return "the first operation whose data are dynamic"
        return ""

    def notes(self) -> dict[int, str]:
        """Return, by row of the program, its value and how much of it was static; for a row that was
        evaluated several times, how often it was static.
        """
        by_row: dict[int, list[Bound]] = {}
        for step in self.steps:
            for bound in step.bound:
                by_row.setdefault(bound.at, []).append(bound)
        return {row: _noted(all_of) for row, all_of in by_row.items()}

    def beside(self) -> dict[int, str]:
        return self.notes()

    def passages(self) -> Iterator[Passage | Remark]:
        """Iterate over the program with its static values, which takes up to half of the picture, and the
        residual program without unused bindings.
        """
        beside = self.beside()
        notes = [beside.get(number, "") for number in range(len(self.rows))]
        yield Passage(self.rows[: self.split], notes[: self.split], half=True)
        yield Remark(0, "Residual program:")
        needed = [number for number, row in enumerate(self.residual, self.split) if row.needed]
        yield Passage([self.rows[number] for number in needed], [notes[number] for number in needed])

    first_step: ClassVar[int] = 1

    def story(self) -> list[Sentence]:
        return [step.say for step in self.steps]


def _noted(all_of: list[Bound]) -> str:
    if len(all_of) == 1:
        (bound,) = all_of
        return f"{_WORDS[bound.state]}: {bound.text}" if bound.text != _LATER else bound.text
    states = [bound.state for bound in all_of]
    return ", ".join(f"{word} ×{states.count(s)}" for s, word in _WORDS.items() if s in states)


_WORDS = dict(zip(State, ("static", "partly static", "dynamic", "effect"), strict=True))
_LATER = "dynamic"
