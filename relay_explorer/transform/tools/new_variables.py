"""A copy of a function whose variables are its own, so that both can stand in one program."""

from __future__ import annotations

from ...ir.adt import Clause, Match
from ...ir.expr import Expr, Function, Var
from ...ir.walk import bound_vars, children, post_order, rebuild
from ..partial_evaluate.steps import renamed


def with_new_variables(function: Function) -> Function:
    """`function`, typed, with a new variable for each that it binds; types stay."""
    new: dict[Var, Var] = {}
    for var in bound_vars(function):
        copy = Var(var.name_hint, var.type_annotation, var.span)
        copy.origin, copy._checked_type = (var,), var._checked_type
        new[var] = copy
    memo: dict[int, Expr] = {}
    for node in post_order(function):
        if isinstance(node, Var):
            memo[id(node)] = new.get(node, node)
            continue
        made = rebuild(node, [memo[id(part)] for part in children(node)])
        if isinstance(node, Match) and isinstance(made, Match):
            clauses = [Clause(renamed(c.lhs, new), c.rhs, c.span) for c in made.clauses]
            made = Match(made.data, clauses, made.complete, made.span)
            made.origin = (node,)
        if made is not node:
            made._checked_type = node._checked_type
        memo[id(node)] = made
    result = memo[id(function)]
    assert isinstance(result, Function)
    return result
