"""Helpers of the partial evaluator: matching values against patterns, extracting static arrays, copying
variables and patterns.
"""

from __future__ import annotations

from typing import Any as Anything

from ...ir.adt import Match, Pattern, PatternConstructor, PatternTuple, PatternVar, PatternWildcard
from ...ir.annotate import set_origin
from ...ir.expr import Call, Expr, Function, If, Var
from ...ir.substitute import substitute_type
from ...ir.walk import children
from .values import Env, Known, StaticData, StaticTensor, StaticTuple


def call_of(callee: Expr, args: list[Known], like: Call) -> Call:
    return Call.of(callee, tuple([a.dynamic for a in args]), like.attrs, like.type_args, like.span)


def copied(var: Var, env: Env) -> Var:
    """Copy a variable of the program for the residual program."""
    type_ = var.type_annotation
    copy = Var(var.name_hint, None if type_ is None else substitute_type(type_, env.types), var.span)
    set_origin(copy, (var,))
    return copy


def atoms(value: Expr) -> tuple[Expr, ...]:
    """Return the atoms that a bound value uses directly; those inside its blocks have been marked as needed
    already.
    """
    match value:
        case If():
            return (value.cond,)
        case Match():
            return (value.data,)
        case Function():
            return ()
    return children(value)


def array(value: Known) -> Anything:
    """Return the NumPy value of a fully static value: an array, or a tuple of them; None otherwise."""
    match value.static:
        case StaticTensor() as tensor:
            return tensor.array
        case StaticTuple(fields=fields):
            parts = tuple(map(array, fields))
            return None if any(part is None for part in parts) else parts
    return None


def fits(pattern: Pattern, value: Known, scope: Env) -> bool | None:
    """Whether a value matches a pattern; None if that is dynamic. The values of the pattern's variables are
    added to the scope.
    """
    pending = [(pattern, value)]
    sure = True
    while pending:
        part, candidate = pending.pop()
        match part:
            case PatternWildcard():
                continue
            case PatternVar():
                scope.values[part.var] = candidate
                continue
            case PatternConstructor():
                if isinstance(candidate.static, StaticData):
                    if candidate.static.constructor is not part.constructor:
                        return False
                    pending += zip(part.patterns, candidate.static.fields)
                    continue
            case PatternTuple():
                if isinstance(candidate.static, StaticTuple):
                    pending += zip(part.patterns, candidate.static.fields)
                    continue
        sure = False
    return True if sure else None


def renamed(pattern: Pattern, new: dict[Var, Var]) -> Pattern:
    """Rename the variables of a pattern."""
    match pattern:
        case PatternVar():
            return PatternVar(new[pattern.var], pattern.span)
        case PatternConstructor():
            return PatternConstructor(
                pattern.constructor, [renamed(p, new) for p in pattern.patterns], pattern.span
            )
        case PatternTuple():
            return PatternTuple([renamed(p, new) for p in pattern.patterns], pattern.span)
    return pattern
