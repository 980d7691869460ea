"""Copy a function with renamed variables."""

from __future__ import annotations

from collections.abc import Callable

from ..ir.expr import Expr, Function, Var
from ..ir.visitor import ExprMutator


class _Rename(ExprMutator):
    def __init__(self, name: Callable[[Var], str]) -> None:
        super().__init__()
        self.name = name

    def visit_var(self, var: Var) -> Expr:
        return Var(self.name(var), var.type_annotation)


def renamed(function: Function, name: Callable[[Var], str]) -> Function:
    """Replace each variable of a function by a new one, named by `name`."""
    result = _Rename(name).visit(function)
    assert isinstance(result, Function)
    return result
