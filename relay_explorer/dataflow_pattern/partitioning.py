"""Partitioning: every match becomes a function of its own, which is called where the match was."""

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
    """`expr` with every match of `pattern` moved into a function, which is called in its place.

    The function's parameters stand for what the leaves of the pattern matched; constants that the pattern
    asks for are inside. It has the attribute PartitionedFromPattern, which lists what is in it, and those of
    `attrs`. `check` is given what matched, and says whether to go on.

    A function computes its arguments first, and outside. So a match stays where it is if an argument uses a
    variable that is bound in its middle, or stands in a branch of its middle that might not be taken. That
    what is moved has no effects on references is taken for granted.
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
            emit_rewrite(
                partition,
                node,
                memo[node],
                sentence="What matches the pattern is a function of its own, called in its place.",
            )
        else:
            memo[node] = renewed(node, memo)
    return memo.get(expr, expr)


def _movable(group: Group) -> bool:
    """Whether there is something to move, and its arguments make sense outside of it."""
    if group.root in group.args or isinstance(group.root, (Constant, *INSIDE)):
        return False
    inside = set(bound_vars(group.body))
    if inside and any(inside.intersection(post_order(arg)) for arg in group.args):
        return False
    params = set(group.params)
    if any(isinstance(e, Call) and e.type_args and e.op in params for e in post_order(group.body)):
        return False  # what is generic is not so as a parameter
    lazy = [arg for arg in group.args if not isinstance(arg, (Var, Constant, GlobalVar))]
    return not lazy or _always_computed(group.root, set(group.args)).issuperset(lazy)


def _always_computed(root: Expr, args: set[Expr]) -> set[Expr]:
    """Those of `args` that computing `root` computes in any case."""
    seen: set[Expr] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in args or isinstance(node, Function):
            continue
        match node:
            case If():
                pending.append(node.cond)
            case Match():
                pending.append(node.data)
            case _:
                pending += children(node)
    return seen & args


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
    set_origin(function, (group.root,))
    set_origin(call, (group.root,))
    return call
