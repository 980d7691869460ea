"""`tvm.ir.diagnostics`: renderers, which print what is wrong with a program.

TVM collected diagnostics and passed them to a renderer before it raised an error. Here the error itself
carries the position, the reason and what to try, so a renderer is stored and never called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.adt import Constructor
from ..ir.errors import RelayError
from ..ir.expr import Expr, GlobalVar
from ..ir.op import Op
from ..ir.visitor import ExprVisitor


class DiagnosticRenderer:
    """Prints diagnostics by calling `render_func`."""

    def __init__(self, render_func: Callable[[Any], None]) -> None:
        self.render_func = render_func

    def render(self, ctx: Any) -> None:
        """Print the diagnostics of a context."""
        self.render_func(ctx)


_DEFAULT = DiagnosticRenderer(print)
_renderers = [_DEFAULT]


def get_renderer() -> DiagnosticRenderer:
    """Return the current renderer."""
    return _renderers[-1]


def override_renderer(render_func: Callable[[Any], None] | None) -> None:
    """Make `render_func` the current renderer; None restores the first one."""
    _renderers[:] = [_DEFAULT] if render_func is None else [_DEFAULT, DiagnosticRenderer(render_func)]


class SpanCheck(ExprVisitor):
    """Visits an expression, and raises an error at the first part without a span."""

    def visit(self, expr: Expr) -> None:
        if expr.span is None and not isinstance(expr, (Op, Constructor, GlobalVar)):
            raise RelayError(f"this {type(expr).__name__} has no span: `{expr!s:.60}`")
        super().visit(expr)


__all__ = ["DiagnosticRenderer", "SpanCheck", "get_renderer", "override_renderer"]
