"""The evaluation view, as `frontend/FORMAT.md` describes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, NamedTuple

from ..format import Interner, Json, Sentence, View

Shown = int | str  # an object's number, or the text of a value without identity


class EvaluationMark(IntEnum):
    """What a step of an evaluation does."""

    BEGIN = 0
    VALUE = 1
    CALL = 2
    TAIL_CALL = 3
    RETURN = 4
    CHOICE = 5
    FUNCTION = 6
    CELL = 7
    FAILURE = 8
    END = 9
    GAP = 10


class NameRow(NamedTuple):
    """What can have a value in a frame: its name ("" where it has none), its row, and what it is."""

    name: str
    row: int
    what: str


class ObjectBox(NamedTuple):
    """A thing with an identity. `last` is the last step after which it can still be reached."""

    kind: int
    label: str
    text: str
    type: str
    parts: tuple[tuple[str, Shown, int], ...]
    row: int
    step: int
    last: int
    bytes: int


class FrameBox(NamedTuple):
    """An activation: whose, its rows, who waits for it and where, whose place it took, and from when to when
    it lives.
    """

    name: str
    first: int
    last: int
    caller: int
    call_row: int
    before: int
    turn: int
    entered: int
    left: int


class EvaluationStep(NamedTuple):
    """One step: the sentence, the earlier steps that it used, and what it changed."""

    mark: int
    row: int
    frame: int
    say: Sentence
    because: tuple[int, ...]
    changes: tuple[EvaluationChange, ...]


# Numbers as they are; a value, the last of "b", "e" and "w", may be a text.
EvaluationChange = tuple[Shown, ...]


class Failure(NamedTuple):
    """Why a run went wrong."""

    step: int
    row: int
    say: Sentence
    notes: tuple[Sentence, ...]
    tries: tuple[Sentence, ...]


class Gap(NamedTuple):
    """Step `step` stands for `left_out` steps that are not in the data."""

    step: int
    left_out: int
    say: Sentence


class Live(NamedTuple):
    """What a live widget may ask to be changed: the number of steps, and the arguments as texts."""

    limit: int
    args: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class EvaluationView(View):
    """A recorded run, step by step. `totals` are of the whole run."""

    kind: ClassVar[str] = "evaluation"
    names: tuple[NameRow, ...]
    objects: tuple[ObjectBox, ...]
    frames: tuple[FrameBox, ...]
    steps: tuple[EvaluationStep, ...]
    args: tuple[tuple[str, Shown], ...]
    result: Shown | None
    failure: Failure | None
    gap: Gap | None
    totals: dict[str, int]
    start: int
    live: Live | None = None

    def last_values(self) -> dict[int, str]:
        """By row: the value that it had last, in whichever frame."""
        found: dict[int, str] = {}
        for step in self.steps:
            for change in step.changes:
                if change[0] == "b":
                    _, _, name, value = change
                    assert isinstance(name, int)
                    found[self.names[name].row] = (
                        value if isinstance(value, str) else self.objects[value].text
                    )
        found.pop(-1, None)
        return found

    def _fields(self, s: Interner) -> dict[str, Json]:
        def shown(value: Shown) -> int:
            return value if isinstance(value, int) else -1 - s(value)

        failure, gap, live = self.failure, self.gap, self.live
        return {
            "names": [[s(n.name), n.row, s(n.what)] for n in self.names],
            "objects": [
                [
                    o.kind, s(o.label), s(o.text), s(o.type), [[s(n), shown(v), r] for n, v, r in o.parts],
                    o.row, o.step, o.last, o.bytes,
                ]
                for o in self.objects
            ],
            "frames": [[s(f.name), *f[1:]] for f in self.frames],
            "steps": [
                [
                    int(t.mark), t.row, t.frame, s.sentence(t.say), list(t.because),
                    [[c[0], *map(shown, c[1:])] for c in t.changes],
                ]
                for t in self.steps
            ],
            "args": [[s(name), shown(value)] for name, value in self.args],
            "result": None if self.result is None else shown(self.result),
            "failure": None if failure is None else {
                "step": failure.step, "row": failure.row, "say": s.sentence(failure.say),
                "notes": [s.sentence(n) for n in failure.notes],
                "try": [s.sentence(t) for t in failure.tries],
            },
            "gap": None if gap is None else {
                "step": gap.step, "count": gap.left_out, "say": s.sentence(gap.say),
            },
            "totals": self.totals,
            "start": self.start,
            "live": None if live is None else {
                "limit": live.limit, "args": [[s(name), s(text)] for name, text in live.args],
            },
        }  # fmt: skip
