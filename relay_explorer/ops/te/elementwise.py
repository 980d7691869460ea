"""Operators that work on each element by itself.

Where TVM differs from Relay, whose functions of integers are computed in float64 and lose the fraction:

* its `exp`, `sin` and `sigmoid` of integers cannot be compiled, and its `sqrt` of them is float32;
* of half-precision numbers it knows some functions (`exp`) and not others (`acos`, `erf`);
* its `max(x, y)` gives `y` where one of the two is NaN, where NumPy's, and so Relay's, gives NaN; its `x !=
  y` is false there, and its simplifier takes `x != x` for false: only `isnan` finds NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .library import te, tirx
from .lowered import Lowered, Lowering
from .tensors import (
    Tensor,
    Value,
    cast,
    dtype_of,
    every,
    greater_of,
    is_float,
    is_nan,
    lesser_of,
    most,
    number,
    real_type,
    select,
    some,
    stage,
)


def mapped(value: Callable[[Value], Value]) -> Lowering:
    """The lowering of an operator that is `value` of each element."""

    def lower(call: Lowered) -> list[Tensor]:
        x = call.inputs[0]
        return [stage(x.shape, lambda *i: value(x(*i)), call.name)]

    return lower


def real(function: Callable[[Value], Value]) -> Lowering:
    """A function of real numbers; of integers it is computed in float64, and the fraction is dropped. TVM
    knows half-precision numbers in some functions only, so all are computed in float32.
    """

    def value(x: Value) -> Value:
        dtype = dtype_of(x)
        return cast(function(cast(x, real_type(dtype))), dtype)

    return mapped(value)


def rounding(function: Callable[[Value], Value]) -> Lowering:
    """A rounding, which leaves integers as they are."""
    return mapped(lambda x: function(x) if is_float(dtype_of(x)) else x)


def _one_over(x: Value) -> Value:
    return number(1, dtype_of(x)) / x


def _library(name: str) -> Callable[[Value], Value]:
    """C's function: of vectors, TVM has no code for its own."""

    def function(x: Value) -> Value:
        dtype = dtype_of(x)
        return tirx.call_pure_extern(dtype, name if dtype == "float64" else f"{name}f", x)

    return function


exp = real(lambda x: te.exp(x))
log = real(lambda x: te.log(x))
log2 = real(lambda x: te.log2(x))
log10 = real(lambda x: te.log10(x))
sqrt = real(lambda x: te.sqrt(x))
rsqrt = real(lambda x: _one_over(te.sqrt(x)))
erf = real(lambda x: te.erf(x))
sigmoid = real(lambda x: _one_over(number(1, dtype_of(x)) + te.exp(-x)))
tanh = real(lambda x: te.tanh(x))
sin = real(lambda x: te.sin(x))
cos = real(lambda x: te.cos(x))
tan = real(lambda x: te.tan(x))
sinh = real(_library("sinh"))
cosh = real(_library("cosh"))
asin = real(lambda x: te.asin(x))
acos = real(lambda x: te.acos(x))
atan = real(lambda x: te.atan(x))
asinh = real(lambda x: te.asinh(x))
acosh = real(lambda x: te.acosh(x))
atanh = real(lambda x: te.atanh(x))
floor = rounding(lambda x: te.floor(x))
ceil = rounding(lambda x: te.ceil(x))
round = rounding(lambda x: te.round(x))
trunc = rounding(lambda x: te.trunc(x))
copy = mapped(lambda x: x)


def _negated(x: Value) -> Value:
    """NumPy has no negative truth values; here they stay."""
    dtype = dtype_of(x)
    if dtype.startswith("uint"):  # TVM takes 0 - x for 0, the least number that there is
        return tirx.bitwise_not(x) + number(1, dtype)
    return x if dtype == "bool" else -x


def _absolute(x: Value) -> Value:
    dtype = dtype_of(x)
    return x if dtype == "bool" or dtype.startswith("uint") else te.abs(x)


