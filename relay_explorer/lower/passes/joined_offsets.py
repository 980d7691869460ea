"""Joins the constants that are added to integers one after the other: zero points, biases, and the
compensation of shifted data become one number for each channel.
"""

from __future__ import annotations

from ...ir.declaration import Trait
from ...ir.expr import Call, Expr, Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.typed import tensor_type
from ...transform.infrastructure import PassContext
from ...transform.infrastructure.function_passes import TypedPass, rewritten
from ...transform.tools.typed_rewrite import call, rewrite_calls
from .blocks import is_known, is_static

INTEGERS = ("int32", "int64")  # whose sums wrap around, so that their order does not matter


@dataclass(frozen=True)
class JoinOffsets(TypedPass):
    """Replace (x + a) - b by x + (a - b), for integers and constants a and b."""

    name = "JoinOffsets"
    opt_level = 3

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, rewrite_calls(function, dict.fromkeys(_sums(), _joined)))


def _joined(old: Call, new: Call) -> Expr | None:
    """Add two constants before they are added to a value."""
    outer, inner = _sum(new), new.args[0]
    if outer is None or not isinstance(inner, Call) or not isinstance(old.args[0], Call):
        return None
    within = _sum(inner)
    if within is None or _sum(old.args[0]) is None:  # another operator, whose operand may be a tuple
        return None
    types = [tensor_type(part) for part in (old, old.args[0], old.args[0].args[0])]
    if types[0].dtype not in INTEGERS or not all(map(is_static, types)):
        return None
    if not types[0] == types[1] == types[2]:  # a constant broadcasts the value
        return None
    (first, a), (second, b) = within, outer
    name = "add" if first == second else "subtract"
    return call("add" if first > 0 else "subtract", inner.args[0], call(name, a, b))


def _sum(expr: Call) -> tuple[int, Expr] | None:
    """Return the sign and the constant of a call that adds or subtracts one on the right; None for others."""
    op = expr.op
    if not isinstance(op, Op) or not op.has(Trait.ADDITIVE) or not op.has(Trait.POLYNOMIAL):
        return None
    if not is_known(expr.args[1]):
        return None
    return 1 if op.has(Trait.COMMUTATIVE) else -1, expr.args[1]


def _sums() -> set[str]:
    """Return the operators that add or subtract: polynomials in which a common factor can be factored out."""
    return {*Op.names_with(Trait.ADDITIVE)} & {*Op.names_with(Trait.POLYNOMIAL)}
