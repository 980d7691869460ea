"""Reorder the rows of a program, legally, so that those of each kernel are adjacent."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ...ir.expr import Expr
from ...text import rows as printed
from ..rows import ProgramRows

_MOVABLE = (printed.BINDING, printed.LET)


class _Unit(NamedTuple):
    """Rows that stay together: a binding, with the blocks that it opens."""

    first: int
    last: int


class Regrouping:
    """Finds, for the kernels of a function, an order of all rows in which the rows of each kernel are
    adjacent. Bindings move only within their block and never before one that they use, and those with effects
    (`acting`) keep their order.
    """

    def __init__(self, program: ProgramRows, acting: Collection[Expr]) -> None:
        self.program = program
        self.runs = list(_runs(program))
        self.needs = [self._needs(run, acting) for run in self.runs]

    def order(self, kernel: Mapping[int, int]) -> tuple[int, ...]:
        """Return the rows in their new order, given the kernel of each row that has one; () if the order does
        not change.
        """
        order = list(range(len(self.program.source)))
        for run, needs in zip(self.runs, self.needs, strict=True):
            units = [run[number] for number in _sorted(run, needs, kernel)]
            rows = [row for unit in units for row in range(unit.first, unit.last + 1)]
            # An inner block moves with the outer one that contains it, which comes first.
            start = order.index(run[0].first) if run else 0
            inside = order[start : start + len(rows)]
            if sorted(inside) == sorted(rows):
                order[start : start + len(rows)] = rows
        return tuple(order) if order != sorted(order) else ()

    def _needs(self, run: Sequence[_Unit], acting: Collection[Expr]) -> list[set[int]]:
        """Return, for each unit of a run, the earlier units that must stay before it."""
        home = {row: number for number, unit in enumerate(run) for row in range(unit.first, unit.last + 1)}
        needs: list[set[int]] = []
        last_effect = -1
        for number, unit in enumerate(run):
            own: set[int] = set()
            acts = False
            for row in range(unit.first, unit.last + 1):
                expr = self.program.source[row].expr
                acts = acts or expr in acting
                for token in self.program.source[row].tokens:
                    if token.expr is not None:
                        acts = acts or token.expr in acting
                        source = home.get(self.program.row(token.expr), number)
                        if source < number:
                            own.add(source)
            if acts:
                if last_effect >= 0:
                    own.add(last_effect)
                last_effect = number
            needs.append(own)
        return needs


def _runs(program: ProgramRows) -> list[list[_Unit]]:
    """Return the runs of adjacent bindings in one block, outer ones first."""
    source = program.source
    runs: list[list[_Unit]] = []
    pending = [(0, len(source) - 1)]
    while pending:
        at, last = pending.pop(0)
        run: list[_Unit] = []
        while at <= last:
            end = at
            while source[end].end > end:  # a block's closing row may open the next one: `} else {`
                pending.append((end + 1, source[end].end - 1))
                end = source[end].end
            if source[at].kind in _MOVABLE:
                run.append(_Unit(at, end))
            elif run:
                runs.append(run)
                run = []
            at = end + 1
        if run:
            runs.append(run)
    return [run for run in runs if len(run) > 1]


def _sorted(run: Sequence[_Unit], needs: Sequence[set[int]], kernel: Mapping[int, int]) -> list[int]:
    """Sort the units of a run in program order, except that the units of a kernel follow its first one. If
    kernels depend on each other through a unit that is in neither, the units of one of them stay apart.
    """
    apart: set[int] = set()
    while True:
        groups: dict[object, list[int]] = {}
        of: list[object] = []
        for number, unit in enumerate(run):
            own = kernel.get(unit.first, -1)
            key: object = ("alone", number) if own < 0 or own in apart else own
            groups.setdefault(key, []).append(number)
            of.append(key)
        waiting = {
            key: {of[n] for member in members for n in needs[member]} - {key}
            for key, members in groups.items()
        }
        users: dict[object, list[object]] = {}
        for key, sources in waiting.items():
            for source in sources:
                users.setdefault(source, []).append(key)
        ready = [(members[0], key) for key, members in groups.items() if not waiting[key]]
        heapq.heapify(ready)
        order: list[int] = []
        while ready:
            _, key = heapq.heappop(ready)
            order += groups[key]
            for user in users.get(key, ()):
                waiting[user].discard(key)
                if not waiting[user]:
                    heapq.heappush(ready, (groups[user][0], user))
        if len(order) == len(run):
            return order
        stuck = [key for key, sources in waiting.items() if sources and isinstance(key, int)]
        apart.add(max(stuck, key=lambda key: len(groups[key])))
