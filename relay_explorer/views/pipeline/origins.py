"""Where the expressions of one stage of a pipeline came from, in the stage before."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir.expr import Expr

MAX_SEARCHED = 10_000  # expressions that are looked at for where one came from


class Origins:
    """The numbered expressions of a stage, and the path from each, along `origin`, to those of the previous
    stage (`known`; none for the first stage).
    """

    def __init__(self, known: Mapping[Expr, int] | None = None) -> None:
        self.known = known or {}
        self.items: dict[Expr, int] = {}
        self.users: dict[int, list[int]] = {}  # by the number of one before: those that came from it
        self._through: dict[int, list[int]] = {}  # by what lay on the way: those that came by it

    def add(self, expr: Expr, number: int) -> tuple[int, ...]:
        """Numbers an expression; those of the stage before from which it came."""
        self.items[expr] = number
        came, way = _came_from(expr, self.known)
        for source in way:
            self._through.setdefault(source, []).append(number)
        for source in came:
            self.users.setdefault(source, []).append(number)
        return came

    def nearest(self, expr: Expr) -> tuple[int, ...]:
        """Those of this stage from which an expression came that a pass made of it."""
        return _came_from(expr, self.items)[0]

    def made_of(self, expr: Expr) -> tuple[int, ...]:
        """Those of this stage that came from an expression which a pass made on the way here."""
        return tuple(self._through.get(id(expr), ()))


def _came_from(expr: Expr, known: Mapping[Expr, int]) -> tuple[tuple[int, ...], list[int]]:
    """Return the numbers of the `known` expressions from which one came, and the expressions in between."""
    if expr in known:
        return (known[expr],), []
    if not known:
        return (), []
    numbers: dict[int, None] = {}
    way: dict[int, None] = {id(expr): None}
    pending = list(expr.origin)
    while pending and len(way) < MAX_SEARCHED:
        source = pending.pop(0)
        if id(source) in way:
            continue
        if source in known:
            numbers[known[source]] = None
            continue
        way[id(source)] = None
        pending += source.origin
    return tuple(numbers), [key for key in way if key != id(expr)]
