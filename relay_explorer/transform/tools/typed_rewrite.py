"""Rewrite calls of operators whose types are known, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...ir.annotate import set_origin
from ...ir.expr import Call, Constant, Expr, const
from ...ir.op import Op
from ...ir.rewrites import emit_rewrite
from ...ir.walk import children, post_order, rebuild

# Of the call as it was, with its type and those of its parts, and as it is on its new parts: what takes its
# place, or None.
Rule = Callable[[Call, Call], Expr | None]


def rewrite_calls(expr: Expr, rules: Mapping[str, Rule]) -> Expr:
    """`expr`, whose types are known, with every call of an operator that `rules` names replaced, from the
    leaves up. Sharing is kept.
    """
    memo: dict[Expr, Expr] = {}
    for node in post_order(expr):
        new = rebuild(node, [memo[part] for part in children(node)])
        if isinstance(node, Call) and isinstance(node.op, Op) and isinstance(new, Call):
            rule = rules.get(node.op.name)
            made = rule(node, new) if rule is not None else None
            if made is not None:
                set_origin(made, made.origin or (node,))
                assert rule is not None
                emit_rewrite(rule, new, made, node)
                new = made
        memo[node] = new
    return memo[expr]


def call(name: str, *args: Expr, **attrs: object) -> Call:
    """A call of the operator `name`, with attributes by name."""
    op = Op.get(name)
    return Call(op, list(args), op.attrs_class(**attrs) if op.attrs_class is not None else None)


def scalar(value: float, dtype: str) -> Constant:
    return const(value, dtype)


def along_axis(vector: Expr, rank: int, axis: int) -> Expr:
    """A vector with axes of 1 after it, so that it broadcasts along `axis` of a tensor of `rank` axes."""
    after = rank - axis % rank - 1
    return call("expand_dims", vector, axis=1, num_newaxis=after) if after else vector
