"""Arithmetic on two tensors, which are broadcast to one shape as in NumPy."""

from __future__ import annotations

from collections.abc import Callable

from ..ir.expr import Expr
from ..ir.op import OpPattern, Relation, RelationError, flops_per_output
from ..ir.types import TensorType, Type
from .arguments import binary_builder
from .declare import declare
from .numeric import Array, is_float, nonzero, np, quotient
from .relation import BROADCAST, broadcast_shapes, forward, is_integer, same_dtypes, tensor

__all__ = [
    "add", "bitwise_and", "bitwise_or", "bitwise_xor", "divide", "floor_divide", "floor_mod",
    "left_shift", "maximum", "minimum", "mod", "multiply", "power", "right_shift", "subtract",
    "trunc_divide", "trunc_mod",
]  # fmt: skip


def _binary(
    name: str,
    description: str,
    formula: str,
    value: Callable[[Array, Array], Array],
    *,
    level: int = 4,
    relation: Relation = BROADCAST,
    lenient_in_tvm: str = "",
    gradient: str = "",
) -> Callable[[Expr, Expr], Expr]:
    """Declares an operator of two broadcast tensors and gives its builder, a function of `lhs` and `rhs`.

    `value` is its meaning; what it makes is brought back to the arguments' element type.
    """

    def compute(attrs: None, x: Array, y: Array) -> Array:
        return np.asarray(value(x, y)).astype(x.dtype, copy=False)

    op = declare(
        name, description, formula=formula, relation=relation, inputs=("lhs", "rhs"),
        pattern=OpPattern.BROADCAST, flops=flops_per_output, compute=compute,
        family="arithmetic", level=level,
        lenient_in_tvm=lenient_in_tvm, gradient=gradient, lowering=f"binary.{name}",
    )  # fmt: skip
    return binary_builder(op, __name__)


def _floor_divide(x: Array, y: Array) -> Array:
    nonzero(y)
    return np.floor(x / y) if is_float(x) else x // y


def _floor_mod(x: Array, y: Array) -> Array:
    return x - y * _floor_divide(x, y)


def _trunc_divide(x: Array, y: Array) -> Array:
    return np.trunc(x / y) if is_float(x) else quotient(x, y)


def _remainder(x: Array, y: Array) -> Array:
    nonzero(y)
    return np.fmod(x, y)  # has the sign of x, as in C


add = _binary(
    "add",
    "The sum of two tensors.",
    r"z = x + y",
    lambda x, y: x + y,
    level=1,
    gradient="elementwise.add",
)
subtract = _binary(
    "subtract",
    "The difference of two tensors.",
    r"z = x - y",
    lambda x, y: x - y,
    level=1,
    gradient="elementwise.subtract",
)
multiply = _binary(
    "multiply",
    "The element-wise product of two tensors.",
    r"z = x \cdot y",
    lambda x, y: x * y,
    level=1,
    gradient="elementwise.multiply",
)
divide = _binary(
    "divide",
    "The element-wise quotient of two tensors; of integers, its whole part.",
    r"z = x / y",
    quotient,
    level=1,
    gradient="elementwise.divide",
)
mod = _binary(
    "mod",
    "The remainder of the division of two tensors.",
    r"z = x \bmod y",
    _remainder,
    level=1,
    gradient="elementwise.trunc_mod",
)
floor_divide = _binary(
    "floor_divide",
    "The quotient of two tensors, rounded down.",
    r"z = \lfloor x / y \rfloor",
    _floor_divide,
    gradient="elementwise.none",
)
floor_mod = _binary(
    "floor_mod",
    "What floor_divide leaves over: it has the divisor's sign.",
    r"z = x - y \lfloor x / y \rfloor",
    _floor_mod,
    gradient="elementwise.floor_mod",
)
trunc_divide = _binary(
    "trunc_divide",
    "The quotient of two tensors, rounded towards zero.",
    r"z = \operatorname{trunc}(x / y)",
    _trunc_divide,
    gradient="elementwise.none",
)
trunc_mod = _binary(
    "trunc_mod", "What trunc_divide leaves over: it has the dividend's sign.",
    r"z = x - y \operatorname{trunc}(x / y)", _remainder, gradient="elementwise.trunc_mod",
)  # fmt: skip
power = _binary(
    "power",
    "The first tensor's elements to the power of the second's.",
    r"z = x^{y}",
    lambda x, y: np.power(x, y),
    gradient="elementwise.power",
)
maximum = _binary(
    "maximum",
    "The greater of two elements.",
    r"z = \max(x, y)",
    lambda x, y: np.maximum(x, y),
    gradient="elementwise.maximum",
)
minimum = _binary(
    "minimum",
    "The lesser of two elements.",
    r"z = \min(x, y)",
    lambda x, y: np.minimum(x, y),
    gradient="elementwise.minimum",
)


def _bits(attrs: None, lhs: Type, rhs: Type) -> Type:
    a, b = tensor(lhs, 0, "lhs"), tensor(rhs, 1, "rhs")
    same_dtypes(a, b)
    if not is_integer(a.dtype) and a.dtype != "bool":
        raise RelationError(
            f"bits are those of integers, but the elements are {a.dtype}",
            'convert both tensors: relay.cast(…, "int32")',
            culprits=(0, 1),
        )
    return TensorType.of(broadcast_shapes(a.shape, b.shape), a.dtype)


_BITS = forward("BroadcastBits", "{out} = {0} ⊔ {1}, of integers", _bits)
_LAXER = "It accepted elements of every type."


def _bitwise(
    name: str, description: str, formula: str, value: Callable[[Array, Array], Array]
) -> Callable[[Expr, Expr], Expr]:
    return _binary(
        name,
        description,
        formula,
        value,
        relation=_BITS,
        lenient_in_tvm=_LAXER,
        gradient="elementwise.none",
    )


left_shift = _bitwise(
    "left_shift", "The bits of each element moved up.", r"z = x \cdot 2^{y}", lambda x, y: np.left_shift(x, y)
)
right_shift = _bitwise(
    "right_shift",
    "The bits of each element moved down.",
    r"z = \lfloor x / 2^{y} \rfloor",
    lambda x, y: np.right_shift(x, y),
)
bitwise_and = _bitwise(
    "bitwise_and", "The bits that are set in both elements.", r"z = x \mathbin{\&} y", lambda x, y: x & y
)
bitwise_or = _bitwise(
    "bitwise_or", "The bits that are set in either element.", r"z = x \mathbin{|} y", lambda x, y: x | y
)
bitwise_xor = _bitwise(
    "bitwise_xor", "The bits that are set in one element only.", r"z = x \oplus y", lambda x, y: x ^ y
)