def _sign(x: Value) -> Value:
    dtype = dtype_of(x)
    if dtype == "bool":
        return x
    zero, one = number(0, dtype), number(1, dtype)
    below = zero if dtype.startswith("uint") else select(x < zero, number(-1, dtype), zero)
    return select(x > zero, one, below)


abs = mapped(_absolute)
negative = mapped(_negated)
sign = mapped(_sign)
isnan = mapped(lambda x: is_nan(x) if is_float(dtype_of(x)) else number(False, "bool"))
logical_not = mapped(lambda x: tirx.Not(x))
bitwise_not = mapped(lambda x: tirx.Not(x) if dtype_of(x) == "bool" else tirx.bitwise_not(x))


def _infinite(x: Value) -> Value:
    dtype = dtype_of(x)
    if not is_float(dtype):
        return number(False, "bool")
    return some([x == most(dtype), x == -most(dtype)])


def _finite(x: Value) -> Value:
    dtype = dtype_of(x)
    return every([x < most(dtype), x > -most(dtype)]) if is_float(dtype) else number(True, "bool")


isinf = mapped(_infinite)
isfinite = mapped(_finite)


# -- activations


def clip(call: Lowered) -> list[Tensor]:
    """Bounds beyond the range of an integer type are brought into it."""
    x, attrs = call.inputs[0], call.attrs
    dtype = dtype_of(x)
    if is_float(dtype):
        low, high = number(attrs.a_min, dtype), number(attrs.a_max, dtype)
        return [stage(x.shape, lambda *i: lesser_of(greater_of(x(*i), low), high), call.name)]
    if dtype == "bool":
        low, high = (number(bool(min(max(int(v), 0), 1)), "bool") for v in (attrs.a_min, attrs.a_max))
        return [stage(x.shape, lambda *i: lesser_of(greater_of(x(*i), low), high), call.name)]
    low, high = (_bounded(bound, dtype) for bound in (attrs.a_min, attrs.a_max))
    return [stage(x.shape, lambda *i: te.min(te.max(x(*i), low), high), call.name)]


def _bounded(bound: float, dtype: str) -> Value:
    """A bound as an integer of the type; infinity as its greatest."""
    bits = int(dtype.lstrip("uint"))
    lowest, highest = (
        (0, 2**bits - 1) if dtype.startswith("uint") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )
    inside = lowest if bound <= lowest else highest if bound >= highest else int(bound)
    return most(dtype) if inside > 2**62 else number(inside, dtype)


# -- approximations, as FastMath puts them in


def fast_exponential(x: Value) -> Value:
    """e^x as 2^n times a polynomial: n is x / ln 2 to the nearest, and what remains lies within ln 2 / 2.
    The relative error is below 3·10⁻⁷.
    """
    dtype = dtype_of(x)
    if dtype != "float32":
        return te.exp(x)

    def real(value: float) -> Value:
        return number(value, "float32")

    inside = select(x < real(-87.0), real(-87.0), select(x > real(88.0), real(88.0), x))
    power = te.round(inside * real(1 / math.log(2)))
    rest = inside - power * real(math.log(2))
    total = real(1 / math.factorial(6))
    for n in range(5, -1, -1):
        total = total * rest + real(1 / math.factorial(n))
    scale = tirx.reinterpret("float32", (power.astype("int32") + number(127, "int32")) << number(23, "int32"))
    return total * scale


def _fast_tanh(x: Value) -> Value:
    """tanh x = 1 - 2 / (e^2x + 1), by the approximate exponential. Near 0 it is x - x³/3 + …"""
    dtype = dtype_of(x)
    if dtype != "float32":
        return te.tanh(x)
    square, total = x * x, number(62 / 2835, "float32")
    for coefficient in (-17 / 315, 2 / 15, -1 / 3, 1.0):
        total = total * square + number(coefficient, "float32")
    one, two = number(1, "float32"), number(2, "float32")
    far = one - two / (fast_exponential(two * x) + one)
    return select(te.abs(x) < number(0.25, "float32"), x * total, far)


fast_exp = real(fast_exponential)
fast_tanh = real(_fast_tanh)
fast_erf = real(lambda x: te.erf(x))
