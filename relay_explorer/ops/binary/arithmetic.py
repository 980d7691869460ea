"""Element-wise arithmetic on two tensors: sums, products, quotients, powers, maxima and minima."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.declaration import Gradient, GradientRule, Precision, Trait
from ...ir.expr import Call, Expr
from ...ir.op import Op
from ..arguments import Operand
from ..calls import relay
from ..gradient_tools import masked, number, summed_to_operand
from ..numeric import np, quotient
from ..te.binary import differ, pairwise, plus, whole_quotient
from ..te.library import te, tirx
from ..te.lowered import Lowered
from ..te.tensors import (
    Tensor,
    Value,
    broadcast_shape,
    dims,
    dtype_of,
    element,
    every,
    greater_of,
    lesser_of,
    select,
    some,
    stage,
)
from ..te.tensors import is_float as is_float_type
from ..te.tensors import number as te_number
from .declaring import binary

__all__ = ["add", "divide", "maximum", "minimum", "multiply", "power", "subtract"]


def _difference_te(x: Value, y: Value) -> Value:
    return differ(x, y) if dtype_of(x) == "bool" else x - y


def _product_te(x: Value, y: Value) -> Value:
    return every([x, y]) if dtype_of(x) == "bool" else x * y


def _divide_te(x: Value, y: Value) -> Value:
    return x / y if is_float_type(dtype_of(x)) else whole_quotient(x, y)


def _power_of_te(x: Value, y: Value) -> Value:
    dtype = dtype_of(x)
    if dtype == "bfloat16":  # TVM does not count it as a float
        return te.power(x.astype("float32"), y.astype("float32")).astype(dtype)
    if is_float_type(dtype):
        return te.power(x, y)
    if dtype == "bool":
        return some([x, tirx.Not(y)])
    result = _squares_te(x, y, te_number(1, dtype), (int(dtype.lstrip("uint")) - 1).bit_length())
    return select(
        tirx.all(tirx.EQ(x, te_number(0, dtype)), y > te_number(0, dtype)), te_number(0, dtype), result
    )


def _squares_te(x: Value, y: Value, result: Value, bits: int) -> Value:
    """Multiply `result` by x to the power of the lowest `bits` bits of y, by repeated squaring. Where higher
    bits are set, the power of any number but 0, 1 and -1 exceeds the type's range.
    """
    dtype = dtype_of(x)
    for bit in range(bits):
        odd = tirx.NE(tirx.bitwise_and(y >> te_number(bit, dtype), te_number(1, dtype)), te_number(0, dtype))
        result = select(odd, result * x, result)
        x = x * x
    return result


_PRODUCTS: dict[float, Callable[[Value], Value]] = {
    -1.0: lambda x: te_number(1, dtype_of(x)) / x,
    0.5: lambda x: te.sqrt(x),
    1.0: lambda x: x,
    2.0: lambda x: x * x,
    3.0: lambda x: x * x * x,
    4.0: lambda x: (x * x) * (x * x),
}  # for constant exponents; for others TVM calls the C library for each element


def _power_te(call: Lowered) -> list[Tensor]:
    x, y = call.inputs
    body = getattr(y.op, "body", None)
    exponent = getattr(body[0], "value", None) if body else None
    if dtype_of(x) not in ("float32", "float64") or exponent not in _PRODUCTS:
        return list(pairwise(_power_of_te)(call))
    shape = broadcast_shape(dims(x), dims(y))
    return [stage(shape, lambda *i: _PRODUCTS[exponent](element(x, i, shape)), call.name)]


def _add_gradient(call: Call, grad: Expr) -> list[Expr]:
    return [summed_to_operand(grad, call, 0), summed_to_operand(grad, call, 1)]


def _subtract_gradient(call: Call, grad: Expr) -> list[Expr]:
    return [summed_to_operand(grad, call, 0), summed_to_operand(relay.negative(grad), call, 1)]


def _multiply_gradient(call: Call, grad: Expr) -> list[Expr]:
    x, y = call.args
    return [summed_to_operand(grad * y, call, 0), summed_to_operand(grad * x, call, 1)]


def _divide_gradient(call: Call, grad: Expr) -> list[Expr]:
    _, y = call.args
    return [summed_to_operand(grad / y, call, 0), summed_to_operand(relay.negative(grad * call / y), call, 1)]


def _power_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Differentiate z = x^y. The derivative by the exponent is z · ln x, and 0 where x is not positive: ln x
    does not exist there, and 0 to any positive power is 0.
    """
    x, y = call.args
    by_base = grad * y * relay.power(x, y - number(1, y))
    positive = relay.greater(x, number(0, x))
    logarithm = relay.log(relay.where(positive, x, relay.broadcast_to_like(number(1, x), x)))
    return [summed_to_operand(by_base, call, 0), summed_to_operand(grad * call * logarithm, call, 1)]


