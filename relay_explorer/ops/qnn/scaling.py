"""Rescale integers in plain Relay: the arithmetic of `arithmetic`, built from operators that have kernels."""

from __future__ import annotations

from ...ir.expr import Constant, Expr, const
from ...ir.ndarray import NDArray
from ...ir.types import TensorType
from ..calls import relay
from .arithmetic import HIGHEST_FLOAT32
from .fixed_point import FRACTION, LARGEST_RATIO, LEAST_RATIO, fixed_point, ratios_of
from .parameters import NARROW
from .plain import BOUNDS, SMALL_ZERO_POINT, cast, clipped, number, numbers, spread, vector, widened

_MANTISSA = 52  # bits of a float64 after the point
_BIAS = 1022  # of its exponent, where the significand lies between ½ and 1


class Ratio:
    """The factor from the scale of integers to that of the result, per channel along `axis` or for the whole
    tensor, which has `rank` axes.

    The scales are expressions. Where both are constants, the factor is one, too. Raises a RelationError
    where a constant is not a scale.
    """

    def __init__(
        self,
        input_scale: Expr,
        type_: TensorType,
        output_scale: Expr,
        output_type: TensorType,
        axis: int,
        rank: int,
        factor: float = 1.0,
    ) -> None:
        self.axis, self.rank = axis, rank
        self.factor = factor
        self.input_scale = spread(input_scale, type_, axis, rank)
        self.output_scale = spread(output_scale, output_type, axis, rank)
        above, below = numbers(input_scale), number(output_scale)
        self.values: list[float] | None = None
        if above is not None and below is not None:
            self.values = [ratio * factor for ratio in ratios_of(above, below)]

    @property
    def is_one(self) -> bool:
        return self.values is not None and all(value == 1 for value in self.values)

    def real(self, dtype: str) -> Expr:
        """Return the factor as floating-point numbers that broadcast with the data."""
        if self.values is not None:
            return vector(self.values, dtype, self.rank, self.axis)
        return cast(self._quotient(), "float64", dtype)

    def _quotient(self) -> Expr:
        """Return the computed factor in float64, at most the largest that is supported."""
        above, below = relay.cast(self.input_scale, "float64"), relay.cast(self.output_scale, "float64")
        quotient: Expr = relay.minimum(relay.divide(above, below), const(LARGEST_RATIO, "float64"))
        return quotient if self.factor == 1 else relay.multiply(quotient, const(self.factor, "float64"))

    def fixed(self) -> tuple[Expr, Expr]:
        """Return the factor as integers of 64 bits: a multiplier, and the number of bits by which its product
        is shifted to the right.
        """
        if self.values is not None:
            points = [fixed_point(value) for value in self.values]
            return (
                vector([point.multiplier for point in points], "int64", self.rank, self.axis),
                vector([FRACTION - point.shift for point in points], "int64", self.rank, self.axis),
            )
        quotient = self._quotient()
        bits = relay.reinterpret(quotient, "int64")
        exponent = relay.subtract(relay.right_shift(bits, _wide(_MANTISSA)), _wide(_BIAS))
        fraction = relay.bitwise_or(relay.bitwise_and(bits, _wide(2**_MANTISSA - 1)), _wide(2**_MANTISSA))
        surplus = _MANTISSA + 1 - FRACTION
        multiplier = relay.right_shift(relay.add(fraction, _wide(2 ** (surplus - 1))), _wide(surplus))
        tiny = relay.less(quotient, const(LEAST_RATIO, "float64"))
        return (
            relay.where(tiny, _wide(0), multiplier),
            relay.where(tiny, _wide(FRACTION), relay.subtract(_wide(FRACTION), exponent)),
        )


def rescaled(
    x: Expr, ratio: Ratio, bounds: tuple[int, int], rounding: str, compute_dtype: str, before: str
) -> Expr:
    """Multiply int32 by a factor, round, and clamp to `bounds`, which lie within int32; the result is int32.

    `before` is the element type of the data that `x` was computed from. If it is narrow, every `x` is exact
    in float32. In float64 `x` may also be int64, and then so is `before`.
    """
    low, high = bounds
    if ratio.is_one and (before in NARROW or (before == "int32" and compute_dtype != "float32")):
        return clipped(x, low, high)
    if compute_dtype == "int64":
        return _fixed(x, ratio, bounds, rounding)
    product = relay.multiply(relay.cast(x, compute_dtype), ratio.real(compute_dtype))
    # Clamping comes before rounding: a cast of a larger number would be undefined, and code generators would
    # contract a product and a sum that follow each other to one operation with other roundings.
    highest = min(high, HIGHEST_FLOAT32) if compute_dtype == "float32" else high
    return relay.cast(_rounded(relay.clip(product, low, highest), rounding, compute_dtype), "int32")


