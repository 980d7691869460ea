"""The exercise of chapter 14: A-normal form. The functions given to the learner."""

from __future__ import annotations

from ...ir.expr import Expr, Function, Let
from ...ir.scopes import Layout, NoNames, Scope


class Blocks:
    """The blocks of a function: its body, the bodies of functions inside it, branches, and clauses. The
    body of a `let` belongs to the block of the `let`.
    """

    def __init__(self, function: Function) -> None:
        self._layout = layout = Layout(function, NoNames())
        lets = {id(node) for node in layout.order if isinstance(node, Let)}
        self._block = {layout.root: layout.root}
        for (node, _), scope in layout.inner.items():  # the outer ones first
            self._block[scope] = self._block[scope.parent] if node in lets else scope

    def home(self, expr: Expr) -> Scope:
        """Return the block to which the binding of an expression belongs: the innermost one that contains all
        its uses.
        """
        return self._block[self._layout.scope_of[id(expr)]]

    def opened(self, expr: Expr) -> dict[int, Scope]:
        """Map the blocks that an expression opens by their indices in `children(expr)`: two branches, the
        clauses of a `match`, the body of a function. Empty for any other expression.
        """
        if isinstance(expr, Let):
            return {}
        first = len(expr.params) if isinstance(expr, Function) else 0
        scopes = ((number, self._layout.inner.get((id(expr), number))) for number in range(_most(expr)))
        return {first + number: scope for number, scope in scopes if scope is not None}


def _most(expr: Expr) -> int:
    """Return an upper bound of the indices of the blocks that an expression opens."""
    return 3 + len(getattr(expr, "clauses", ()))
