"""Copy a function with fresh variables, so that both can occur in one program."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir.adt import Clause, Match
from ...ir.annotate import set_checked_type, set_origin
from ...ir.expr import Expr, Function, Var
from ...ir.walk import bound_vars, children, post_order, rebuild
from ..partial_evaluate.steps import renamed


def copy_variable(var: Var, name: str, annotated: bool = True) -> Var:
    """Copy a variable under another name, with its checked type; if not `annotated`, without annotation."""
    copy = Var(name, var.type_annotation if annotated else None, var.span)
    return set_checked_type(set_origin(copy, (var,)), var._checked_type)


def with_new_variables(function: Function, copies: Mapping[Var, Var] | None = None) -> Function:
    """Copy a typed function with a new variable for each that it binds, from `copies` where it is there."""
    new: dict[Var, Var] = dict(copies or {})
    for var in bound_vars(function):
        if var not in new:
            new[var] = copy_variable(var, var.name_hint)
    memo: dict[Expr, Expr] = {}
    for node in post_order(function):
        if isinstance(node, Var):
            memo[node] = new.get(node, node)
            continue
        made = rebuild(node, [memo[part] for part in children(node)])
        if isinstance(node, Match) and isinstance(made, Match):
            clauses = [Clause(renamed(c.lhs, new), c.rhs, c.span) for c in made.clauses]
            made = Match(made.data, clauses, made.complete, made.span)
            set_origin(made, (node,))
        if made is not node:
            set_checked_type(made, node._checked_type)
        memo[node] = made
    result = memo[function]
    assert isinstance(result, Function)
    return result