def _rounded(x: Expr, rounding: str, dtype: str) -> Expr:
    """Round real numbers, except that a later cast to an integer truncates where this suffices."""
    half = const(0.5, dtype)
    if rounding == "UPWARD":
        return relay.floor(relay.add(x, half))
    if rounding == "TONEAREST":
        negative = relay.less(x, const(0, dtype))
        return relay.add(x, relay.where(negative, const(-0.5, dtype), half))
    return relay.round(x)


def _fixed(x: Expr, ratio: Ratio, bounds: tuple[int, int], rounding: str) -> Expr:
    """Multiply by a fraction of 31 bits, and shift the product."""
    points = None if ratio.values is None else [fixed_point(value) for value in ratio.values]
    if points is not None and rounding == "UPWARD" and all(-30 <= point.shift <= 0 for point in points):
        multipliers = [point.multiplier for point in points]
        shifts = [point.shift for point in points]
        if len(points) == 1:
            return clipped(relay.fixed_point_multiply(x, multipliers[0], shifts[0]), *bounds)
        rights, lefts = [-shift for shift in shifts], [0] * len(shifts)
        product = relay.fixed_point_multiply_per_axis(
            x, _flat(multipliers), _flat(lefts), _flat(rights), False, any(rights), [ratio.axis]
        )
        return clipped(product, *bounds)
    multiplier, down = ratio.fixed()
    product = relay.multiply(relay.cast(x, "int64"), multiplier)
    up = numbers(down)
    half: Expr = (
        relay.left_shift(_wide(1), relay.subtract(down, _wide(1)))
        if up is None
        else vector([1 << (int(bits) - 1) for bits in up], "int64", ratio.rank, ratio.axis)
    )
    if rounding == "TONEAREST":
        half = relay.add(half, relay.right_shift(product, _wide(63)))
    elif rounding == "TOEVEN":
        odd = relay.bitwise_and(relay.right_shift(product, down), _wide(1))
        half = relay.add(relay.subtract(half, _wide(1)), odd)
    shifted = relay.right_shift(relay.add(product, half), down)
    return relay.cast(relay.clip(shifted, *bounds), "int32")


def _wide(value: int) -> Constant:
    return const(value, "int64")


def _flat(values: list[int]) -> Constant:
    return Constant(NDArray.from_list([*values], (len(values),), "int32"))


class Result:
    """The zero point and element type of a quantized result, to which int32 are shifted and clamped."""

    def __init__(self, zero_point: Expr, type_: TensorType, dtype: str) -> None:
        self.zero_point = spread(zero_point, type_, 0, 0)
        self.dtype = dtype
        value = number(zero_point)
        self.shift = None if value is None else int(value)
        self.folds = self.shift is not None and (
            self.shift == 0 or (dtype in NARROW and abs(self.shift) < SMALL_ZERO_POINT)
        )

    @property
    def bounds(self) -> tuple[int, int]:
        """The bounds of the numbers to which the zero point is added afterwards."""
        if self.folds and self.shift is not None:
            low, high = BOUNDS[self.dtype]
            return low - self.shift, high - self.shift
        return (-(2**30), 2**30 - 1) if self.is_near else BOUNDS["int32"]

    @property
    def is_near(self) -> bool:
        """Whether the zero point can be added in 32 bits, to numbers that are clamped to 31."""
        return self.dtype in NARROW and abs(self.shift or 0) < 2**30

    def of(self, units: Expr) -> Expr:
        """Return the result from int32 within `bounds`."""
        if self.folds:
            moved = units if self.shift == 0 else relay.add(units, self.zero_point)
            return cast(moved, "int32", self.dtype)
        if self.is_near:
            return self.clamped(relay.add(units, self.zero_point))
        return self.clamped(relay.add(relay.cast(units, "int64"), widened(self.zero_point)))

    def clamped(self, units: Expr) -> Expr:
        """Return the result from integers of 32 or 64 bits that include the zero point."""
        return relay.cast(relay.clip(units, *BOUNDS[self.dtype]), self.dtype)
