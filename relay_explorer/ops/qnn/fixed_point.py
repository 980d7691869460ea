"""Factors as a 31-bit fraction and a power of two, which rescale integers without floating point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ...ir.op import RelationError
from ..numeric import Array, np

FRACTION = 31  # bits after the point of a multiplier
LEAST_RATIO = 2.0**-32  # a smaller factor turns every int32 into 0
LARGEST_RATIO = 2.0**29  # from this one on, a rescaled int32 may not fit 64 bits


class FixedPoint(NamedTuple):
    """The factor multiplier · 2 ** (shift - 31); the multiplier is 0, or from 2 ** 30 to 2 ** 31 - 1."""

    multiplier: int
    shift: int


def fixed_point(ratio: float) -> FixedPoint:
    """Return the nearest factor with a fraction of 31 bits; 0 where the ratio turns every int32 into 0."""
    if ratio < LEAST_RATIO:
        return FixedPoint(0, 0)
    fraction, exponent = math.frexp(ratio)
    multiplier = math.floor(fraction * 2**FRACTION + 0.5)
    if multiplier == 2**FRACTION:
        return FixedPoint(2 ** (FRACTION - 1), exponent + 1)
    return FixedPoint(multiplier, exponent)


def fixed_points(ratios: Array) -> tuple[Array, Array]:
    """Return the multipliers and the shifts of an array of ratios, as int64."""
    pairs = np.asarray([fixed_point(float(ratio)) for ratio in ratios.reshape(-1)], "int64").reshape(-1, 2)
    return pairs[:, 0].reshape(ratios.shape), pairs[:, 1].reshape(ratios.shape)


def ratio_of(input_scale: float, output_scale: float) -> float:
    """Return the factor from one scale to another; raise a RelationError where one is not a scale.

    An input scale of 0, that of a tensor of zeros, is allowed: everything becomes the zero point.
    """
    if not (math.isfinite(output_scale) and output_scale > 0):
        raise RelationError(
            f"the scale of the result is {output_scale:g}, but must be positive and finite", _RANGE
        )
    if not (math.isfinite(input_scale) and input_scale >= 0):
        raise RelationError(f"a scale is {input_scale:g}, but must be finite and not negative", _RANGE)
    ratio = input_scale / output_scale
    if ratio >= LARGEST_RATIO:
        raise RelationError(
            f"the scale {input_scale:g} is {ratio:.3g} times that of the result, {output_scale:g}; less than "
            f"{LARGEST_RATIO:.3g} is supported",
            _RANGE,
        )
    return ratio


_RANGE = "compute scales from the range of the values: (maximum - minimum) / 255 for 8 bits, and not from an \
empty or constant one"


def ratios_of(input_scales: Sequence[float], output_scale: float) -> list[float]:
    """Return the factor of each channel; see `ratio_of`."""
    return [ratio_of(scale, output_scale) for scale in input_scales]
