"""The gradients of operators, one file a family.

An operator names its gradient where it is declared (`gradient="elementwise.exp"`), and nothing here is
imported before a program is differentiated. A gradient is a function of

* `call`, a call of the operator: it, and its arguments, have their types; and as an expression it is the
  value that the operator computed, which a gradient may use again, and
* `grad`, the derivative of the program's result by the call's value: of the same type as that value.

It gives the derivative by each argument, of the argument's type: for a tuple, an expression that is a tuple.
None stands for zero, where the value does not depend on an argument smoothly: an index, a condition, a shape.
So the derivatives of a program are themselves a program, which can be optimized, or differentiated again.
"""

from __future__ import annotations

from importlib import import_module

from ...ir.declaration import Gradient, GradientRule
from ...ir.errors import RelayError
from ...ir.expr import Call, Expr
from ...ir.op import PROPERTIES, Op


def named(path: str) -> GradientRule:
    """Import a gradient rule by its path: the file, a dot, the function."""
    family, _, name = path.partition(".")
    rule: GradientRule = getattr(import_module(f"relay_explorer.ops.gradients.{family}"), name)
    return rule


def declared_rule(op: Op) -> GradientRule | None:
    """Return the gradient rule that an operator was declared with."""
    if isinstance(op.gradient, Gradient):
        return op.gradient.rule
    return named(op.gradient) if isinstance(op.gradient, str) and op.gradient else None


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
                "put operators that have one in its place, or give it one, a function of call and grad: "
                f'relay.op.get("{call.op.name}").set_attr("FPrimalGradient", …)',
            ],
        )
    return rule
