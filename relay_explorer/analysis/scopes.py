"""The scopes of variables that `let` binds, and the uses of the variables."""

from __future__ import annotations

from typing import NamedTuple

from ..ir.expr import Expr, Let, Var
from ..ir.walk import children, post_order


class LetScope(NamedTuple):
    """A `let` binds `variable`, which is in scope in `let.body` and nowhere else. `users` are the expressions
    that use it, including a `let` whose value or body it is.
    """

    let: Let
    variable: Var
    users: tuple[Expr, ...]


def let_scopes(root: Expr) -> list[LetScope]:
    """Return the scopes of all `let`s below `root`; outer ones come before nested ones."""
    order = post_order(root)
    users: dict[Var, dict[Expr, None]] = {node.var: {} for node in order if isinstance(node, Let)}
    for node in order:
        for part in (node.value, node.body) if isinstance(node, Let) else children(node):
            if isinstance(part, Var) and part in users:
                users[part][node] = None
    lets = [node for node in reversed(order) if isinstance(node, Let)]
    return [LetScope(let, let.var, tuple(users[let.var])) for let in lets]
