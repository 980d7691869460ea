"""Copy a function with fresh variables, so that both can occur in one program."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir.adt import Clause, Match
from ...ir.annotate import set_checked_type, set_origin
from ...ir.expr import Expr, Function, Var
from ...ir.walk import bound_vars, rewrite_nodes
from ..partial_evaluate.steps import renamed


def copy_variable(var: Var, name: str, annotated: bool = True) -> Var:
    """Copy a variable under another name, with its checked type; if not `annotated`, without annotation."""
    copy = Var(name, var.type_annotation if annotated else None, var.span)
    return set_checked_type(set_origin(copy, (var,)), var._checked_type)


def with_new_variables(function: Function, copies: Mapping[Var, Var] | None = None) -> Function:
    """Copy a typed function with a new variable for each that it binds, taken from `copies` if it is
    there.
    """
    new: dict[Var, Var] = dict(copies or {})
    for var in bound_vars(function):
        if var not in new:
            new[var] = copy_variable(var, var.name_hint)

    def copied(node: Expr, rebuilt: Expr) -> Expr:
        if isinstance(node, Var):
            return new.get(node, node)
        if isinstance(rebuilt, Match):
            clauses = [Clause(renamed(c.lhs, new), c.rhs, c.span) for c in rebuilt.clauses]
            rebuilt = Match(rebuilt.data, clauses, rebuilt.complete, rebuilt.span)
            set_origin(rebuilt, (node,))
        return node if rebuilt is node else set_checked_type(rebuilt, node._checked_type)

    result = rewrite_nodes(function, copied)
    assert isinstance(result, Function)
    return result
