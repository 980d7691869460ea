"""Arithmetic with two operands, and what combines it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any as Anything
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from . import scalars
from .context import Aten
from .dtypes import is_float
from .registry import aten
from .values import Number, Value, is_number

Binary = Callable[[Expr, Expr], Expr]


def _both(op: str, ctx: Aten, x: Value, y: Value) -> Number | None:
    """Return the result if both operands are Python numbers, else None."""
    if is_number(x) and is_number(y):
        return scalars.binary(ctx, op, cast(Number, x), cast(Number, y))
    return None


def _scaled(ctx: Aten, x: Value, alpha: Number) -> Value:
    """Return `alpha * x`."""
    if not is_number(alpha) or alpha == 1:
        return x
    if is_number(x):
        return scalars.binary(ctx, "mul", cast(Number, x), alpha)
    assert isinstance(x, Expr)
    x, factor = ctx.operands(x, alpha, dtype=ctx.result_type(x, alpha))
    return relay.multiply(x, factor)


@aten("add", "__add__")
def add(ctx: Aten, x: Value, y: Value, alpha: Number = 1) -> Value:
    """Add tensors or numbers; concatenate lists and strings."""
    if isinstance(x, (list, str)):
        return cast(Anything, x) + cast(Anything, y)
    number = _both("add", ctx, x, y)
    if number is not None:
        return number
    dtype = ctx.result_type(x, y)
    a, b = ctx.operands(x, _scaled(ctx, y, alpha), dtype=dtype)
    return relay.logical_or(a, b) if dtype == "bool" else relay.add(a, b)


@aten("sub", "subtract")
def sub(ctx: Aten, x: Value, y: Value, alpha: Number = 1) -> Value:
    number = _both("sub", ctx, x, y)
    if number is not None:
        return number
    dtype = ctx.result_type(x, y)
    a, b = ctx.operands(x, _scaled(ctx, y, alpha), dtype=dtype)
    return relay.subtract(a, b)


@aten("rsub")
def rsub(ctx: Aten, x: Value, y: Value, alpha: Number = 1) -> Value:
    dtype = ctx.result_type(x, y)
    a, b = ctx.operands(_scaled(ctx, x, alpha), y, dtype=dtype)
    return relay.subtract(b, a)


@aten("mul", "multiply", "__mul__")
def mul(ctx: Aten, x: Value, y: Value) -> Value:
    if isinstance(x, list):
        return x * ctx.integer(y)
    number = _both("mul", ctx, x, y)
    if number is not None:
        return number
    a, b = ctx.operands(x, y)
    return relay.logical_and(a, b) if ctx.dtype(a) == "bool" else relay.multiply(a, b)


@aten("div", "divide", "true_divide", "__truediv__")
def div(ctx: Aten, x: Value, y: Value, rounding_mode: str | None = None) -> Value:
    if rounding_mode == "floor":
        return floor_divide(ctx, x, y)
    number = _both("div", ctx, x, y) if rounding_mode is None else None
    if number is not None:
        return number
    dtype = ctx.result_type(x, y)
    if rounding_mode is None:
        dtype = dtype if is_float(dtype) else ctx.default_dtype
        return relay.divide(*ctx.operands(x, y, dtype=dtype))
    if rounding_mode != "trunc":
        raise RelayError(f"PyTorch has no rounding mode {rounding_mode!r}")
    a, b = ctx.operands(x, y, dtype=dtype)
    return relay.trunc(relay.divide(a, b)) if is_float(dtype) else relay.trunc_divide(a, b)


@aten("floor_divide", "floordiv", "__floordiv__")
def floor_divide(ctx: Aten, x: Value, y: Value) -> Value:
    number = _both("floordiv", ctx, x, y)
    if number is not None:
        return number
    a, b = ctx.operands(x, y)
    return _floor_divided(ctx, a, b) if is_float(ctx.dtype(a)) else relay.floor_divide(a, b)


def _floor_divided(ctx: Aten, a: Expr, b: Expr) -> Expr:
    """Return the floor of the exact quotient, as Python does: 6 // 0.3 is 19, though 6 / 0.3 rounds to 20."""
    dtype = ctx.dtype(a)
    zero, one = const(0, dtype), const(1, dtype)
    rest = relay.trunc_mod(a, b)
    quotient = relay.divide(relay.subtract(a, rest), b)
    negative = relay.not_equal(relay.less(b, zero), relay.less(rest, zero))
    below = relay.logical_and(relay.not_equal(rest, zero), negative)
    rounded = relay.round(relay.where(below, relay.subtract(quotient, one), quotient))
    return relay.where(relay.equal(b, zero), relay.divide(a, b), rounded)


