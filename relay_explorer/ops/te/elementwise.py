"""Element-wise operators of one tensor.

Where TVM differs from Relay, whose functions of integers are computed in float64 and truncated:

* its `exp`, `sin` and `sigmoid` of integers cannot be compiled, and its `sqrt` of them is float32;
* it supports half precision in some functions (`exp`) and not in others (`acos`, `erf`);
* its `max(x, y)` is `y` where one of the two is NaN, whereas NumPy's, and so Relay's, is NaN; its `x != y`
  is false there, and its simplifier rewrites `x != x` to false: only `isnan` detects NaN.
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
    is_float,
    number,
    real_type,
    select,
    stage,
)


def mapped(value: Callable[[Value], Value]) -> Lowering:
    """Make the lowering of an operator that computes `value` from each element."""

    def lower(call: Lowered) -> list[Tensor]:
        x = call.inputs[0]
        return [stage(x.shape, lambda *i: value(x(*i)), call.name)]

    return lower


def real(function: Callable[[Value], Value]) -> Lowering:
    """Make the lowering of a function of real numbers; for integers it is computed in float64, and truncated.
    TVM supports half precision in some functions only, so it is computed in float32 in all of them.
    """

    def value(x: Value) -> Value:
        dtype = dtype_of(x)
        return cast(function(cast(x, real_type(dtype))), dtype)

    return mapped(value)


def rounding(function: Callable[[Value], Value]) -> Lowering:
    """Make the lowering of a rounding, which leaves integers unchanged."""
    return mapped(lambda x: function(x) if is_float(dtype_of(x)) else x)


def one_over(x: Value) -> Value:
    return number(1, dtype_of(x)) / x


def library(name: str) -> Callable[[Value], Value]:
    """Make a function that calls C's `name`, because TVM cannot generate vector code for its own."""

    def function(x: Value) -> Value:
        dtype = dtype_of(x)
        return tirx.call_pure_extern(dtype, name if dtype == "float64" else f"{name}f", x)

    return function


# -- approximations that FastMath substitutes


def fast_exponential(x: Value) -> Value:
    """Compute e^x as 2^n times a polynomial: n is x / ln 2 rounded to the nearest integer, and the remainder
    lies within ln 2 / 2. The relative error is below 3·10⁻⁷.
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
