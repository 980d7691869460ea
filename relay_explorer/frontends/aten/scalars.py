"""Arithmetic with Python numbers of the model: computed at once where both are known, else by Relay."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any as Anything
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from .context import Aten
from .registry import aten
from .values import Number, Scalar, Value


def _divided(a: Anything, b: Anything) -> Anything:
    if b == 0:
        raise RelayError(f"the model divides {a} by zero")
    return a / b


_PYTHON: dict[str, Callable[[Anything, Anything], Anything]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "floordiv": operator.floordiv,
    "div": _divided, "remainder": operator.mod, "pow": operator.pow,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt,
    "ge": operator.ge, "max": max, "min": min, "and": operator.and_, "or": operator.or_, "xor": operator.xor,
    "lshift": operator.lshift, "rshift": operator.rshift, "fmod": math.fmod, "atan2": math.atan2,
}  # fmt: skip
_RELAY: dict[str, Callable[[Expr, Expr], Expr]] = {
    "add": relay.add, "sub": relay.subtract, "mul": relay.multiply, "floordiv": relay.floor_divide,
    "div": relay.divide, "remainder": relay.floor_mod, "pow": relay.power,
    "eq": relay.equal, "ne": relay.not_equal, "lt": relay.less, "le": relay.less_equal, "gt": relay.greater,
    "ge": relay.greater_equal, "max": relay.maximum, "min": relay.minimum,
    "and": relay.bitwise_and, "or": relay.bitwise_or, "xor": relay.bitwise_xor,
    "lshift": relay.left_shift, "rshift": relay.right_shift, "fmod": relay.trunc_mod,
}  # fmt: skip
_LOGICAL = {"and": relay.logical_and, "or": relay.logical_or, "xor": relay.logical_xor}
_MAX_BITS = 1 << 12  # of an integer that is computed: a model has no larger ones


def binary(ctx: Aten, op: str, a: Number, b: Number) -> Number:
    """Apply an operation (`add`, `floordiv`, `lt` …) to two numbers."""
    a, b = known(ctx, a), known(ctx, b)
    if not isinstance(a, Scalar) and not isinstance(b, Scalar):
        if op in ("pow", "lshift") and isinstance(b, int) and abs(b) > _MAX_BITS:
            shown = f"the exponent {b:,} of {a}" if op == "pow" else f"the shift of {a} by {b:,} bits"
            raise RelayError(f"{shown} exceeds the limit of {_MAX_BITS:,}")
        if op in ("floordiv", "remainder", "fmod") and b == 0:
            raise RelayError(f"the model divides {a} by zero")
        return cast(Number, _PYTHON[op](a, b))
    kinds = {kind_of(a), kind_of(b)}
    dtype = "float64" if float in kinds or op == "div" else "int64"
    convert = _RELAY.get(op)
    if op in _LOGICAL and kinds == {bool}:
        dtype, convert = "bool", _LOGICAL[op]
    if convert is None:
        raise RelayError(f"`{op}` of numbers that are known only at run time cannot be imported")
    return ctx.scalar(convert(ctx.tensor(a, dtype), ctx.tensor(b, dtype)))


def known(ctx: Aten, value: Number) -> Number:
    """Return a number as a Python number if it is known at compile time."""
    return ctx.unwrapped(value) if isinstance(value, Scalar) else value


def kind_of(value: Number) -> type:
    """Return the Python type of a number."""
    return value.kind if isinstance(value, Scalar) else type(value)


def _rounded(
    op: Callable[[Anything], int], convert: Callable[[Expr], Expr]
) -> Callable[[Aten, Number], Number]:
    def result(ctx: Aten, value: Number) -> Number:
        value = known(ctx, value)
        if not isinstance(value, Scalar):
            return op(value)
        if value.kind is not float:
            return value
        return ctx.scalar(relay.cast(convert(value.expr), "int64"))

    return result


floor_number = _rounded(math.floor, relay.floor)
ceil_number = _rounded(math.ceil, relay.ceil)
round_number = _rounded(round, relay.round)


def negated(ctx: Aten, value: Number) -> Number:
    """Return a number with the other sign."""
    value = known(ctx, value)
    return ctx.scalar(relay.negative(ctx.tensor(value))) if isinstance(value, Scalar) else -value


def converted(ctx: Aten, value: Value, kind: type, dtype: str) -> Number:
    """Convert a number, or a tensor of one element, to a Python number of a type."""
    if isinstance(value, Expr):
        constant = ctx.context.constant(value)
        if constant is not None and constant.size == 1:
            return cast(Number, kind(constant.reshape(()).item()))
        return ctx.scalar(_as(ctx, ctx.scalar(value).expr, dtype))
    if isinstance(value, Scalar):
        number = ctx.unwrapped(value)
        return (
            converted(ctx, number, kind, dtype)
            if not isinstance(number, Scalar)
            else ctx.scalar(_as(ctx, value.expr, dtype))
        )
    return cast(Number, kind(value))


def _as(ctx: Aten, x: Expr, dtype: str) -> Expr:
    """Convert a tensor to an element type; anything but zero is true."""
    if dtype == "bool" and ctx.dtype(x) != "bool":
        return relay.not_equal(x, const(0, ctx.dtype(x)))
    return ctx.cast(x, dtype)


@aten("Int", "prim::Int", "aten::IntImplicit")
def to_int(ctx: Aten, value: Value) -> Value:
    return converted(ctx, value, int, "int64")


@aten("Float", "FloatImplicit")
def to_float(ctx: Aten, value: Value) -> Value:
    return converted(ctx, value, float, "float64")


@aten("Bool")
def to_bool(ctx: Aten, value: Value) -> Value:
    return converted(ctx, value, bool, "bool")


@aten("ScalarImplicit", "item")
def item(ctx: Aten, value: Expr) -> Value:
    return known(ctx, ctx.scalar(value))


@aten("__not__")
def not_(ctx: Aten, value: Number) -> Value:
    value = converted(ctx, value, bool, "bool")
    return ctx.scalar(relay.logical_not(value.expr)) if isinstance(value, Scalar) else not value


@aten("sqrt.int", "sqrt.float", "sqrt.Scalar")
def sqrt(ctx: Aten, value: Number) -> Value:
    value = known(ctx, value)
    if isinstance(value, Scalar):
        return ctx.scalar(relay.sqrt(ctx.cast(value.expr, "float64")))
    return math.sqrt(value)


@aten("floor.int", "floor.float", "floor.Scalar")
def floor(ctx: Aten, value: Number) -> Value:
    return floor_number(ctx, value)


@aten("ceil.int", "ceil.float", "ceil.Scalar")
def ceil(ctx: Aten, value: Number) -> Value:
    return ceil_number(ctx, value)


@aten("neg.int", "neg.float", "neg.Scalar")
def neg(ctx: Aten, value: Number) -> Value:
    return negated(ctx, value)


def _declare(op: str, *names: str) -> None:
    def convert(ctx: Aten, a: Number, b: Number) -> Value:
        return binary(ctx, op, a, b)

    aten(*names)(convert)


_declare("max", "prim::max.int", "prim::max.float", "prim::max.int_float", "prim::max.float_int", "prim::max")
_declare("min", "prim::min.int", "prim::min.float", "prim::min.int_float", "prim::min.float_int", "prim::min")
