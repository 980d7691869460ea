"""Check whether the clauses of a match cover every value, and find the patterns that they miss.

This is the usual recursion over a matrix of patterns: specialize the matrix by each constructor of the first
column's type, or, where the column names no constructor, drop the column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..ir.adt import Constructor, Pattern, PatternConstructor, PatternTuple, PatternWildcard
from ..ir.module import IRModule

Row = tuple[Pattern, ...]
_ANY = PatternWildcard()
_MAX_STEPS = 100_000  # exponential in the worst case: beyond this, a match is assumed to be complete


def missing_case(patterns: Sequence[Pattern], module: IRModule) -> str | None:
    """Return, as text, a pattern that none of `patterns` matches; None where they cover every value."""
    for witness in missing_patterns(patterns, module):
        return f"`{show_pattern(witness)}`"
    return None


def missing_patterns(patterns: Sequence[Pattern], module: IRModule) -> Iterator[Pattern]:
    """Yield disjoint patterns that together match exactly the values that none of `patterns` matches."""
    for witness in _Search(module).miss([(p,) for p in patterns], 1):
        yield witness[0]


def show_pattern(pattern: Pattern) -> str:
    """Print a pattern, with `_` for its variables."""
    if isinstance(pattern, PatternConstructor):
        name = pattern.constructor.name_hint
        return f"{name}({', '.join(map(show_pattern, pattern.patterns))})" if pattern.patterns else name
    if isinstance(pattern, PatternTuple):
        return f"({', '.join(map(show_pattern, pattern.patterns))})"
    return "_"


class _Search:
    def __init__(self, module: IRModule) -> None:
        self.module = module
        self.steps = 0

    def miss(self, rows: list[Row], width: int) -> Iterator[Row]:
        """Yield patterns for `width` columns that no row matches."""
        self.steps += 1
        if self.steps > _MAX_STEPS:
            return
        if width == 0:
            if not rows:
                yield ()
            return
        heads = [row[0] for row in rows]
        tuples = [p for p in heads if isinstance(p, PatternTuple)]
        if tuples:
            yield from self._miss_tuple(rows, width, len(tuples[0].patterns))
            return
        first = next((p.constructor for p in heads if isinstance(p, PatternConstructor)), None)
        if first is None:
            for rest in self.miss([row[1:] for row in rows], width - 1):
                yield (_ANY, *rest)
            return
        for constructor in self._siblings(first):
            yield from self._miss_constructor(rows, width, constructor)

    def _siblings(self, constructor: Constructor) -> Sequence[Constructor]:
        data = self.module.type_definitions.get(constructor.belong_to)
        return data.constructors if data is not None else [constructor]

    def _miss_constructor(self, rows: list[Row], width: int, constructor: Constructor) -> Iterator[Row]:
        arity = len(constructor.inputs)
        specialized: list[Row] = []
        for row in rows:
            head = row[0]
            if isinstance(head, PatternConstructor):
                if head.constructor.name_hint == constructor.name_hint and len(head.patterns) == arity:
                    specialized.append((*head.patterns, *row[1:]))
            else:
                specialized.append((*[_ANY] * arity, *row[1:]))
        for witness in self.miss(specialized, arity + width - 1):
            yield (PatternConstructor(constructor, witness[:arity]), *witness[arity:])

    def _miss_tuple(self, rows: list[Row], width: int, arity: int) -> Iterator[Row]:
        specialized: list[Row] = []
        for row in rows:
            head = row[0]
            specialized.append(
                (*(head.patterns if isinstance(head, PatternTuple) else [_ANY] * arity), *row[1:])
            )
        for witness in self.miss(specialized, arity + width - 1):
            yield (PatternTuple(witness[:arity]), *witness[arity:])
