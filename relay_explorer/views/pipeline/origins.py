"""The origins of the expressions of one stage of a pipeline in the stage before."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir.expr import Expr

MAX_SEARCHED = 10_000  # expressions, in the search for the origins of one


class Origins:
    """The numbered expressions of a stage, and the path from each, along `origin`, to those of the previous
    stage (`known`; none for the first stage).
    """

    def __init__(self, known: Mapping[Expr, int] | None = None) -> None:
        self.known = known or {}
        self.items: dict[Expr, int] = {}
        self.users: dict[
            int, list[int]
        ] = {}  # by the number of an expression before: those that came from it
        self._through: dict[int, list[int]] = {}  # by the id of one in between: those that came from it

    def add(self, expr: Expr, number: int) -> tuple[int, ...]:
        """Assign a number to an expression; return those of the expressions before from which it came."""
        self.items[expr] = number
        came, path = _came_from(expr, self.known)
        for source in path:
            self._through.setdefault(source, []).append(number)
        for source in came:
            self.users.setdefault(source, []).append(number)
        return came

    def nearest(self, expr: Expr) -> tuple[int, ...]:
        """Return the numbers of this stage's expressions from which a pass made an expression."""
        return _came_from(expr, self.items)[0]

    def made_of(self, expr: Expr) -> tuple[int, ...]:
        """Return the numbers of this stage's expressions that came from one that the pass made in between."""
        return tuple(self._through.get(id(expr), ()))


def _came_from(expr: Expr, known: Mapping[Expr, int]) -> tuple[tuple[int, ...], list[int]]:
    """Return the numbers of the `known` expressions from which one came, and the expressions in between."""
    if expr in known:
        return (known[expr],), []
    if not known:
        return (), []
    numbers: dict[int, None] = {}
    path: dict[int, None] = {id(expr): None}
    pending = list(expr.origin)
    while pending and len(path) < MAX_SEARCHED:
        source = pending.pop(0)
        if id(source) in path:
            continue
        if source in known:
            numbers[known[source]] = None
            continue
        path[id(source)] = None
        pending += source.origin
    return tuple(numbers), [key for key in path if key != id(expr)]
