"""The memory view, as `frontend/FORMAT.md` describes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, NamedTuple

from ..format import Interner, Json, Sentence, View


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


class MemoryValue(NamedTuple):
    """A tensor of the program: its row, what it is called and what makes it, its type and size. `origin` is 0
    for what is computed, 1 for a parameter, 2 for a constant.
    """

    row: int
    name: str
    label: str
    type: str
    bytes: int
    origin: int


class Life(NamedTuple):
    """A tensor that is stored: the steps that make it and need it last, its buffer, the `bytes` that it takes
    there, why it has that buffer, and the life that had the buffer before (-1: none).
    """

    value: int
    made: int
    last: int
    buffer: int
    bytes: int
    rule: int
    before: int
    name: str


class MemoryStep(NamedTuple):
    """A moment: the lives that it begins, reads and ends, and the values that it is about."""

    mark: MemoryMark
    label: str
    say: Sentence
    makes: tuple[int, ...] = ()
    reads: tuple[int, ...] = ()
    frees: tuple[int, ...] = ()
    values: tuple[int, ...] = ()


class MemoryTotals(NamedTuple):
    """Bytes: the most in use at once, what the buffers take together, what would be taken if none were used
    twice; what parameters and constants take outside of the buffers; and what stretches of addresses would
    take instead of whole buffers (None where that is not known).
    """

    peak: int
    arena: int
    total: int
    outside: int
    packed: int | None


class MemoryVariant(NamedTuple):
    """One plan: `buffers` are offsets and sizes, `live` the bytes in use during each step, `inside` values
    that are never stored, each with the step in whose kernel it is.
    """

    say: Sentence
    steps: tuple[MemoryStep, ...]
    lives: tuple[Life, ...]
    buffers: tuple[tuple[int, int], ...]
    live: tuple[int, ...]
    inside: tuple[tuple[int, int], ...]
    totals: MemoryTotals


@dataclass(frozen=True)
class MemoryView(View):
    """A function's values in memory, under several plans. `same` are rows that give another name, or another
    shape, to a value that is stored anyway, each with that value. `grid` has the variant for each combination
    of what can be chosen, the last of the `axes` running fastest.
    """

    kind: ClassVar[str] = "memory"
    values: tuple[MemoryValue, ...]
    rules: tuple[str, ...]
    same: tuple[tuple[int, int], ...]
    axes: tuple[tuple[str, tuple[str, ...]], ...]
    grid: tuple[int, ...]
    variants: tuple[MemoryVariant, ...]

    def _fields(self, s: Interner) -> dict[str, Json]:
        return {
            "values": [[v.row, s(v.name), s(v.label), s(v.type), v.bytes, v.origin] for v in self.values],
            "rules": [s(rule) for rule in self.rules],
            "same": [number for pair in self.same for number in pair],
            "axes": [[s(name), [s(choice) for choice in choices]] for name, choices in self.axes],
            "grid": list(self.grid),
            "variants": [_variant(v, s) for v in self.variants],
        }


def _variant(v: MemoryVariant, s: Interner) -> Json:
    return {
        "say": s.sentence(v.say),
        "steps": [
            [
                int(t.mark), s(t.label), s.sentence(t.say), list(t.makes), list(t.reads), list(t.frees),
                list(t.values),
            ]
            for t in v.steps
        ],
        "lives": [[*life[:-1], s(life.name)] for life in v.lives],
        "buffers": [list(buffer) for buffer in v.buffers],
        "live": list(v.live),
        "inside": [number for pair in v.inside for number in pair],
        "totals": v.totals._asdict(),
    }  # fmt: skip
