"""The gradient of an operator that is composed of simpler ones: that of the composition."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.declaration import GradientRule
from ...ir.expr import Call, Expr

Differentiate = Callable[[Sequence[Expr], Callable[..., Expr], Expr], "Sequence[Expr | None]"]
_differentiate: list[Differentiate] = []


def differentiate_by(function: Differentiate) -> Differentiate:
    """Register what differentiates compositions: reverse mode, which lies below the operators."""
    _differentiate[:] = [function]
    return function


def composed(build: Callable[..., Expr]) -> GradientRule:
    """The gradient of an operator whose value is `build(attrs, *operands)`, composed of operators that have
    gradients. The operands that `build` gets are variables with types.
    """

    def rule(call: Call, grad: Expr) -> Sequence[Expr | None]:
        (differentiate,) = _differentiate
        return differentiate(call.args, lambda *operands: build(call.attrs, *operands), grad)

    return rule
