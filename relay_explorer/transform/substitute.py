"""Putting expressions in the places of others, all at once."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.expr import Expr
from ..ir.walk import children, rebuild


def substitute(root: Expr, replacements: Mapping[Expr, Expr]) -> Expr:
    """`root` with each expression that `replacements` names replaced, in what takes its place too; no
    replacement may contain what it replaces. Sharing is kept.
    """
    memo: dict[Expr, Expr] = {}
    pending = [(root, False)]
    while pending:
        node, ready = pending.pop()
        if node in memo:
            continue
        meant = replacements.get(node, node)
        if ready:
            parts = children(meant)
            memo[node] = memo[meant] if meant is not node else rebuild(node, [memo[part] for part in parts])
        else:
            pending.append((node, True))
            needed = (meant,) if meant is not node else children(node)
            pending += [(part, False) for part in reversed(needed) if part not in memo]
    return memo[root]
