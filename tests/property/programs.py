"""Random well-typed programs for tests, also as a strategy of Hypothesis; and what shows a failure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hypothesis import strategies as st

from relay_explorer.grading.budget import limited
from relay_explorer.ir import ExprMutator, Function, IRModule, Var
from relay_explorer.testing import Generated, generate, shrink


def programs(largest: int = 60) -> st.SearchStrategy[Generated]:
    """Programs of up to about `largest` expressions (a few times as many at most)."""
    return st.builds(generate, st.integers(0, 2**48), st.integers(1, largest))


def first_failure(modules: Iterable[IRModule], problem: Callable[[IRModule], str | None]) -> str | None:
    """Return the problem of the first module that has one, on the smallest module that has one."""
    for module in modules:
        if problem(module) is not None:
            small = shrink(module, lambda m: limited(5, problem, m).value is not None)
            return f"{problem(small)}\n{small}"
    return None


class _Renaming(ExprMutator):
    """Gives every variable another object and another name."""

    def visit_var(self, var: Var) -> Var:
        return Var(f"{var.name_hint}_renamed", var.type_annotation)


def renamed(module: IRModule) -> IRModule:
    """Return a module in which every bound variable is renamed."""
    result = IRModule({}, module.type_definitions)
    for var, function in module.functions.items():
        new = _Renaming().visit(function)
        assert isinstance(new, Function)
        result[var] = new
    return result
