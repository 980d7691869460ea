"""The gradient view, as `frontend/FORMAT.md` describes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, NamedTuple

from ..format import Interner, Json, Sentence, Token, View


class GradientMark(IntEnum):
    """What a step of the way back is."""

    BEGIN = 0
    SEED = 1
    RULE = 2
    SUM = 3
    PASSED = 4
    ARRIVED = 5
    END = 6


class Role(IntEnum):
    """What a line of the way back is there for."""

    BEGINNING = 0
    SUM = 1
    RULE = 2
    ZEROS = 3


class Kept(IntEnum):
    """What of a forward value the way back uses."""

    NOT = 0
    NUMBERS = 1
    SHAPE = 2


class Value(NamedTuple):
    """A parameter or a binding of the forward program: what is kept of it, the line that is its whole
    derivative (-1: none), and the values that use it.
    """

    row: int
    name: str
    label: str
    type: str
    bytes: int
    given: bool
    kept: Kept
    derivative: int
    users: tuple[int, ...]


class Use(NamedTuple):
    """A forward value that a line uses, and how."""

    value: int
    how: Kept


class Line(NamedTuple):
    """A binding that the way back adds, beside the value whose rule or sum it belongs to."""

    value: int
    role: Role
    tokens: tuple[Token, ...]
    name: str
    type: str
    flops: int
    bytes: int
    uses: tuple[Use, ...]


class Handed(NamedTuple):
    """What a step hands on: to which value, in which line (-1: unchanged)."""

    value: int
    line: int


class GradientStep(NamedTuple):
    """One expression of the way back; `kept` are the bytes that later steps still use."""

    mark: GradientMark
    value: int
    say: Sentence
    rule: Sentence = ()
    lines: tuple[int, ...] = ()
    came: tuple[int, ...] = ()
    to: tuple[Handed, ...] = ()
    kept: int = 0


class Work(NamedTuple):
    """Calls of operators, what they compute (FLOPs), and the bytes of their values."""

    calls: int
    flops: int
    bytes: int


class Held(NamedTuple):
    """A number of values, and their bytes."""

    values: int
    bytes: int


@dataclass(frozen=True)
class GradientView(View):
    """A function and its derivatives, side by side."""

    kind: ClassVar[str] = "gradient"
    values: tuple[Value, ...]
    lines: tuple[Line, ...]
    steps: tuple[GradientStep, ...]
    forward: Work
    backward: Work
    kept: Held
    shapes: Held

    def _fields(self, s: Interner) -> dict[str, Json]:
        return {
            "values": [
                [
                    v.row, s(v.name), s(v.label), s(v.type), v.bytes, int(v.given), int(v.kept), v.derivative,
                    list(v.users),
                ]
                for v in self.values
            ],
            "lines": [
                [
                    n.value, int(n.role), [x for t in n.tokens for x in (int(t.kind), s(t.text), t.ref)],
                    s(n.name), s(n.type), n.flops, n.bytes, [int(x) for use in n.uses for x in use],
                ]
                for n in self.lines
            ],
            "steps": [
                [
                    int(t.mark), t.value, s.sentence(t.say), s.sentence(t.rule) if t.rule else [],
                    list(t.lines), list(t.came), [x for to in t.to for x in to], t.kept,
                ]
                for t in self.steps
            ],
            "totals": {
                "forward": self.forward._asdict(), "backward": self.backward._asdict(),
                "kept": self.kept._asdict(), "shapes": self.shapes._asdict(),
            },
        }  # fmt: skip