@aten("remainder", "__mod__")
def remainder(ctx: Aten, x: Value, y: Value) -> Value:
    number = _both("remainder", ctx, x, y)
    return relay.floor_mod(*ctx.operands(x, y)) if number is None else number


@aten("fmod")
def fmod(ctx: Aten, x: Value, y: Value) -> Value:
    number = _both("fmod", ctx, x, y)
    return relay.trunc_mod(*ctx.operands(x, y)) if number is None else number


@aten("pow", "__pow__")
def power(ctx: Aten, x: Value, y: Value) -> Value:
    """Raise to a power; a whole exponent that is known becomes products, which also allow negative bases."""
    number = _both("pow", ctx, x, y)
    if number is not None:
        return number
    dtype = ctx.result_type(x, y)
    exponent = y if isinstance(y, (int, float)) else None
    if isinstance(x, Expr) and exponent is not None:
        base = ctx.cast(x, dtype)
        if exponent == 1:
            return base
        if exponent == 2:
            return relay.multiply(base, base)
        if exponent == 3:
            return relay.multiply(relay.multiply(base, base), base)
        if exponent == 0.5:
            return relay.sqrt(base)
        if exponent == -0.5:
            return relay.rsqrt(base)
        if exponent == -1 and is_float(dtype):
            return relay.divide(const(1, dtype), base)
    if not is_float(dtype):
        if exponent is not None and exponent >= 0:
            return _whole_power(ctx, cast(Expr, x), int(exponent), dtype)
        raise RelayError(
            f"powers of {dtype} tensors can be imported only if the exponent is a non-negative number that "
            "is known at compile time",
            help=["convert the operands to floating point in the model"],
        )
    return relay.power(*ctx.operands(x, y, dtype=dtype))


def _whole_power(ctx: Aten, x: Expr, exponent: int, dtype: str) -> Expr:
    """Return `x ** exponent` by repeated squaring; exact for integers, which wrap around."""
    x = ctx.cast(x, dtype)
    if exponent == 0:
        return relay.ones_like(x)
    result: Expr | None = None
    if exponent >= 1 << 16:
        raise RelayError(f"the exponent of an integer tensor must be below {1 << 16:,}, not {exponent:,}")
    while exponent:
        if exponent & 1:
            result = x if result is None else relay.multiply(result, x)
        exponent >>= 1
        x = relay.multiply(x, x) if exponent else x
    assert result is not None
    return result


def _extreme(op: str, combine: Binary) -> Callable[[Aten, Value, Value], Value]:
    def convert(ctx: Aten, x: Value, y: Value) -> Value:
        number = _both(op, ctx, x, y)
        return combine(*ctx.operands(x, y)) if number is None else number

    return convert


def _ignoring_nan(ctx: Aten, x: Value, y: Value, combine: Binary) -> Expr:
    a, b = ctx.operands(x, y)
    if not is_float(ctx.dtype(a)):
        return combine(a, b)
    return relay.where(relay.isnan(a), b, relay.where(relay.isnan(b), a, combine(a, b)))


maximum = aten("maximum", "max.other")(_extreme("max", relay.maximum))
minimum = aten("minimum", "min.other")(_extreme("min", relay.minimum))


