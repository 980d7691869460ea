"""Align the final programs of two pipelines that began with the same program."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from ...ir.expr import Expr, Let, Var
from ..rows import ProgramRows
from ..words import counted
from .alignment import aligned
from .format import Aligned, Ends, Fate, PipelineItem


class End(NamedTuple):
    """A pipeline's final program: its stage, the offset of its rows, the rows, its items by expression."""

    stage: int
    offset: int
    program: ProgramRows
    items: dict[Expr, int]


def ends(
    first: End, second: End, same: bool, items: Sequence[PipelineItem], signatures: Sequence[Hashable]
) -> Ends:
    """Align two programs. Expressions share a row if they are equal and came from the same expressions of the
    source program, or else if they only came from the same, or are equal and came from none. `same` says that
    the programs are equal up to names.
    """
    partners = _partners(first, second, items, signatures)
    rewritten = {
        items[number].row - second.offset
        for expr, number in second.items.items()
        if expr in partners and signatures[first.items[partners[expr]]] != signatures[number]
        if not isinstance(expr, (Var, Let))
    }
    rows = aligned(first.program, second.program, partners.get, rewritten)
    pairs = tuple(
        Aligned(b + first.offset if b >= 0 else -1, a + second.offset if a >= 0 else -1, fate)
        for b, a, fate in rows
    )
    sentence = "Both pipelines end with the same program." if same else _differ(pairs)
    return Ends(first.stage, second.stage, (sentence,), pairs)


def _differ(pairs: Sequence[Aligned]) -> str:
    count = [sum(fate == kind for _, _, fate in pairs) for kind in Fate]
    moved = (count[Fate.MOVED] + 1) // 2
    counts = [
        (count[Fate.REWRITTEN], "differ"),
        (count[Fate.REMOVED], "only in the first"),
        (count[Fate.ADDED], "only in the second"),
        (moved, "elsewhere"),
    ]
    parts = ", ".join(f"{number:,} {word}" for number, word in counts if number)
    if not parts:
        return "Both final programs have the same rows, but share different expressions."
    return f"The two final programs have {counted(count[Fate.KEPT], 'row')} in common; {parts}."


def _partners(
    first: End, second: End, items: Sequence[PipelineItem], signatures: Sequence[Hashable]
) -> dict[Expr, Expr]:
    """Map expressions of the second program to their counterparts in the first."""
    roots = _roots(items)

    def keys(number: int) -> list[Hashable]:
        own = roots[number]
        what = signatures[number]
        if not own:
            return [("new", what, items[number].label)]
        return [("all", own, what), ("same", min(own), what), ("from", own), ("from one of", min(own))]

    partners: dict[Expr, Expr] = {}
    used: set[Expr] = set()
    levels = max((len(keys(n)) for end in (first, second) for n in end.items.values()), default=0)
    for at in range(levels):
        waiting: dict[Hashable, deque[Expr]] = {}
        for expr, number in first.items.items():
            if expr not in used and at < len(keys(number)):
                waiting.setdefault((type(expr), keys(number)[at]), deque()).append(expr)
        for expr, number in second.items.items():
            if expr in partners or at >= len(keys(number)):
                continue
            queue = waiting.get((type(expr), keys(number)[at]))
            if queue:
                partners[expr] = queue.popleft()
                used.add(partners[expr])
    return partners


def _roots(items: Sequence[PipelineItem]) -> list[frozenset[int]]:
    """Return, for each item, the items of the source program from which it came."""
    roots: list[frozenset[int]] = []
    for number, item in enumerate(items):
        if item.stage == 0:
            roots.append(frozenset((number,)))
        else:
            roots.append(frozenset().union(*(roots[source] for source in item.came_from)))
    return roots
