"""Whether the clauses of a match cover every value, and if not, a value that they miss.

The usual recursion over a matrix of patterns: specialise it by each constructor of the first column's type,
or, where a column names no constructor, drop the column.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.adt import Constructor, Pattern, PatternConstructor, PatternTuple, PatternWildcard
from ..ir.module import IRModule

Row = tuple[Pattern, ...]
_ANY = PatternWildcard()
_MOST_STEPS = (
    100_000  # the problem is exponential in the worst case; beyond this, the match is taken to be complete
)


def missing_case(patterns: Sequence[Pattern], module: IRModule) -> str | None:
    """A pattern that none of `patterns` matches, as text; None where they match everything."""
    witness = _Search(module).miss([(p,) for p in patterns], 1)
    return None if witness is None else f"`{witness[0]}`"


class _Search:
    def __init__(self, module: IRModule) -> None:
        self.module = module
        self.steps = 0

    def miss(self, rows: list[Row], width: int) -> list[str] | None:
        """Values for `width` columns that no row matches; None where there are none."""
        self.steps += 1
        if self.steps > _MOST_STEPS:
            return None
        if width == 0:
            return None if rows else []
        heads = [row[0] for row in rows]
        tuples = [p for p in heads if isinstance(p, PatternTuple)]
        if tuples:
            return self._miss_tuple(rows, width, len(tuples[0].patterns))
        named = {p.constructor.name_hint for p in heads if isinstance(p, PatternConstructor)}
        if not named:
            rest = self.miss([row[1:] for row in rows], width - 1)
            return None if rest is None else ["_", *rest]
        first = next(p.constructor for p in heads if isinstance(p, PatternConstructor))
        for constructor in self._siblings(first):
            found = self._miss_constructor(rows, width, constructor)
            if found is not None:
                return found
        return None

    def _siblings(self, constructor: Constructor) -> Sequence[Constructor]:
        data = self.module.type_definitions.get(constructor.belong_to)
        return data.constructors if data is not None else [constructor]

    def _miss_constructor(self, rows: list[Row], width: int, constructor: Constructor) -> list[str] | None:
        arity = len(constructor.inputs)
        kept: list[Row] = []
        for row in rows:
            head = row[0]
            if isinstance(head, PatternConstructor):
                if head.constructor.name_hint == constructor.name_hint and len(head.patterns) == arity:
                    kept.append((*head.patterns, *row[1:]))
            else:
                kept.append((*[_ANY] * arity, *row[1:]))
        found = self.miss(kept, arity + width - 1)
        if found is None:
            return None
        parts, rest = found[:arity], found[arity:]
        name = constructor.name_hint
        return [f"{name}({', '.join(parts)})" if arity else name, *rest]

    def _miss_tuple(self, rows: list[Row], width: int, arity: int) -> list[str] | None:
        kept: list[Row] = []
        for row in rows:
            head = row[0]
            kept.append((*(head.patterns if isinstance(head, PatternTuple) else [_ANY] * arity), *row[1:]))
        found = self.miss(kept, arity + width - 1)
        if found is None:
            return None
        return [f"({', '.join(found[:arity])})", *found[arity:]]
