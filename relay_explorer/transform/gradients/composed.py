"""The gradient of an operator that is composed of simpler ones: that of the composition."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.expr import Call, Expr
from ..differentiation.reverse_mode import derivatives_of
from . import Gradient


def composed(build: Callable[..., Expr]) -> Gradient:
    """The gradient of an operator whose value is `build(attrs, *arguments)`, made of operators that have
    gradients. The arguments that `build` gets are variables with types.
    """

    def rule(call: Call, grad: Expr) -> Sequence[Expr | None]:
        return derivatives_of(call.args, lambda *arguments: build(call.attrs, *arguments), grad)

    return rule
