"""The sharing view, as `frontend/FORMAT.md` describes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from ..format import Interner, Json, Sentence, View


class Key(NamedTuple):
    """What is computed, the same in all forms: its name in the first, and the expression."""

    name: str
    what: str


class Item(NamedTuple):
    """An expression of a form: how often it was evaluated, the bytes of one value, and of each run the step
    that made the value and the last that needs it.
    """

    key: int
    row: int
    runs: int
    bytes: int
    lives: tuple[tuple[int, int], ...]


class Form(NamedTuple):
    """One way to write the computation. `first` and `last` are its rows (-1: it is too long to be written),
    `steps` those recorded of `total`, `live` the bytes that are needed after each, `peak` the step with most
    and how many.
    """

    name: str
    say: Sentence
    first: int
    last: int
    items: tuple[Item, ...]
    steps: int
    total: int
    live: tuple[int, ...]
    peak: tuple[int, int]


@dataclass(frozen=True)
class SharingView(View):
    """A computation as a graph, with `let`, and written out."""

    kind: ClassVar[str] = "sharing"
    keys: tuple[Key, ...]
    forms: tuple[Form, ...]

    def _fields(self, s: Interner) -> dict[str, Json]:
        return {
            "keys": [[s(k.name), s(k.what)] for k in self.keys],
            "forms": [
                {
                    "name": s(f.name), "say": s.sentence(f.say), "rows": [f.first, f.last],
                    "items": [
                        [i.key, i.row, i.runs, i.bytes, [step for life in i.lives for step in life]]
                        for i in f.items
                    ],
                    "steps": f.steps, "total": f.total, "live": list(f.live), "peak": list(f.peak),
                }
                for f in self.forms
            ],
        }  # fmt: skip
