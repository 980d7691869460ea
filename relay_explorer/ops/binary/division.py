"""Element-wise division with rounding, and remainders."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.declaration import Gradient
from ...ir.expr import Call, Expr
from ..arguments import Operand
from ..calls import relay
from ..gradient_tools import ZERO, summed_to_operand
from ..numeric import Array, is_float, nonzero, np, quotient
from ..te.binary import negated, pairwise, safe_quotient, whole_quotient
from ..te.library import te, tirx
from ..te.tensors import (
    Value,
    cast,
    dtype_of,
    every,
)
from ..te.tensors import is_float as is_float_type
from ..te.tensors import number as te_number
from .declaring import binary

__all__ = ["floor_divide", "floor_mod", "mod", "trunc_divide", "trunc_mod"]


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


def _floor_divide_te(x: Value, y: Value) -> Value:
    if is_float_type(dtype_of(x)):
        return te.floor(x / y)
    if dtype_of(x) == "bool":
        return every([x, y])
    return safe_quotient(te.floordiv, x, y, negated(x))


def _floor_mod_te(x: Value, y: Value) -> Value:
    return x - y * _floor_divide_te(x, y) if is_float_type(dtype_of(x)) else _rest_te(te.floormod, x, y)


def _rest_te(divide: Callable[[Value, Value], Value], x: Value, y: Value) -> Value:
    if dtype_of(x) == "bool":
        return te_number(False, "bool")
    return safe_quotient(divide, x, y, te_number(0, dtype_of(x)))


def _remainder_te(x: Value, y: Value) -> Value:
    """Compute the remainder, with the sign of `x`, as in C."""
    return _fmod_te(x, y) if is_float_type(dtype_of(x)) else _rest_te(tirx.truncmod, x, y)


def _fmod_te(x: Value, y: Value) -> Value:
    """Call C's `fmod`, because TVM's LLVM code generator does not support TVM's own operator for it."""
    dtype = dtype_of(x)
    if dtype == "float64":
        return tirx.call_pure_extern(dtype, "fmod", x, y)
    narrow = tirx.call_pure_extern("float32", "fmodf", x.astype("float32"), y.astype("float32"))
    return cast(narrow, dtype)


def _trunc_divide_te(x: Value, y: Value) -> Value:
    return te.trunc(x / y) if is_float_type(dtype_of(x)) else whole_quotient(x, y)


def _floor_mod_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Differentiate x - y ⌊x / y⌋, in which ⌊x / y⌋ is piecewise constant."""
    x, y = call.args
    return [
        summed_to_operand(grad, call, 0),
        summed_to_operand(relay.negative(grad * relay.floor_divide(x, y)), call, 1),
    ]


def _trunc_mod_gradient(call: Call, grad: Expr) -> list[Expr]:
    x, y = call.args
    return [
        summed_to_operand(grad, call, 0),
        summed_to_operand(relay.negative(grad * relay.trunc_divide(x, y)), call, 1),
    ]


@binary(
    "mod",
    description="Computes the remainder of the division of two tensors, which has the dividend's sign.",
    formula=r"z = x \bmod y",
    reference=_remainder,
    level=1,
    gradient=Gradient(
        "da = dy, db = −dy · trunc(a / b), each summed over its broadcast axes", _trunc_mod_gradient
    ),
    lowering=pairwise(_remainder_te),
)
def mod(lhs: Operand, rhs: Operand) -> Call:
    """Compute the remainder of the division of two tensors, which has the dividend's sign."""


@binary(
    "floor_divide",
    description="Computes the quotient of two tensors, rounded down.",
    formula=r"z = \lfloor x / y \rfloor",
    reference=_floor_divide,
    gradient=ZERO,
    lowering=pairwise(_floor_divide_te),
)
def floor_divide(lhs: Operand, rhs: Operand) -> Call:
    """Compute the quotient of two tensors, rounded down."""


@binary(
    "floor_mod",
    description="Computes the remainder of floor_divide, which has the divisor's sign.",
    formula=r"z = x - y \lfloor x / y \rfloor",
    reference=_floor_mod,
    gradient=Gradient(
        "da = dy, db = −dy · ⌊a / b⌋, each summed over its broadcast axes", _floor_mod_gradient
    ),
    lowering=pairwise(_floor_mod_te),
)
def floor_mod(lhs: Operand, rhs: Operand) -> Call:
    """Compute the remainder of floor_divide, which has the divisor's sign."""


@binary(
    "trunc_divide",
    description="Computes the quotient of two tensors, rounded towards zero.",
    formula=r"z = \operatorname{trunc}(x / y)",
    reference=_trunc_divide,
    gradient=ZERO,
    lowering=pairwise(_trunc_divide_te),
)
def trunc_divide(lhs: Operand, rhs: Operand) -> Call:
    """Compute the quotient of two tensors, rounded towards zero."""


@binary(
    "trunc_mod",
    description="Computes the remainder of trunc_divide, which has the dividend's sign.",
    formula=r"z = x - y \operatorname{trunc}(x / y)",
    reference=_remainder,
    gradient=Gradient(
        "da = dy, db = −dy · trunc(a / b), each summed over its broadcast axes", _trunc_mod_gradient
    ),
    lowering=pairwise(_remainder_te),
)
def trunc_mod(lhs: Operand, rhs: Operand) -> Call:
    """Compute the remainder of trunc_divide, which has the dividend's sign."""
