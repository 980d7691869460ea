"""The data of the sharing view: one computation in three forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..format import Sentence, View
from ..schema import Amount, Flat, Index, RowOrNone, Size, Wire, as_object
from ..words import counted


class Key(NamedTuple):
    """A computation that is the same in all forms: its name in the first one, and the expression."""

    name: str
    what: str


class Span(NamedTuple):
    """A value's lifetime: the step that computes it, and the last that needs it."""

    made: Annotated[int, Index("steps")]
    last: Annotated[int, Index("steps")]


class Item(NamedTuple):
    """An expression of a form: how often it was evaluated, the bytes of one value, and for each evaluation
    the step that computed the value and the last that needs it.
    """

    key: Annotated[int, Index("keys")]
    row: RowOrNone
    runs: Amount
    bytes: Amount
    lives: Annotated[tuple[Span, ...], Flat()]

    def measured(self) -> str:
        """Write how often an expression was evaluated, and how long its first value was needed."""
        text = "once" if self.runs == 1 else counted(self.runs, "time")
        if not self.lives:
            return text
        first, last = self.lives[0]
        return f"{text}, {counted(self.bytes, 'byte')}, steps {first} to {last}"


class Peak(NamedTuple):
    """The step with the most bytes in use, and how many."""

    step: Amount
    bytes: Amount


@as_object
class Form(NamedTuple):
    """A form of the computation. `first` and `last` are its rows (-1: it is too long to be shown), `steps` is
    the number of recorded steps, out of `total`, `live` the bytes that are live after each, `peak` the step
    with the most live bytes and their number.
    """

    name: str
    say: Sentence
    first: Annotated[RowOrNone, Wire(span="rows")]
    last: Annotated[RowOrNone, Wire(span="rows")]
    items: tuple[Item, ...]
    steps: Amount
    total: Amount
    live: Annotated[tuple[Amount, ...], Size("steps")]
    peak: Peak


@dataclass(frozen=True)
class SharingView(View):
    """A computation as a graph, with `let`, and expanded into a tree."""

    kind: ClassVar[str] = "sharing"
    keys: tuple[Key, ...]
    forms: tuple[Form, ...]

    def last_step(self, state: Mapping[str, str]) -> int:
        return max((form.steps for form in self.forms), default=0)

    def beside(self) -> dict[int, str]:
        return {item.row: item.measured() for form in self.forms for item in form.items if item.row >= 0}
