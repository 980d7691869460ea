"""What the clauses of a match do not cover."""

from __future__ import annotations

from ..ir.adt import Match, Pattern
from ..ir.module import IRModule
from ..typing.exhaustive import missing_patterns


def unmatched_cases(match: Match, mod: IRModule | None = None) -> list[Pattern]:
    """Patterns that together match what no clause does; none where the match is complete. The types of its
    constructors are looked up in `mod`.
    """
    return list(missing_patterns([clause.lhs for clause in match.clauses], mod or IRModule()))
