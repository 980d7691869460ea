"""The sigmoid function and the hyperbolic tangent of fixed-point numbers of 16 bits.

TensorFlow Lite's recurrent layers of integers compute them with products of fractions of 15 bits: a power of
e is that of the remainder modulo 1/4, a polynomial, times constants for the other bits; a quotient is found
with Newton's method. The functions here return the results for all 65,536 numbers.
"""

from __future__ import annotations

import math

from ...ops.numeric import Array, np

FIRST, LAST = -(1 << 15), (1 << 15) - 1
ONE = LAST  # nearly 1.0, where all bits are fraction


def sigmoid_table(integer_bits: int) -> Array:
    """Return the sigmoid function of all numbers with some bits before the point, as fractions."""
    x = np.arange(FIRST, LAST + 1, dtype=np.int64)
    y = _shifted(_inverse(_power(-_saturated(np.abs(x)), integer_bits)), 1)
    return np.where(x == 0, 1 << 14, np.where(x > 0, y, ONE - y))


def tangent_table(integer_bits: int) -> Array:
    """Return the hyperbolic tangent of all numbers with some bits before the point, as fractions.

    It is (1 - p) / (1 + p), where p is the power e⁻²ˣ.
    """
    x = np.arange(FIRST, LAST + 1, dtype=np.int64)
    y = _shifted(_inverse(_power(-_saturated(np.abs(x)), integer_bits + 1)) - (1 << 13), 2)
    return np.sign(x) * y


def _power(x: Array, integer_bits: int) -> Array:
    """Return eˣ, as a fraction, of numbers that are not positive."""
    fraction_bits = 15 - integer_bits
    quarter = 1 << (fraction_bits - 2)
    last = (x & (quarter - 1)) - quarter
    result, rest = _power_of_small(_shifted(last, integer_bits)), last - x
    for exponent in range(-2, min(integer_bits, 5)):
        factor = _fraction(math.exp(-(2.0**exponent)))
        result = np.where(rest & (1 << (fraction_bits + exponent)), _product(result, factor), result)
    if integer_bits > 5:
        result = np.where(x < -(1 << (fraction_bits + 5)), 0, result)
    return np.where(x == 0, ONE, result)


def _power_of_small(x: Array) -> Array:
    """Return eˣ of fractions between -1/4 and 0, by a Taylor polynomial around -1/8."""
    x = x + (1 << 12)
    square = _product(x, x)
    fourth = _shifted(_product(square, square), -2)
    third = _product(_saturated(fourth + _product(square, x)), _fraction(1 / 3))
    terms = _shifted(_saturated(third + square), -1)
    center = _fraction(math.exp(-1 / 8))
    return _saturated(center + _product(_saturated(x + terms), center))


def _inverse(x: Array) -> Array:
    """Return 2 / (1 + x) of fractions, as numbers that have two bits before the point."""
    half = (x + ONE + 1) >> 1
    result = _saturated(_fraction(48 / 17 / 4) + _product(half, _fraction(-32 / 17 / 4)))
    for _ in range(3):
        error = _saturated((1 << 13) - _product(half, result))
        result = _saturated(result + _shifted(_product(result, error), 2))
    return result


def _fraction(value: float) -> int:
    return math.floor(value * 2**15 + 0.5)


def _product(x: Array, y: Array | int) -> Array:
    """Multiply fractions and round half away from zero, but half down for negative products."""
    product = x * y
    nudged = product + np.where(product >= 0, 1 << 14, 1 - (1 << 14))
    return _saturated(np.sign(nudged) * (np.abs(nudged) >> 15))


def _shifted(x: Array, bits: int) -> Array:
    """Multiply by a power of two; round half away from zero where it is less than one."""
    if bits >= 0:
        return _saturated(x << bits)
    return np.sign(x) * ((np.abs(x) + (1 << (-bits - 1))) >> -bits)


def _saturated(x: Array) -> Array:
    return np.clip(x, FIRST, LAST)
