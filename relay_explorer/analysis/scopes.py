"""Where a variable that `let` binds can be used."""

from __future__ import annotations

from typing import NamedTuple

from ..ir.expr import Expr, Let, Var
from ..ir.walk import post_order


class LetScope(NamedTuple):
    """`variable` is bound by `let`; it can be used in `body` and nowhere else. `last` is the expression in which it is used last, or None where it never is."""

    let: Let
    variable: Var
    body: Expr
    last: Expr | None


def let_scopes(root: Expr) -> list[LetScope]:
    """The scopes of all `let`s below `root`, in the order of evaluation."""
    from ..ir.walk import children

    order = post_order(root)
    lets: dict[Var, Let] = {node.var: node for node in order if isinstance(node, Let)}
    last: dict[Var, Expr] = {}
    for node in order:
        for part in children(node):
            if isinstance(part, Var) and part in lets and lets[part] is not node:
                last[part] = node
    return [LetScope(let, variable, let.body, last.get(variable)) for variable, let in lets.items()][::-1]
