"""Functions of integers of 16 bits: TensorFlow Lite interpolates them in tables of a few hundred values.

The importer evaluates the interpolation for each of the 65,536 integers, which gives a larger table without
arithmetic at run time.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ...ops.numeric import Array, np
from .operation import Operation
from .reader import Quantization
from .reference_kernels import rescaled

FIRST, LAST = -(1 << 15), (1 << 15) - 1
_STEPS, _OFFSET_BITS = 512, 7  # of a table: each of its steps has 128 integers
_PER_UNIT = 24  # values of the sigmoid function that its table has for an interval of length 1
_SOFTMAX_RANGE = 10.0  # differences to the maximum that are smaller than -10 count as -10

Function = Callable[[Array], Array]


def interpolated(function: Function, low: float, high: float, steps_of_one: float) -> Array:
    """Return a function of 65,536 numbers from `low` to `high` as TensorFlow Lite interpolates it.

    The values in its table are corrected by half the error in the middle of each step. `steps_of_one` is the
    number of integers by which 1.0 is represented.
    """
    width = (high - low) / _STEPS
    at = low + np.arange(_STEPS) * width
    start, middle, end = (function(at + part * width) * steps_of_one for part in (0.0, 0.5, 1.0))
    error = _nearest((end + _nearest(start)) / 2) - _nearest(middle)
    last = _nearest(function(np.asarray([high])) * steps_of_one)
    table = np.clip(np.append(_nearest(start) - _nearest(error / 2), last), FIRST, LAST).astype(np.int64)
    stored = np.arange(1 << 16)
    place, offset = stored >> _OFFSET_BITS, stored & ((1 << _OFFSET_BITS) - 1)
    rise = (table[place + 1] - table[place]) * offset
    return np.asarray(table[place] + ((rise + (1 << (_OFFSET_BITS - 1))) >> _OFFSET_BITS))


def _nearest(x: Array) -> Array:
    """Round half away from zero."""
    return np.asarray(np.sign(x) * np.floor(np.abs(x) + 0.5))


def of_reals(function: Function, before: float, after: float) -> Array:
    """Return a function of all integers with the scale `before` as integers with the scale `after`."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return interpolated(function, FIRST * before, LAST * before, (1 << 16) / ((LAST - FIRST) * after))


def exponential(x: Array) -> Array:
    """Return eˣ."""
    return np.asarray(np.exp(x))


def logarithm(x: Array) -> Array:
    """Return log x, and 0 where `x` is not positive."""
    return np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), 0.0)


def inverse_root(x: Array) -> Array:
    """Return 1/√x, and 0 where `x` is not positive."""
    return np.where(x > 0, 1 / np.sqrt(np.where(x > 0, x, 1.0)), 0.0)


def gelu(x: Array, approximate: bool) -> Array:
    """Return x · Φ(x), where Φ is the distribution function of the normal distribution."""
    if approximate:
        return np.asarray(0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))
    return np.asarray([0.5 * value * (1 + math.erf(value * math.sqrt(0.5))) for value in x.tolist()])


# -- sigmoid and hyperbolic tangent


def _sigmoid_table() -> Array:
    """Return 2¹⁶ · sigmoid at multiples of 1/24, corrected by half the error in the middle of each step."""

    def sigmoid(at: Array) -> Array:
        return np.asarray((1 << 16) / (1 + np.exp(-at / _PER_UNIT)))

    at = np.arange(256.0)
    start, middle, end = (sigmoid(at + part) for part in (0.0, 0.5, 1.0))
    table = np.floor(start - ((start + end) / 2 - middle) / 2 + 0.5).astype(np.int64)
    return np.append(table[:255], (1 << 16) - 1)


def sigmoid(before: float, is_tangent: bool) -> Array:
    """Return the sigmoid function, or the hyperbolic tangent, of all integers with the scale `before`, as
    multiples of 2⁻¹⁵.

    Both use one table, because tanh x = 2 · sigmoid 2x - 1.
    """
    multiplier, shift = before * 4096 * 3, 0
    while multiplier <= LAST / 2 and shift <= 30:
        multiplier, shift = 2 * multiplier, shift + 1
    stored = np.arange(FIRST, LAST + 1, dtype=np.int64)
    x = (stored * int(multiplier) + ((1 << shift) >> 1)) >> shift
    bits = 8 if is_tangent else 9  # of the distance to the value before in the table
    table, place, offset = _sigmoid_table(), np.abs(x) >> bits, np.abs(x) & ((1 << bits) - 1)
    place = np.minimum(place, 255)
    rise = table[np.minimum(place + 1, 255)] - table[place]
    last = (LAST << 10) if not is_tangent else (((1 << 16) - 1) << 8)
    y = np.where(place == 255, last, (table[place] << bits) + offset * rise)
    if is_tangent:
        y, half = y - (1 << 23), 1 << 7
        return np.where(x >= 0, y + half, half - 1 - y) >> 8
    half = 1 << 9
    return np.where(x >= 0, y + half, (1 << 25) - y + half - 1) >> 10


# -- softmax


def softmax(op: Operation, before: Quantization) -> Expr:
    """Return the softmax function of int16 along the last axis: eˣ and 1/x come from tables."""
    x: Expr = relay.cast(op.stored(0), "int32")
    difference = relay.subtract(x, relay.max(x, [-1], keepdims=True))
    steps = (1 << 16) - 1
    factor = float(np.float32(before.scale[0])) * float(op.attr("beta", 1.0)) / (_SOFTMAX_RANGE / steps)
    scaled = relay.clip(rescaled(difference, np.asarray(factor), 0), -steps, 0)
    powers = _taken(interpolated(exponential, -_SOFTMAX_RANGE, 0.0, 1 << 15), relay.add(scaled, _int(steps)))
    total = relay.cast(relay.sum(powers, [-1], keepdims=True), "int64")
    thresholds = const(np.int64(1) << np.arange(31, dtype=np.int64), "int64")
    bits = relay.sum(relay.cast(relay.greater_equal(relay.expand_dims(total, -1), thresholds), "int64"), [-1])
    # The sum becomes a number between 1 and 2 that has 16 bits of fraction.
    wide = relay.left_shift(total, relay.subtract(_long(31), bits))
    fraction = relay.subtract(relay.right_shift(relay.add(wide, _long(1 << 13)), _long(14)), _long(1 << 16))
    place = relay.cast(relay.clip(fraction, 0, steps), "int32")
    inverse = _taken(interpolated(lambda x: 1 / (1 + x), 0.0, 1.0, 1 << 15), place)
    shift = relay.subtract(bits, _long(1))
    half = relay.left_shift(_long(1), relay.subtract(shift, _long(1)))
    product = relay.cast(relay.multiply(powers, inverse), "int64")
    return relay.cast(relay.clip(relay.right_shift(relay.add(product, half), shift), 0, LAST), "int16")


def _taken(table: Array, index: Expr) -> Expr:
    return relay.take(const(table.astype(np.int32)), index, 0)


def _int(value: int) -> Expr:
    return const(value, "int32")


def _long(value: int) -> Expr:
    return const(value, "int64")
