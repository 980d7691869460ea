"""Find the patterns that the clauses of a match do not cover."""

from __future__ import annotations

from ..ir.adt import Match, Pattern
from ..ir.module import IRModule
from ..typing.exhaustive import missing_patterns


def unmatched_cases(match: Match, mod: IRModule | None = None) -> list[Pattern]:
    """Return patterns that together match exactly the values that no clause covers; an empty list if the
    match is complete. Constructors' types are looked up in `mod`.
    """
    return list(missing_patterns([clause.lhs for clause in match.clauses], mod or IRModule()))
