"""Look up the gradient rules of operators, for differentiation.

The rule of an operator is declared with it (`ir.declaration.Gradient`), or set as its attribute
`FPrimalGradient`. It returns expressions, so the derivatives of a program are themselves a program, which can
be optimized, or differentiated again.
"""

from __future__ import annotations

from ..ir.declaration import Gradient, GradientRule
from ..ir.errors import RelayError
from ..ir.expr import Call
from ..ir.op import PROPERTIES, Op


def declared_rule(op: Op) -> GradientRule | None:
    """Return the gradient rule that an operator was declared with."""
    return op.gradient.rule if isinstance(op.gradient, Gradient) else None


PROPERTIES["FPrimalGradient"] = declared_rule


def gradient_of(call: Call) -> GradientRule:
    """Return the gradient rule of the operator that `call` calls; raise a RelayError where it has none."""
    assert isinstance(call.op, Op)
    rule: GradientRule | None = call.op.get_attr("FPrimalGradient")
    if rule is None:
        raise RelayError(
            f"the operator `{call.op.name}` has no gradient",
            call.span,
            help=[
                "use operators that have one instead, or register one, a function of call and grad: "
                f'relay.op.get("{call.op.name}").set_attr("FPrimalGradient", …)',
            ],
        )
    return rule
