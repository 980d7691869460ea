"""Constrain the type of a matched value by its patterns, and check that a match covers every value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir.adt import Match, Pattern, PatternConstructor, PatternTuple, PatternVar
from ..ir.expr import Expr
from ..ir.show import counted
from ..ir.substitute import substitute_type
from ..ir.types import TupleType, Type, TypeVar
from .events import Reason
from .exhaustive import missing_case

if TYPE_CHECKING:
    from .constraints import Generator


def bind_pattern(
    generator: Generator,
    pattern: Pattern,
    type_: Type,
    match: Match,
    index: int,
    matched: Expr | None = None,
) -> None:
    """Unify the type of the matched value with the type that the pattern of clause `index` matches.

    `matched` is the expression matched with the pattern: the match's data, or the constructor whose field it
    is; None for a field of a tuple.
    """
    solver = generator.solver
    reason = Reason("pattern", match, index, matched)
    if isinstance(pattern, PatternVar):
        generator.introduce(pattern.var)
        solver.unify(generator.types[pattern.var], type_, reason._replace(right=pattern.var))
    elif isinstance(pattern, PatternTuple):
        fields = [solver.fresh() for _ in pattern.patterns]
        solver.unify(type_, TupleType(fields), reason)
        for part, field in zip(pattern.patterns, fields):
            bind_pattern(generator, part, field, match, index)
    elif isinstance(pattern, PatternConstructor):
        _bind_constructor(generator, pattern, type_, reason)


def _bind_constructor(generator: Generator, pattern: PatternConstructor, type_: Type, reason: Reason) -> None:
    match = reason.at
    assert isinstance(match, Match)
    constructor = pattern.constructor
    generic = generator.constructor_type(constructor, match)
    fresh: dict[TypeVar, Type] = {p: generator.solver.fresh() for p in generic.type_params}
    generator.solver.unify(type_, substitute_type(generic.ret_type, fresh), reason)
    if len(pattern.patterns) != len(constructor.inputs):
        raise generator.refuse(
            match,
            f"the pattern `{constructor.name_hint}` has {counted(len(pattern.patterns), 'part')}, "
            f"and the constructor takes {len(constructor.inputs)}",
        )
    for part, expected in zip(pattern.patterns, constructor.inputs):
        bind_pattern(generator, part, substitute_type(expected, fresh), match, reason.number, constructor)


def check_matches(generator: Generator) -> None:
    """Check that every match declared complete covers all values; called once all types are known."""
    for match in generator.scrutinised:
        case = missing_case([c.lhs for c in match.clauses], generator.module)
        if case is not None:
            raise generator.refuse(
                match,
                f"no clause of the match handles {case}",
                f"add a clause for {case}, or a last clause `_ => …`",
            )
    generator.scrutinised.clear()
