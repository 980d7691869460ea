"""Vectorizable versions of the sine, cosine and tangent of float32 (see `vector_math`).

Range reduction subtracts from x the nearest multiple of π/2, which leaves a remainder between -π/4 and π/4.
The last two bits of the multiple determine whether the result is the sine or the cosine of the remainder, and
its sign. x · 2/π is computed in float64, with enough digits of 2/π that even the remainder of a number near a
multiple of π/2 is exact to all digits of a float32. 2/π is split into three parts, of which the first two are
short, so that their products with x are exact. If x = m 2ᵏ with a large k, the digits of 2ᵏ · 2/π that
contribute multiples of 4 do not matter and are left out. The reduction therefore works for every finite
float32, even the largest.

The polynomials are those of Cephes (S. Moshier).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import pi

from ...ops.te.library import tirx
from ...ops.te.tensors import Value
from .vector_math import BIAS, DIGITS, named

# 2/π to 288 bits after the binary point
TWO_OVER_PI = Fraction(0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561B7246E3A, 1 << 288)
# For each range of x: its smallest exponent k, the power of 2 that 2/π is multiplied by, and the bits after
# the binary point at which the first two pieces of the product end.
RANGES = ((0, 0, (29, 58)), (55, 32, (27, 53)), (81, 58, (27, 53)), (107, 84, (27, 53)))
TINY = -12  # the exponent below which sin x = tan x = x
SINE = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
COSINE = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)


def sine(x: Value, dtype: str) -> Value:
    """Compute sin x for a float32, or a vector of them."""
    return _reduced(x, lambda turns, r: _itself(x, _wave(turns, r)))


def cosine(x: Value, dtype: str) -> Value:
    """Compute cos x = sin (x + π/2) for a float32, or a vector of them."""
    return _reduced(x, lambda turns, r: _wave(turns + _Numbers(x).bits(1), r))


def tangent(x: Value, dtype: str) -> Value:
    """Compute tan x for a float32, or a vector of them."""
    real = _Numbers(x)

    def quotient(turns: Value, r: Value) -> Value:
        odd = (turns & real.bits(1)) > real.bits(0)
        up, across = _both(r)
        return _itself(x, tirx.Select(odd, -across, up) / tirx.Select(odd, up, across))

    return _reduced(x, quotient)


class _Numbers:
    """Creates constants to combine with a value: scalars, or vectors of as many lanes as the value has."""

    def __init__(self, like: Value) -> None:
        self.real = str(like.ty)
        self.whole = self.real.replace("float32", "int32")
        self.wide = self.real.replace("float32", "float64")

    def __call__(self, value: float) -> Value:
        return tirx.const(value, self.real)

    def bits(self, value: int) -> Value:
        return tirx.const(value, self.whole)

    def double(self, value: float) -> Value:
        return tirx.const(value, self.wide)

    def polynomial(self, x: Value, coefficients: Sequence[float]) -> Value:
        total = self(coefficients[0])
        for coefficient in coefficients[1:]:
            total = total * x + self(coefficient)
        return total


def _wave(turns: Value, r: Value) -> Value:
    """Compute the sine of r plus a number of quarter turns (π/2)."""
    up, across = _both(r)
    whole = _Numbers(r)
    magnitude = tirx.Select((turns & whole.bits(1)) > whole.bits(0), across, up)
    return magnitude * tirx.Select((turns & whole.bits(2)) > whole.bits(0), whole(-1.0), whole(1.0))


def _both(r: Value) -> tuple[Value, Value]:
    """Compute the sine and cosine of r between -π/4 and π/4."""
    real, square = _Numbers(r), r * r
    up = real.polynomial(square, SINE) * square * r + r
    across = real.polynomial(square, COSINE) * square * square - square * real(0.5) + real(1.0)
    return up, across


def _exponent(x: Value) -> Value:
    real = _Numbers(x)
    return (tirx.reinterpret(real.whole, x) >> real.bits(DIGITS)) & real.bits(2 * BIAS + 1)


def _itself(x: Value, result: Value) -> Value:
    """Select x instead of the result where x is tiny, which also preserves the sign of -0."""
    return tirx.Select(_exponent(x) < _Numbers(x).bits(BIAS + TINY), x, result)


def _reduced(x: Value, body: Callable[[Value, Value], Value]) -> Value:
    """Reduce x modulo π/2, and return `body` of the quotient, whose last two bits are correct, and of the
    remainder.
    """
    real = _Numbers(x)
    exponent = _exponent(x)

    def by_range(values: Sequence[float]) -> Value:
        result = real.double(values[0])
        for (least, _, _), value in zip(RANGES[1:], values[1:], strict=True):
            result = tirx.Select(exponent < real.bits(BIAS + least), result, real.double(value))
        return result

    pieces = [by_range(column) for column in zip(*(_pieces(*row[1:]) for row in RANGES), strict=True)]
    wide = x.astype(real.wide) * by_range([2.0**-shift for _, shift, _ in RANGES])

    def parts(wide: Value, first: Value, many: Value) -> Value:
        return named(first - many + wide * pieces[1], lambda second: ends(wide, many, second))

    def ends(wide: Value, many: Value, second: Value) -> Value:
        more = tirx.nearbyint(second)
        turns = (many - real.double(4.0) * tirx.floor(many * real.double(0.25)) + more).astype(real.whole)
        left = ((second - more + wide * pieces[2]) * real.double(pi / 2)).astype(real.real)
        return named(left, lambda r: body(turns, r))

    return named(wide, lambda w: parts(w, w * pieces[0], tirx.nearbyint(w * pieces[0])))


def _pieces(shift: int, ends: tuple[int, int]) -> list[float]:
    """Split 2ˢ · 2/π modulo 4 into a sum of numbers of which all but the last are short."""
    left, pieces = TWO_OVER_PI * 2**shift % 4, []
    for end in ends:
        piece = Fraction(round(left * 2**end), 2**end)
        pieces.append(float(piece))
        left -= piece
    return [*pieces, float(left)]
