"""`tvm.relay.analysis._ffi_api._test_type_solver`: the type solver, for tests that call its steps
separately.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..typing import TypeSolver


class SolverFunctions:
    """The functions of one solver by name: `solver("Unify")(a, b)`."""

    def __init__(self) -> None:
        solver = self.solver = TypeSolver()
        self._functions: dict[str, Callable[..., Any]] = {
            "Solve": solver.solve,
            "Unify": solver.unify,
            "Resolve": solver.resolve,
            "AddConstraint": solver.relate,
        }

    def __call__(self, name: str) -> Callable[..., Any] | None:
        return self._functions.get(name)


def _test_type_solver() -> SolverFunctions:
    """Return an empty solver."""
    return SolverFunctions()


__all__ = ["SolverFunctions", "_test_type_solver"]
