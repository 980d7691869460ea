"""Rewrite calls of operators whose types are known, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...ir.annotate import set_origin
from ...ir.expr import Call, Constant, Expr, const
from ...ir.op import Op
from ...ir.rewrites import emit_rewrite
from ...ir.walk import rewrite_nodes

# Maps the original call, which is typed, and the same call on its rewritten arguments to the replacement, or
# None.
Rule = Callable[[Call, Call], Expr | None]


def rewrite_calls(expr: Expr, rules: Mapping[str, Rule]) -> Expr:
    """Replace every call of an operator that `rules` names in the typed `expr`, from the leaves up. Sharing
    is preserved.
    """

    def rewritten(node: Expr, rebuilt: Expr) -> Expr | None:
        if not (isinstance(node, Call) and isinstance(node.op, Op) and isinstance(rebuilt, Call)):
            return None
        rule = rules.get(node.op.name)
        result = rule(node, rebuilt) if rule is not None else None
        if rule is not None and result is not None:
            set_origin(result, result.origin or (node,))
            emit_rewrite(rule, rebuilt, result, node)
        return result

    return rewrite_nodes(expr, rewritten)


def call(name: str, *args: Expr, **attrs: object) -> Call:
    """Build a call of the operator `name`, with attributes by name."""
    op = Op.get(name)
    return Call(op, list(args), op.attrs_class(**attrs) if op.attrs_class is not None else None)


def scalar(value: float, dtype: str) -> Constant:
    return const(value, dtype)


def along_axis(vector: Expr, rank: int, axis: int) -> Expr:
    """Append axes of size 1 to a vector, so that it broadcasts along `axis` of a tensor of `rank` axes."""
    after = rank - axis % rank - 1
    return call("expand_dims", vector, axis=1, num_newaxis=after) if after else vector
