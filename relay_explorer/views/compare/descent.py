"""What became of the expressions of A that B does not have: constants, parts of others, or several others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...ir.expr import Call, Constant, Expr

MAX_ANCESTORS = 64  # expressions of A from which one of B may come


class Descent:
    """The descendants in B of the expressions of A, by provenance; `source` is the expression of A that
    corresponds to one of B.
    """

    def __init__(self, a: Sequence[Expr], b: Sequence[Expr], source: Mapping[Expr, Expr]) -> None:
        own: dict[
            Expr, tuple[Expr, ...]
        ] = {}  # by the first ancestor, the expressions of A that came from it
        for expr in a:
            for root in _first(expr):
                own[root] = (*own.get(root, ()), expr)
        known = set(a)
        reached: dict[Expr, tuple[Expr, ...]] = {}
        self._source = source
        self._into: dict[Expr, list[Expr]] = {}
        for expr in b:
            for ancestor in _ancestors(expr, known, own, reached):
                if source.get(expr) is not ancestor:
                    self._into.setdefault(ancestor, []).append(expr)

    def constants(self, expr: Expr) -> list[Expr]:
        """Return the constants of B that hold what an expression of A computed."""
        return [other for other in self._into.get(expr, ()) if isinstance(other, Constant)]

    def hosts(self, expr: Expr) -> list[Expr]:
        """Return the calls of B that correspond to other expressions of A, and contain this one."""
        return [o for o in self._into.get(expr, ()) if isinstance(o, Call) and o in self._source]

    def parts(self, expr: Expr) -> list[Call]:
        """Return the calls of B, only in B, that were made of an expression of A."""
        return [o for o in self._into.get(expr, ()) if isinstance(o, Call) and o not in self._source]


def _first(expr: Expr) -> list[Expr]:
    """Return the first ancestors of an expression, those that came from no other."""
    pending, seen, roots = [expr], {expr}, []
    while pending and len(seen) <= MAX_ANCESTORS:
        current = pending.pop()
        if not current.origin:
            roots.append(current)
        fresh = [origin for origin in current.origin if origin not in seen]
        seen.update(fresh)
        pending += fresh
    return roots


def _ancestors(
    expr: Expr,
    known: set[Expr],
    own: Mapping[Expr, tuple[Expr, ...]],
    reached: dict[Expr, tuple[Expr, ...]],
) -> Iterable[Expr]:
    """Return the nearest expressions of A from which an expression came."""
    pending = [expr]
    while pending:
        current = pending[-1]
        missing = [o for o in current.origin if o not in reached] if current not in known else []
        if missing and current not in reached:
            pending += missing
            continue
        pending.pop()
        if current in known:
            reached[current] = (current,)
        elif not current.origin:
            reached[current] = own.get(current, ())
        else:
            ancestors = dict.fromkeys(e for origin in current.origin for e in reached[origin])
            reached.setdefault(current, tuple(ancestors)[:MAX_ANCESTORS])
    return reached[expr]