def _chosen(comparison: str) -> GradientRule:
    """Make the gradient rule of a maximum or minimum: the gradient goes to the element that `comparison`
    selects, and to the first operand where both are equal.
    """

    def rule(call: Call, grad: Expr) -> list[Expr]:
        takes_first = Call(Op.get(comparison), call.args)
        rest = relay.where(takes_first, relay.zeros_like(grad), grad)
        return [summed_to_operand(masked(takes_first, grad), call, 0), summed_to_operand(rest, call, 1)]

    return rule


_maximum_gradient = _chosen("greater_equal")
_minimum_gradient = _chosen("less_equal")


@binary(
    "add",
    description="Adds two tensors element by element.",
    formula=r"z = x + y",
    reference=lambda x, y: x + y,
    level=1,
    gradient=Gradient("da = dy, db = dy, each summed over its broadcast axes", _add_gradient),
    lowering=pairwise(plus),
    precision=Precision.FOLLOW,
    traits={Trait.COMMUTATIVE, Trait.ADDITIVE, Trait.POLYNOMIAL},
)
def add(lhs: Operand, rhs: Operand) -> Call:
    """Add two tensors element by element."""


@binary(
    "subtract",
    description="Subtracts the second tensor from the first, element by element.",
    formula=r"z = x - y",
    reference=lambda x, y: x - y,
    level=1,
    gradient=Gradient("da = dy, db = −dy, each summed over its broadcast axes", _subtract_gradient),
    lowering=pairwise(_difference_te),
    precision=Precision.FOLLOW,
    traits={Trait.ADDITIVE, Trait.POLYNOMIAL},
)
def subtract(lhs: Operand, rhs: Operand) -> Call:
    """Subtract the second tensor from the first, element by element."""


@binary(
    "multiply",
    description="Multiplies two tensors element by element.",
    formula=r"z = x \cdot y",
    reference=lambda x, y: x * y,
    level=1,
    gradient=Gradient("da = dy · b, db = dy · a, each summed over its broadcast axes", _multiply_gradient),
    lowering=pairwise(_product_te),
    precision=Precision.FOLLOW,
    traits={Trait.ASSOCIATIVE, Trait.COMMUTATIVE, Trait.POLYNOMIAL},
)
def multiply(lhs: Operand, rhs: Operand) -> Call:
    """Multiply two tensors element by element."""


@binary(
    "divide",
    description="Divides two tensors element by element; integer quotients are truncated.",
    formula=r"z = x / y",
    reference=quotient,
    level=1,
    gradient=Gradient("da = dy / b, db = −dy · y / b, each summed over its broadcast axes", _divide_gradient),
    lowering=pairwise(_divide_te),
    precision=Precision.FOLLOW,
    traits={Trait.ASSOCIATIVE},
)
def divide(lhs: Operand, rhs: Operand) -> Call:
    """Divide two tensors element by element; integer quotients are truncated."""


@binary(
    "power",
    description="Raises the first tensor's elements to the power of the second's.",
    formula=r"z = x^{y}",
    reference=lambda x, y: np.power(x, y),
    gradient=Gradient("da = dy · b · a^(b−1), db = dy · y · ln a", _power_gradient),
    lowering=_power_te,
    precision=Precision.NEVER,
)
def power(lhs: Operand, rhs: Operand) -> Call:
    """Raise the first tensor's elements to the power of the second's."""


@binary(
    "maximum",
    description="Takes the larger element of each pair.",
    formula=r"z = \max(x, y)",
    reference=lambda x, y: np.maximum(x, y),
    gradient=Gradient("dy goes to the larger of the two", _maximum_gradient),
    lowering=pairwise(greater_of),
    precision=Precision.FOLLOW,
)
def maximum(lhs: Operand, rhs: Operand) -> Call:
    """Take the larger element of each pair."""


@binary(
    "minimum",
    description="Takes the smaller element of each pair.",
    formula=r"z = \min(x, y)",
    reference=lambda x, y: np.minimum(x, y),
    gradient=Gradient("dy goes to the smaller of the two", _minimum_gradient),
    lowering=pairwise(lesser_of),
    precision=Precision.FOLLOW,
)
def minimum(lhs: Operand, rhs: Operand) -> Call:
    """Take the smaller element of each pair."""
