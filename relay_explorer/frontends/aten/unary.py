"""Functions of one tensor, applied element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from . import scalars
from .arithmetic import mul
from .context import Aten
from .dtypes import is_float
from .registry import aten
from .values import Number, Scalar, Value, is_number


def _floating(function: Callable[[Expr], Expr], on_number: Callable[[float], float], *names: str) -> None:
    """Declare a function whose result is floating point, also for integers."""

    def convert(ctx: Aten, x: Value) -> Value:
        if is_number(x):
            number = scalars.known(ctx, cast(Number, x))
            if not isinstance(number, Scalar):
                return on_number(number)
            return ctx.scalar(function(ctx.cast(number.expr, "float64")))
        assert isinstance(x, Expr)
        return function(ctx.floating(x))

    aten(*names)(convert)


_floating(relay.exp, math.exp, "exp")
_floating(relay.log, math.log, "log")
_floating(relay.log2, math.log2, "log2")
_floating(relay.log10, math.log10, "log10")
_floating(relay.sqrt, math.sqrt, "sqrt")
_floating(relay.rsqrt, lambda x: 1 / math.sqrt(x), "rsqrt")
_floating(relay.sin, math.sin, "sin")
_floating(relay.cos, math.cos, "cos")
_floating(relay.tan, math.tan, "tan")
_floating(relay.asin, math.asin, "asin", "arcsin")
_floating(relay.acos, math.acos, "acos", "arccos")
_floating(relay.atan, math.atan, "atan", "arctan")
_floating(relay.sinh, math.sinh, "sinh")
_floating(relay.cosh, math.cosh, "cosh")
_floating(relay.tanh, math.tanh, "tanh")
_floating(relay.asinh, math.asinh, "asinh", "arcsinh")
_floating(relay.acosh, math.acosh, "acosh", "arccosh")
_floating(relay.atanh, math.atanh, "atanh", "arctanh")
_floating(relay.sigmoid, lambda x: 1 / (1 + math.exp(-x)), "sigmoid", "special_expit")
_floating(relay.erf, math.erf, "erf", "special_erf")


def _same_type(function: Callable[[Expr], Expr], *names: str, floats_only: bool = False) -> None:
    """Declare a function that keeps the element type; with `floats_only`, one that is the identity on
    integers.
    """

    def convert(ctx: Aten, x: Expr) -> Value:
        return x if floats_only and not is_float(ctx.dtype(x)) else function(x)

    aten(*names)(convert)


_same_type(relay.floor, "floor", floats_only=True)
_same_type(relay.ceil, "ceil", floats_only=True)
_same_type(relay.trunc, "trunc", "fix", floats_only=True)
_same_type(relay.sign, "sign", "sgn")


@aten("abs", "absolute")
def abs_(ctx: Aten, x: Value) -> Value:
    if is_number(x):
        number = scalars.known(ctx, cast(Number, x))
        return ctx.scalar(relay.abs(number.expr)) if isinstance(number, Scalar) else abs(number)
    return relay.abs(cast(Expr, x))


@aten("neg", "negative")
def neg(ctx: Aten, x: Value) -> Value:
    if is_number(x):
        return scalars.negated(ctx, cast(Number, x))
    return relay.negative(cast(Expr, x))


@aten("positive")
def positive(ctx: Aten, x: Expr) -> Value:
    return x


@aten("round")
def round_(ctx: Aten, x: Value, decimals: int = 0) -> Value:
    if is_number(x):
        return scalars.round_number(ctx, cast(Number, x))
    assert isinstance(x, Expr)
    dtype = ctx.dtype(x)
    if not is_float(dtype):
        return x
    if not decimals:
        return relay.round(x)
    factor = const(10.0**decimals, dtype)
    return relay.divide(relay.round(relay.multiply(x, factor)), factor)


@aten("frac")
def frac(ctx: Aten, x: Expr) -> Value:
    return relay.subtract(x, relay.trunc(x))


@aten("reciprocal")
def reciprocal(ctx: Aten, x: Expr) -> Value:
    x = ctx.floating(x)
    return relay.divide(const(1, ctx.dtype(x)), x)


@aten("square")
def square(ctx: Aten, x: Expr) -> Value:
    return mul(ctx, ctx.cast(x, "int64") if ctx.dtype(x) == "bool" else x, x)


@aten("exp2", "special_exp2")
def exp2(ctx: Aten, x: Expr) -> Value:
    x = ctx.floating(x)
    return relay.exp(relay.multiply(x, const(math.log(2), ctx.dtype(x))))


@aten("expm1", "special_expm1")
def expm1(ctx: Aten, x: Expr) -> Value:
    """Return exp(x) - 1; near zero by sinh and cosh, which lose no digits: 2 sinh(x/2) exp(x/2)."""
    x = ctx.floating(x)
    dtype = ctx.dtype(x)
    half = relay.multiply(x, const(0.5, dtype))
    # exp(x) - 1 = 2 · tanh(x/2) / (1 - tanh(x/2)), of which the denominator is near 1 for small x.
    tangent = relay.tanh(half)
    near = relay.divide(relay.multiply(const(2, dtype), tangent), relay.subtract(const(1, dtype), tangent))
    far = relay.subtract(relay.exp(x), const(1, dtype))
    return relay.where(relay.less(relay.abs(x), const(0.5, dtype)), near, far)


@aten("log1p", "special_log1p")
def log1p(ctx: Aten, x: Expr) -> Value:
    """Return log(1 + x), near zero as 2 · atanh(x / (2 + x)), which loses no digits."""
    x = ctx.floating(x)
    dtype = ctx.dtype(x)
    near = relay.multiply(const(2, dtype), relay.atanh(relay.divide(x, relay.add(const(2, dtype), x))))
    far = relay.log(relay.add(const(1, dtype), x))
    return relay.where(relay.less(relay.abs(x), const(0.5, dtype)), near, far)


@aten("erfc", "special_erfc")
def erfc(ctx: Aten, x: Expr) -> Value:
    x = ctx.floating(x)
    return relay.subtract(const(1, ctx.dtype(x)), relay.erf(x))


@aten("logit", "special_logit")
def logit(ctx: Aten, x: Expr, eps: float | None = None) -> Value:
    x = ctx.floating(x)
    if eps is not None:
        low, high = const(eps, ctx.dtype(x)), const(1 - eps, ctx.dtype(x))
        x = relay.where(relay.less(x, low), low, relay.minimum(x, high))
    return relay.log(relay.divide(x, relay.subtract(const(1, ctx.dtype(x)), x)))


@aten("sinc", "special_sinc")
def sinc(ctx: Aten, x: Expr) -> Value:
    x = ctx.floating(x)
    angle = relay.multiply(x, const(math.pi, ctx.dtype(x)))
    is_zero = relay.equal(x, const(0, ctx.dtype(x)))
    safe = relay.where(is_zero, relay.ones_like(x), angle)
    return relay.where(is_zero, relay.ones_like(x), relay.divide(relay.sin(safe), safe))


@aten("deg2rad")
def deg2rad(ctx: Aten, x: Expr) -> Value:
    x = ctx.floating(x)
    return relay.multiply(x, const(math.pi / 180, ctx.dtype(x)))


@aten("rad2deg")
def rad2deg(ctx: Aten, x: Expr) -> Value:
    x = ctx.floating(x)
    return relay.multiply(x, const(180 / math.pi, ctx.dtype(x)))


def _predicate(function: Callable[[Expr], Expr], of_integers: bool, *names: str) -> None:
    def convert(ctx: Aten, x: Expr) -> Value:
        if is_float(ctx.dtype(x)):
            return function(x)
        return relay.equal(x, x) if of_integers else relay.not_equal(x, x)

    aten(*names)(convert)


_predicate(relay.isnan, False, "isnan")
_predicate(relay.isinf, False, "isinf")
_predicate(relay.isfinite, True, "isfinite")


@aten("signbit")
def signbit(ctx: Aten, x: Expr) -> Value:
    return relay.less(x, const(0, ctx.dtype(x)))


@aten("nan_to_num")
def nan_to_num(
    ctx: Aten, x: Expr, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Value:
    dtype = ctx.dtype(x)
    if not is_float(dtype):
        return x
    largest = _LARGEST[dtype]
    zero = const(0, dtype)
    infinite = relay.isinf(x)
    above = relay.logical_and(infinite, relay.greater(x, zero))
    below = relay.logical_and(infinite, relay.less(x, zero))
    x = relay.where(relay.isnan(x), const(nan or 0.0, dtype), x)
    x = relay.where(above, const(largest if posinf is None else posinf, dtype), x)
    return relay.where(below, const(-largest if neginf is None else neginf, dtype), x)


_LARGEST = {
    "float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308,
}  # fmt: skip


@aten("clamp", "clip")
def clamp(ctx: Aten, x: Expr, low: Value = None, high: Value = None) -> Value:
    """Limit elements to bounds: numbers that are known, or tensors."""
    if low is None and high is None:
        raise RelayError("clamp requires min or max")
    dtype = ctx.result_type(x, low, high)
    x = ctx.cast(x, dtype)
    both = isinstance(low, (int, float)) and isinstance(high, (int, float))
    if both and is_float(dtype) and cast(float, low) <= cast(float, high):
        return relay.clip(x, float(cast(float, low)), float(cast(float, high)))
    if low is not None:
        x = relay.maximum(x, ctx.tensor(low, dtype))
    return x if high is None else relay.minimum(x, ctx.tensor(high, dtype))


@aten("clamp_min")
def clamp_min(ctx: Aten, x: Expr, low: Value) -> Value:
    return clamp(ctx, x, low, None)


@aten("clamp_max")
def clamp_max(ctx: Aten, x: Expr, high: Value) -> Value:
    return clamp(ctx, x, None, high)
