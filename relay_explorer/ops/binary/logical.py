"""Operators on booleans, and selection by a condition."""

from __future__ import annotations

from ...ir.declaration import Gradient, Precision
from ...ir.expr import Call, Expr
from ...ir.op import OpPattern, RelationError, no_flops
from ...ir.types import TensorType, Type
from ..arguments import Operand
from ..calls import relay
from ..examples import X, Y, bools
from ..gradient_tools import summed_to_operand
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import np
from ..operator import operator
from ..relation import (
    broadcast_shapes,
    forward,
    same_dtypes,
    tensor,
)
from ..te.binary import differ, pairwise
from ..te.lowered import Lowered
from ..te.tensors import (
    Tensor,
    Value,
    broadcast_shape,
    cast,
    dims,
    element,
    every,
    select,
    some,
    stage,
)
from .declaring import compared

__all__ = ["logical_and", "logical_or", "logical_xor", "where"]


def _truths(attrs: None, lhs: Type, rhs: Type) -> Type:
    a, b = tensor(lhs, 0, "lhs"), tensor(rhs, 1, "rhs")
    same_dtypes(a, b)
    if a.dtype != "bool":
        raise RelationError(
            f"logical operators take booleans, but the elements are {a.dtype}",
            'compare first (relay.not_equal(x, zero)), or convert: relay.cast(x, "bool")',
            culprits=(0, 1),
        )
    return TensorType.of(broadcast_shapes(a.shape, b.shape), "bool")


_TRUTHS = forward("BroadcastLogical", "{out} = {0} ⊔ {1}, of booleans", _truths)
_LENIENT = "It accepted elements of every type."


@compared(
    "logical_and",
    description="Tests whether both elements are true.",
    formula=r"z = x \land y",
    reference=lambda x, y: x & y,
    relation=_TRUTHS,
    lenient_in_tvm=_LENIENT,
    lowering=pairwise(lambda x, y: every([x, y])),
)
def logical_and(lhs: Operand, rhs: Operand) -> Call:
    """Test whether both elements are true."""


@compared(
    "logical_or",
    description="Tests whether at least one of two elements is true.",
    formula=r"z = x \lor y",
    reference=lambda x, y: x | y,
    relation=_TRUTHS,
    lenient_in_tvm=_LENIENT,
    lowering=pairwise(lambda x, y: some([x, y])),
)
def logical_or(lhs: Operand, rhs: Operand) -> Call:
    """Test whether at least one of two elements is true."""


@compared(
    "logical_xor",
    description="Tests whether exactly one of two elements is true.",
    formula=r"z = x \oplus y",
    reference=lambda x, y: x ^ y,
    relation=_TRUTHS,
    lenient_in_tvm=_LENIENT,
    lowering=pairwise(differ),
)
def logical_xor(lhs: Operand, rhs: Operand) -> Call:
    """Test whether exactly one of two elements is true."""


def _where(attrs: None, condition: Type, x: Type, y: Type) -> Type:
    c, a, b = tensor(condition, 0, "condition"), tensor(x, 1, "x"), tensor(y, 2, "y")
    same_dtypes(a, b, (1, 2))
    both = broadcast_shapes(a.shape, b.shape, (1, 2))
    return TensorType.of(broadcast_shapes(c.shape, both, (0, 1, 2)), a.dtype)


def _where_te(call: Lowered) -> list[Tensor]:
    """Select elements by the condition, which may have any element type: it holds where it is not 0."""
    c, x, y = call.inputs
    shape = broadcast_shape(dims(c), dims(x), dims(y))

    def value(*i: Value) -> Value:
        chosen = cast(element(c, i, shape), "bool")
        return select(chosen, element(x, i, shape), element(y, i, shape))

    return [stage(shape, value, call.name)]


def _where_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    condition = call.args[0]
    rest = relay.where(condition, relay.zeros_like(grad), grad)
    return [
        None,
        summed_to_operand(relay.where(condition, grad, relay.zeros_like(grad)), call, 1),
        summed_to_operand(rest, call, 2),
    ]


@operator(
    "where",
    description="Selects the first tensor's element where the condition holds and the second's elsewhere.",
    formula=r"z = \begin{cases} x & c \ne 0 \\ y & c = 0 \end{cases}",
    family="comparison",
    level=4,
    relation=forward("Where", "{out} = {0} ⊔ {1} ⊔ {2}", _where),
    pattern=OpPattern.BROADCAST,
    flops=no_flops,
    reference=lambda attrs, condition, x, y: np.where(condition != 0, x, y),
    gradient=Gradient(
        "each element of dy goes to the operand that the element was taken from", _where_gradient
    ),
    lowering=_where_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.FOLLOW,
    example=lambda build: build(bools(6), X, Y),
)
def where(condition: Operand, x: Operand, y: Operand) -> Call:
    """Select `x` where `condition` is true or not zero, `y` elsewhere; the three shapes are broadcast."""
