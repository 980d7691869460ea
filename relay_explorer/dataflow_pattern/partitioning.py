"""Partitioning: every match becomes a function of its own, which is called where the match was."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any as Anything

from ..ir.expr import Call, Expr, Function, unwrapped
from ..ir.walk import bound_vars, free_vars, post_order
from .groups import PARTITIONED, Group, find_groups
from .patterns import DFPattern, FunctionPattern
from .rewriting import renewed


def partition(
    pattern: DFPattern,
    expr: Expr,
    attrs: Mapping[str, Anything] | None = None,
    check: Callable[[Expr], bool] = lambda expr: True,
) -> Expr:
    """`expr` with every match of `pattern` moved into a function, which is called in its place.

    The function's parameters stand for what the leaves of the pattern matched; constants that the pattern
    asks for are inside. It has the attribute PartitionedFromPattern, which lists what is in it, and those of
    `attrs`. `check` is given what matched, and says whether to go on. A match whose arguments use a variable
    that is bound in its middle cannot be moved, and stays where it is.
    """
    expr = unwrapped(expr)
    if not isinstance(expr, Expr):
        raise TypeError(f"what is partitioned is an expression, as mod['main'], not a {type(expr).__name__}")
    if isinstance(pattern, FunctionPattern):
        warnings.warn("a function that is not called is a function already: nothing is done", stacklevel=2)
        return expr
    groups = find_groups(pattern, expr)
    memo: dict[Expr, Expr] = {}
    for node in post_order(expr) if groups else ():
        group = groups.get(node)
        if group is not None and _movable(group) and check(node):
            memo[node] = _called(group, attrs or {}, memo)
        else:
            memo[node] = renewed(node, memo)
    return memo.get(expr, expr)


def _movable(group: Group) -> bool:
    """Whether there is something to move, and its arguments make sense outside of it."""
    if group.root in group.args:
        return False
    inside = set(bound_vars(group.body))
    return not inside or not any(inside.intersection(post_order(arg)) for arg in group.args)


def _called(group: Group, attrs: Mapping[str, Anything], memo: dict[Expr, Expr]) -> Expr:
    """A call of the group as a function. Variables that its body uses without the pattern's saying so, at the
    end of a path or in a function, become parameters too.
    """
    params, args = list(group.params), list(group.args)
    body = group.body
    known = set(params)
    extra = [v for v in free_vars(body) if v not in known]
    function = Function([*params, *extra], body, None, None, {PARTITIONED: group.name, **attrs})
    call = Call(function, [memo[arg] for arg in [*args, *extra]], span=group.root.span)
    function.origin = call.origin = (group.root,)
    return call
