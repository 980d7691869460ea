"""Partitioning: move every match into a function of its own, which is called in its place."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any as Anything

from ..ir.adt import Match
from ..ir.annotate import set_origin
from ..ir.expr import Call, Constant, Expr, Function, GlobalVar, If, Var, unwrapped
from ..ir.rewrites import emit_rewrite
from ..ir.walk import bound_vars, children, free_vars, post_order
from .groups import INSIDE, PARTITIONED, Group, find_groups
from .patterns import DFPattern, FunctionPattern
from .rewriting import renewed


def partition(
    pattern: DFPattern,
    expr: Expr,
    attrs: Mapping[str, Anything] | None = None,
    check: Callable[[Expr], bool] = lambda expr: True,
) -> Expr:
    """Move every match of `pattern` in `expr` into a function, which is called in its place.

    The call's arguments are the expressions that the leaves of the pattern matched; constants that the
    pattern requires are inside the function. The function has the attribute PartitionedFromPattern, which
    lists its operators, and the attributes `attrs`. `check` receives the matched expression and returns
    whether to move it.

    A call evaluates its arguments first, outside the function. A match therefore stays where it is if an
    argument uses a variable that is bound inside the match, or belongs to a branch inside it that might not
    be taken. The moved expressions are assumed to have no effects on references.
    """
    expr = unwrapped(expr)
    if not isinstance(expr, Expr):
        raise TypeError(f"partition takes an expression, such as mod['main'], not a {type(expr).__name__}")
    if isinstance(pattern, FunctionPattern):
        warnings.warn(
            "a FunctionPattern matches what is already a function, so nothing is partitioned", stacklevel=2
        )
        return expr
    groups = find_groups(pattern, expr)
    memo: dict[Expr, Expr] = {}
    for node in post_order(expr) if groups else ():
        group = groups.get(node)
        if group is not None and _movable(group) and check(node):
            memo[node] = _called(group, attrs or {}, memo)
            emit_rewrite(
                partition,
                node,
                memo[node],
                sentence="The match moves into a function, which is called in its place.",
            )
        else:
            memo[node] = renewed(node, memo)
    return memo.get(expr, expr)


def _movable(group: Group) -> bool:
    """Return whether the group computes something, and its arguments can be evaluated outside of it."""
    if group.root in group.args or isinstance(group.root, (Constant, *INSIDE)):
        return False
    inside = set(bound_vars(group.body))
    if inside and any(inside.intersection(post_order(arg)) for arg in group.args):
        return False
    params = set(group.params)
    if any(isinstance(e, Call) and e.type_args and e.op in params for e in post_order(group.body)):
        return False  # a generic function cannot be a parameter
    lazy = [arg for arg in group.args if not isinstance(arg, (Var, Constant, GlobalVar))]
    return not lazy or _always_computed(group.root, set(group.args)).issuperset(lazy)


def _always_computed(root: Expr, args: set[Expr]) -> set[Expr]:
    """Return those of `args` that are evaluated whenever `root` is, whichever branches are taken."""
    visited: set[Expr] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if node in visited:
            continue
        visited.add(node)
        if node in args or isinstance(node, Function):
            continue
        match node:
            case If():
                pending.append(node.cond)
            case Match():
                pending.append(node.data)
            case _:
                pending += children(node)
    return visited & args


def _called(group: Group, attrs: Mapping[str, Anything], memo: dict[Expr, Expr]) -> Expr:
    """Build a call of the group as a function. Variables that its body uses outside the pattern's leaves, at
    the end of a path or in a function, become parameters too.
    """
    params, args = list(group.params), list(group.args)
    body = group.body
    declared = set(params)
    extra = [v for v in free_vars(body) if v not in declared]
    function = Function([*params, *extra], body, None, None, {PARTITIONED: group.name, **attrs})
    call = Call(function, [memo[arg] for arg in [*args, *extra]], span=group.root.span)
    set_origin(function, (group.root,))
    set_origin(call, (group.root,))
    return call
