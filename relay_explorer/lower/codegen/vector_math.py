"""Vectorizable versions of the exponential, logarithm, hyperbolic tangent and error function of float32;
sine, cosine and tangent are in `vector_waves`.

There are no vector instructions for these functions, so LLVM calls the C library once for each element, even
in a vectorized loop. Here they are computed by arithmetic that vectors support. eˣ = 2ⁿ eʳ, with n the
integer nearest to x / ln 2, so that r lies within ± ln 2 / 2, where a polynomial with six coefficients gives
eʳ to the last digit but one. Sigmoid and softmax use it, and so does tanh x = 1 - 2 / (e²ˣ + 1); near 0,
where this difference would lose digits, tanh is a polynomial. The error function is a quotient of polynomials
up to 4, from where on it is 1. The logarithm of 2ⁿ m, with m between √½ and √2, is n ln 2 plus a polynomial
of m - 1.

The coefficients are those of the minimax approximations of Cephes (S. Moshier) and of Eigen (the last).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ir.once import once
from ...ops.te.library import tirx
from ...ops.te.tensors import Value
from ..require import tvm

LOG2_E = 1.44269504088896341
LN2_HIGH, LN2_LOW = 0.693359375, -2.12194440e-4  # the former has few digits, so that n times it is exact
LEAST, MOST = -104.0, 89.0  # beyond these bounds the exponential is 0 or infinite
BIAS, DIGITS = 127, 23  # of a float32: the bias of its exponent, and the bits of its fraction
EXP = (
    1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1,
)  # fmt: skip
TANH = (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1)
TANH_NEAR = 0.625
ERF_ABOVE = (
    -2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
    -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02,
)  # fmt: skip
ERF_BELOW = (
    -1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03,
    -1.42647390514189e-02,
)  # fmt: skip
ERF_LIMIT = 4.0
LOG = (
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
    2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
)  # fmt: skip
ROOT_HALF = 0.707106781186547524
MAX_FLOAT32 = 3.4028234663852886e38
MIN_NORMAL = 1.1754943508e-38  # the smallest normal float32; `logarithm` scales smaller numbers up first


@once
def use() -> None:
    """Register these functions as TVM's lowering of float32 intrinsics on CPUs, in this process."""
    from . import vector_waves

    for name, function in (
        ("exp", exponential),
        ("log", logarithm),
        ("tanh", tangent),
        ("erf", error_function),
        ("sin", vector_waves.sine),
        ("cos", vector_waves.cosine),
        ("tan", vector_waves.tangent),
    ):
        usual = tvm().ir.Op.get(f"tirx.{name}").get_attr("llvm.FLowerIntrinsic")
        usual = usual or tvm().ir.Op.get(f"tirx.{name}").get_attr("default.FLowerIntrinsic")
        lowering = _lowering(function, usual)
        tirx.register_intrin_lowering(f"tirx.{name}", target="llvm", f=lowering, level=100)
    # `isnan` compares a value with itself, which vectors support; TVM would scalarize it.
    tvm().ir.register_op_attr("tirx.isnan", "TVectorizable", True)


def _lowering(function: Callable[[Value, str], Value], usual: Callable[[Any], Value]) -> Any:
    """Return the function that TVM calls to lower a call of an intrinsic. Element types other than float32
    are lowered by `usual`.
    """

    def lowered(call: Any) -> Value:
        x = call.args[0]
        dtype = str(x.ty)
        return named(x, lambda x: function(x, dtype)) if dtype.startswith("float32") else usual(call)

    return lowered


def named(value: Value, body: Callable[[Value], Value]) -> Value:
    """Bind a value to a variable by `let`, and return the binding with `body` of the variable. The value is
    therefore computed once, however often `body` uses it; otherwise nested functions would grow
    exponentially.
    """
    name = tirx.Var("x", value.ty)
    return tirx.Let(name, value, body(name))


def _between(x: Value, least: float, most: float, dtype: str) -> Value:
    """Clamp `x` between two bounds. NaN stays NaN, because comparisons with it are false."""
    low, high = tirx.const(least, dtype), tirx.const(most, dtype)
    return tirx.Select(x < low, low, tirx.Select(x > high, high, x))


def _polynomial(x: Value, coefficients: Sequence[float], dtype: str) -> Value:
    """Evaluate a polynomial by Horner's rule; the coefficients are in order of descending powers."""
    total = tirx.const(coefficients[0], dtype)
    for coefficient in coefficients[1:]:
        total = total * x + tirx.const(coefficient, dtype)
    return total


def exponential(x: Value, dtype: str) -> Value:
    """Compute eˣ for a float32, or a vector of them."""
    whole = dtype.replace("float32", "int32")
    inside = _between(x, LEAST, MOST, dtype)
    n = tirx.floor(inside * tirx.const(LOG2_E, dtype) + tirx.const(0.5, dtype))
    r = inside - n * tirx.const(LN2_HIGH, dtype) - n * tirx.const(LN2_LOW, dtype)
    y = _polynomial(r, EXP, dtype) * (r * r) + r + tirx.const(1.0, dtype)
    # Multiply by 2ⁿ in two factors, because n can be outside the range of a float32's exponent.
    power = n.astype(whole)
    half = power >> tirx.const(1, whole)
    for part in (half, power - half):
        y = y * tirx.reinterpret(dtype, (part + tirx.const(BIAS, whole)) << tirx.const(DIGITS, whole))
    return y


def logarithm(x: Value, dtype: str) -> Value:
    """Compute ln x for a float32, or a vector of them: NaN below 0, minus infinity at 0."""
    whole = dtype.replace("float32", "int32")

    def real(value: float) -> Value:
        return tirx.const(value, dtype)

    small = x < real(MIN_NORMAL)
    bits = tirx.reinterpret(whole, tirx.Select(small, x * real(2.0**DIGITS), x))
    n = (bits >> tirx.const(DIGITS, whole)) - tirx.const(BIAS - 1, whole)
    fraction = (bits & tirx.const((1 << DIGITS) - 1, whole)) | tirx.const((BIAS - 1) << DIGITS, whole)
    m = tirx.reinterpret(dtype, fraction)
    low = m < real(ROOT_HALF)
    power = n.astype(dtype) - tirx.Select(low, real(1.0), real(0.0))
    power = power - tirx.Select(small, real(float(DIGITS)), real(0.0))
    r = tirx.Select(low, m + m, m) - real(1.0)
    square = r * r
    y = _polynomial(r, LOG, dtype) * r * square + power * real(LN2_LOW) - square * real(0.5)
    result = r + y + power * real(LN2_HIGH)
    usual = tirx.Select(x > real(MAX_FLOAT32), x, result)
    edge = tirx.Select(x < real(0.0), real(float("nan")), real(float("-inf")))
    return tirx.Select(x > real(0.0), usual, tirx.Select(x <= real(0.0), edge, x))


def tangent(x: Value, dtype: str) -> Value:
    """Compute tanh x for a float32, or a vector of them."""
    one, two, near = (tirx.const(value, dtype) for value in (1.0, 2.0, TANH_NEAR))
    square = x * x
    small = _polynomial(square, TANH, dtype) * square * x + x
    large = one - two / (exponential(x + x, dtype) + one)
    return tirx.Select(square < near * near, small, large)


def error_function(x: Value, dtype: str) -> Value:
    """Compute erf x for a float32, or a vector of them."""
    inside = _between(x, -ERF_LIMIT, ERF_LIMIT, dtype)
    square = inside * inside
    return inside * _polynomial(square, ERF_ABOVE, dtype) / _polynomial(square, ERF_BELOW, dtype)
