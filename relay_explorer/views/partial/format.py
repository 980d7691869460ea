"""The view of a partial evaluation, as `frontend/FORMAT.md` describes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, NamedTuple

from ..format import Interner, Json, Sentence, View


class PartialMark(IntEnum):
    """What a step is."""

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
    """How much of a value is known beforehand; or it is that of an effect, which stays where it is."""

    KNOWN = 0
    PART = 1
    UNKNOWN = 2
    EFFECT = 3


class Bound(NamedTuple):
    """In the frame, the row has this value: `row` is the one of the residual program that computes it."""

    frame: int
    at: int
    state: State
    text: str
    row: int


class Cells(NamedTuple):
    """What cells are known to hold from now on: of each its name, and that."""

    held: tuple[tuple[str, str], ...]


class PartialStep(NamedTuple):
    """One decision about the row `row`, in `frame`. `block` is the row of the branch that is gone into."""

    mark: PartialMark
    row: int
    frame: int
    say: Sentence
    bound: tuple[Bound, ...] = ()
    cells: Cells | None = None
    block: int = -1


class PartialFrame(NamedTuple):
    """A function being evaluated: whose rows, who called it and where, in which round of itself, from which
    step to which.
    """

    name: str
    first: int
    last: int
    caller: int
    call: int
    turn: int
    begins: int
    ends: int


class ResidualRow(NamedTuple):
    """A row of the residual program: after which step it is there, the row that it came from (-1: none), and
    whether something asks for it.
    """

    born: int
    source: int
    needed: bool


class PartialTotals(NamedTuple):
    """Over the whole run: how much was computed beforehand, and how long what remains is."""

    steps: int
    computed: int
    decided: int
    inlined: int
    kept: int
    needed: int


@dataclass(frozen=True)
class PartialView(View):
    """A function run as far as its data is known, and what remains. The rows are the program's, and from
    `split` on those of the residual program; `items` are what tokens name: each its row and name.
    """

    kind: ClassVar[str] = "partial"
    split: int
    items: tuple[tuple[int, str], ...]
    residual: tuple[ResidualRow, ...]
    frames: tuple[PartialFrame, ...]
    steps: tuple[PartialStep, ...]
    totals: PartialTotals
    start: int
    gap: tuple[int, int] | None = None

    def notes(self) -> dict[int, str]:
        """By row of the program, how much of it was known: in each of its evaluations, or its only value."""
        found: dict[int, list[Bound]] = {}
        for step in self.steps:
            for bound in step.bound:
                found.setdefault(bound.at, []).append(bound)
        return {row: _noted(all_of) for row, all_of in found.items()}

    def _fields(self, s: Interner) -> dict[str, Json]:
        return {
            "split": self.split,
            "items": [[row, s(name)] for row, name in self.items],
            "residual": [value for r in self.residual for value in (r.born, r.source, int(r.needed))],
            "frames": [[s(f.name), *f[1:]] for f in self.frames],
            "steps": [
                [int(t.mark), t.row, t.frame, s.sentence(t.say), t.block, _changes(t, s)] for t in self.steps
            ],
            "totals": self.totals._asdict(),
            "start": self.start,
            "gap": None if self.gap is None else list(self.gap),
        }


def _noted(all_of: list[Bound]) -> str:
    if len(all_of) == 1:
        (bound,) = all_of
        return f"{_WORDS[bound.state]}: {bound.text}" if bound.text != _LATER else bound.text
    states = [bound.state for bound in all_of]
    return ", ".join(f"{word} ×{states.count(s)}" for s, word in _WORDS.items() if s in states)


_WORDS = dict(zip(State, ("known", "known in part", "run time", "effect"), strict=True))
_LATER = "run time"


def _changes(step: PartialStep, s: Interner) -> list[Json]:
    found: list[Json] = [["b", b.frame, b.at, int(b.state), s(b.text), b.row] for b in step.bound]
    if step.cells is not None:
        found.append(["c", *[number for name, held in step.cells.held for number in (s(name), s(held))]])
    return found
