"""Find recursive calls that are not in tail position."""

from __future__ import annotations

from ...ir.expr import Call, Expr, Function, If, Let, Var
from ...ir.walk import free_vars, post_order


def call_that_returns(function: Function) -> Var | None:
    """Return the variable of a recursive function in `function` that has a recursive call, or another use of
    the variable, whose result the caller goes on to use; None if every recursion is a tail call.
    """
    for node in post_order(function):
        if (
            isinstance(node, Let)
            and isinstance(node.value, Function)
            and not _only_in_tail_position(node.value.body, node.var)
        ):
            return node.var
    return None


def recursive(function: Function) -> bool:
    """Return whether there is a recursive function in `function`."""
    return any(
        isinstance(node, Let) and isinstance(node.value, Function) and _uses(node.value, node.var)
        for node in post_order(function)
    )


def _uses(expr: Expr, var: Var) -> bool:
    return var in free_vars(expr)


def _only_in_tail_position(expr: Expr, var: Var) -> bool:
    if isinstance(expr, If):
        branches = (expr.true_branch, expr.false_branch)
        return not _uses(expr.cond, var) and all(_only_in_tail_position(branch, var) for branch in branches)
    if isinstance(expr, Let):
        return not _uses(expr.value, var) and _only_in_tail_position(expr.body, var)
    if isinstance(expr, Call) and expr.op is var:
        return not any(_uses(arg, var) for arg in expr.args)
    return not _uses(expr, var)