@aten("fmax")
def fmax(ctx: Aten, x: Value, y: Value) -> Value:
    return _ignoring_nan(ctx, x, y, relay.maximum)


@aten("fmin")
def fmin(ctx: Aten, x: Value, y: Value) -> Value:
    return _ignoring_nan(ctx, x, y, relay.minimum)


@aten("addcmul")
def addcmul(ctx: Aten, x: Expr, a: Expr, b: Expr, value: Number = 1) -> Value:
    return add(ctx, x, mul(ctx, a, b), value)


@aten("addcdiv")
def addcdiv(ctx: Aten, x: Expr, a: Expr, b: Expr, value: Number = 1) -> Value:
    return add(ctx, x, div(ctx, a, b), value)


@aten("lerp")
def lerp(ctx: Aten, start: Expr, end: Expr, weight: Value) -> Value:
    return add(ctx, start, mul(ctx, sub(ctx, end, start), weight))


def _has_minus(ctx: Aten, x: Expr) -> Expr:
    """Return whether the sign of each element is minus, also of -0."""
    zero = const(0, ctx.dtype(x))
    reciprocal = relay.divide(const(1, ctx.dtype(x)), x)
    return relay.where(relay.equal(x, zero), relay.less(reciprocal, zero), relay.less(x, zero))


@aten("atan2", "arctan2")
def atan2(ctx: Aten, y: Value, x: Value) -> Value:
    """Return the angle of the point (x, y): that of atan(y / x), moved by π where x is negative."""
    number = _both("atan2", ctx, y, x)
    if number is not None:
        return number
    y, x = [ctx.floating(operand) for operand in ctx.operands(y, x)]
    dtype = ctx.dtype(x)
    zero, pi = const(0, dtype), const(3.141592653589793, dtype)
    origin = relay.logical_and(relay.equal(x, zero), relay.equal(y, zero))
    angle = relay.where(origin, y, relay.atan(relay.divide(y, x)))
    half_turn = relay.where(_has_minus(ctx, y), relay.negative(pi), pi)
    turned = relay.where(origin, half_turn, relay.add(angle, half_turn))
    return relay.where(_has_minus(ctx, x), turned, angle)


@aten("hypot")
def hypot(ctx: Aten, x: Value, y: Value) -> Value:
    a, b = ctx.operands(x, y)
    return relay.sqrt(relay.add(relay.multiply(a, a), relay.multiply(b, b)))


@aten("copysign")
def copysign(ctx: Aten, x: Value, y: Value) -> Value:
    a, b = [ctx.floating(operand) for operand in ctx.operands(x, y)]
    magnitude = relay.abs(a)
    return relay.where(_has_minus(ctx, b), relay.negative(magnitude), magnitude)


@aten("xlogy")
def xlogy(ctx: Aten, x: Value, y: Value) -> Value:
    a, b = [ctx.floating(operand) for operand in ctx.operands(x, y)]
    zero = relay.equal(a, const(0, ctx.dtype(a)))
    product = relay.multiply(a, relay.log(b))
    return relay.where(
        relay.logical_and(zero, relay.logical_not(relay.isnan(b))), relay.zeros_like(product), product
    )


@aten("logaddexp")
def logaddexp(ctx: Aten, x: Expr, y: Expr) -> Value:
    a, b = ctx.operands(x, y)
    larger, smaller = relay.maximum(a, b), relay.minimum(a, b)
    one = const(1, ctx.dtype(a))
    result = relay.add(larger, relay.log(relay.add(one, relay.exp(relay.subtract(smaller, larger)))))
    twice = relay.add(larger, const(math.log(2), ctx.dtype(a)))  # also where both are infinite
    return relay.where(relay.equal(larger, smaller), twice, result)


@aten("divmod")
def divmod_(ctx: Aten, x: Value, y: Value) -> Value:
    return floor_divide(ctx, x, y), remainder(ctx, x, y)
