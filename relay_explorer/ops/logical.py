"""Comparisons, and operators on truth values."""

from __future__ import annotations

from collections.abc import Callable

from ..ir.expr import Call, Expr
from ..ir.op import OpPattern, Relation, RelationError, flops_per_output, no_flops
from ..ir.types import TensorType, Type
from .arguments import binary_builder, expr
from .declare import declare
from .numeric import Array, np
from .relation import BROADCAST_COMPARE, broadcast_shapes, forward, same_dtypes, tensor

__all__ = [
    "equal", "greater", "greater_equal", "less", "less_equal", "logical_and", "logical_or", "logical_xor",
    "not_equal", "where",
]  # fmt: skip


def _compared(
    name: str,
    description: str,
    formula: str,
    value: Callable[[Array, Array], Array],
    *,
    relation: Relation = BROADCAST_COMPARE,
    lenient_in_tvm: str = "",
) -> Callable[[Expr, Expr], Expr]:
    """Declares an operator of two broadcast tensors that gives booleans, and gives its builder."""
    op = declare(
        name, description, formula=formula, relation=relation, inputs=("lhs", "rhs"),
        pattern=OpPattern.BROADCAST, flops=flops_per_output, compute=lambda attrs, x, y: value(x, y),
        family="comparison", level=4,
        lenient_in_tvm=lenient_in_tvm, gradient="elementwise.none", lowering=f"binary.{name}",
    )  # fmt: skip
    return binary_builder(op, __name__)


equal = _compared("equal", "Whether two elements are the same.", r"z = [x = y]", lambda x, y: x == y)
not_equal = _compared("not_equal", "Whether two elements differ.", r"z = [x \ne y]", lambda x, y: x != y)
less = _compared("less", "Whether the first element is below the second.", r"z = [x < y]", lambda x, y: x < y)
less_equal = _compared(
    "less_equal", "Whether the first element is at most the second.", r"z = [x \le y]", lambda x, y: x <= y
)
greater = _compared(
    "greater", "Whether the first element is above the second.", r"z = [x > y]", lambda x, y: x > y
)
greater_equal = _compared(
    "greater_equal",
    "Whether the first element is at least the second.",
    r"z = [x \ge y]",
    lambda x, y: x >= y,
)


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


def _logical(
    name: str, description: str, formula: str, value: Callable[[Array, Array], Array]
) -> Callable[[Expr, Expr], Expr]:
    laxer = "It accepted elements of every type."
    return _compared(name, description, formula, value, relation=_TRUTHS, lenient_in_tvm=laxer)


logical_and = _logical("logical_and", "Whether both elements are true.", r"z = x \land y", lambda x, y: x & y)
logical_or = _logical(
    "logical_or", "Whether at least one of two elements is true.", r"z = x \lor y", lambda x, y: x | y
)
logical_xor = _logical(
    "logical_xor", "Whether exactly one of two elements is true.", r"z = x \oplus y", lambda x, y: x ^ y
)


def _where(attrs: None, condition: Type, x: Type, y: Type) -> Type:
    c, a, b = tensor(condition, 0, "condition"), tensor(x, 1, "x"), tensor(y, 2, "y")
    same_dtypes(a, b, (1, 2))
    both = broadcast_shapes(a.shape, b.shape, (1, 2))
    return TensorType.of(broadcast_shapes(c.shape, both, (0, 1, 2)), a.dtype)


_WHERE = declare(
    "where",
    "The first tensor's element where the condition holds, and the second's where it does not.",
    formula=r"z = \begin{cases} x & c \ne 0 \\ y & c = 0 \end{cases}",
    relation=forward("Where", "{out} = {0} ⊔ {1} ⊔ {2}", _where),
    inputs=("condition", "x", "y"),
    pattern=OpPattern.BROADCAST,
    flops=no_flops,
    compute=lambda attrs, condition, x, y: np.where(condition != 0, x, y),
    family="comparison",
    level=4,
    gradient="elementwise.where",
    lowering="binary.where",
)


def where(condition: Expr, x: Expr, y: Expr) -> Expr:
    """`x` where `condition` is true or not zero, `y` elsewhere; the three shapes are broadcast."""
    return Call(_WHERE, [expr(condition), expr(x), expr(y)])
