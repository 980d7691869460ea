"""The data of the compare view: two programs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Annotated, ClassVar, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..fates import Fate
from ..format import Passage, Remark, Row, Sentence, View, spoken
from ..ir.format import IRView
from ..schema import Amount, Count, Flat, OneOf, Size, Wire

RowOfSide = Annotated[int, Count(-1)]
PairOrNone = Annotated[int, Count(-1)]


class Differs(IntEnum):
    """What of two expressions differs. A pair has the sum of those that apply."""

    OPERATOR = 1
    ATTRIBUTES = 2
    OPERANDS = 4
    TYPE = 8
    VALUE = 16


class DifferenceKind(IntEnum):
    """The kind of a difference; the first one is the summary."""

    SUMMARY = 0
    SIGNATURE = 1
    TYPES = 2
    CHANGED = 3
    REMOVED = 4
    ADDED = 5
    MOVED = 6


class Unit(IntEnum):
    """What a measure counts."""

    NUMBER = 0
    BYTES = 1


class Pair(NamedTuple):
    """Two rows side by side, of A and of B (-1: none on that side), their fate, and what differs (see
    `Differs`). A row that moved occurs twice, once on each side; `other` is the pair of its other half.
    """

    a: RowOfSide
    b: RowOfSide
    fate: Annotated[int, OneOf(Fate)]
    differs: Amount
    other: PairOrNone


class Difference(NamedTuple):
    """A difference, in the pairs from `first` to `last`; the summary has none (-1)."""

    mark: Annotated[int, OneOf(DifferenceKind)]
    first: PairOrNone
    last: PairOrNone
    say: Sentence


class OperatorCount(NamedTuple):
    """How often A and B call an operator."""

    name: str
    a: Amount
    b: Amount


class Measure(NamedTuple):
    """A size or cost of A and of B."""

    name: str
    unit: Annotated[int, OneOf(Unit)]
    a: Amount
    b: Amount


@dataclass(frozen=True)
class CompareView(View):
    """Two programs, A and B, each with its graph. `partners` has, for each node of A, the corresponding node
    of B or -1. The first of the `differences` is the summary; those of signatures come before the others.
    `passes` is the pipeline, as text, that makes B of A, where a pipeline produced B.
    """

    kind: ClassVar[str] = "compare"
    a: IRView
    b: IRView
    same: bool
    pairs: Annotated[tuple[Pair, ...], Flat()]
    partners: tuple[Annotated[int, Count(-1)], ...]
    differences: Annotated[tuple[Difference, ...], Size(least=1)]
    counts: tuple[OperatorCount, ...]
    measures: tuple[Measure, ...]
    passes: Annotated[str | None, Wire(omitted=True)] = None

    def programs(self) -> tuple[tuple[Row, ...], ...]:
        return self.a.rows, self.b.rows

    def passages(self) -> Iterator[Passage | Remark]:
        """Iterate over the differences, then the rows that differ, as a unified difference."""
        yield from (Remark(0, spoken(difference.say)) for difference in self.differences[1:13])
        rows: list[Row] = []
        notes: list[str] = []
        for a, b, fate, _, _ in self.pairs:
            if fate == Fate.KEPT:
                continue
            for row, side, number in ((a, self.a, "A"), (b, self.b, "B")):
                if row >= 0:
                    rows.append(side.rows[row])
                    notes.append(f"only in {number}" if min(a, b) < 0 and fate != Fate.MOVED else number)
        yield Passage(rows, notes)

    first_step = 0

    def story(self) -> list[Sentence]:
        return [difference.say for difference in self.differences]

    def last_step(self, state: Mapping[str, str]) -> int:
        """Return the number of differences: the summary is step 0."""
        return len(self.differences) - 1
