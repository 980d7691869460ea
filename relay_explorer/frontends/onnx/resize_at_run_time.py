"""Resize axes whose extents, or by scales, that are known only at run time.

The positions and weights that `resampling` computes at compile time are computed by the program here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from .resampling import Resampling

REAL = "float64"


@dataclass(frozen=True)
class AxisAtRunTime:
    """How one axis is resized: its extent and that of the result as int64 scalars, the scale and the corners
    of the region of interest as float64 scalars.
    """

    axis: int
    extent: Expr
    count: Expr
    scale: Expr
    roi: tuple[Expr, Expr]


def resized_axis(x: Expr, rank: int, how: Resampling, along: AxisAtRunTime, dtype: str) -> Expr:
    """Resize one axis of `x`, whose elements are of a floating-point `dtype` unless the mode is "nearest"."""
    at = positions(how, along)
    last = relay.subtract(along.extent, const(1, "int64"))

    def clamped(index: Expr) -> Expr:
        return relay.minimum(relay.maximum(index, const(0, "int64")), last)

    if how.mode == "nearest":
        return relay.take(x, clamped(relay.cast(_nearest(how, at), "int64")), axis=along.axis)
    if how.antialias:
        return _antialiased(x, rank, how, along, at, dtype)
    base = relay.floor(at)
    part = relay.subtract(at, base)
    first = relay.cast(base, "int64")
    offsets = [0, 1] if how.mode == "linear" else [-1, 0, 1, 2]
    shares = [_share(how, relay.abs(relay.subtract(_real(offset), part))) for offset in offsets]
    places = [relay.add(first, const(offset, "int64")) for offset in offsets]
    if how.exclude_outside:
        shares = [
            relay.where(relay.equal(clamped(place), place), share, relay.zeros_like(share))
            for place, share in zip(places, shares)
        ]
        total = _sum(shares)
        shares = [relay.divide(share, total) for share in shares]
    parts = []
    for place, share in zip(places, shares):
        weight: Expr = relay.cast(share, dtype)
        if along.axis < rank - 1:
            weight = relay.expand_dims(weight, 1, rank - along.axis - 1)
        parts.append(relay.multiply(relay.take(x, clamped(place), axis=along.axis), weight))
    return _sum(parts)


def _antialiased(x: Expr, rank: int, how: Resampling, along: AxisAtRunTime, at: Expr, dtype: str) -> Expr:
    """Resize one axis by a matrix of weights, whose kernel becomes wider where the axis becomes shorter.
    The axis is extended at both ends by as many elements as the kernel reaches.
    """
    stretch = relay.minimum(along.scale, _real(1))
    width = _real(1 if how.mode == "linear" else 2)
    reach = relay.cast(relay.ceil(relay.divide(width, stretch)), "int64")
    end = relay.add(along.extent, reach)
    index = relay.arange(relay.negative(reach), end, const(1, "int64"), "int64")
    distance = relay.abs(relay.subtract(relay.cast(index, REAL), relay.expand_dims(at, 1)))
    distance = relay.multiply(distance, stretch)
    weights: Expr = relay.where(relay.less(distance, width), _share(how, distance), _real(0))
    last = relay.subtract(along.extent, const(1, "int64"))
    clamped = relay.minimum(relay.maximum(index, const(0, "int64")), last)
    if how.exclude_outside:
        weights = relay.where(relay.equal(clamped, index), weights, _real(0))
    weights = relay.divide(weights, relay.sum(weights, [1], keepdims=True))
    order = [*[axis for axis in range(rank) if axis != along.axis], along.axis]
    extended = relay.transpose(relay.take(x, clamped, axis=along.axis), order)
    result = relay.nn.dense(extended, relay.cast(weights, dtype))
    return relay.transpose(result, [order.index(axis) for axis in range(rank)])


def outside(how: Resampling, rank: int, along: AxisAtRunTime) -> Expr:
    """Return which elements of the result lie outside the data, in a shape that is broadcast to it."""
    at = positions(how, along)
    last = relay.cast(relay.subtract(along.extent, const(1, "int64")), REAL)
    beyond: Expr = relay.logical_or(relay.less(at, _real(0)), relay.greater(at, last))
    return relay.expand_dims(beyond, 1, rank - along.axis - 1) if along.axis < rank - 1 else beyond


def positions(how: Resampling, along: AxisAtRunTime) -> Expr:
    """Return the positions in the data of the elements of the result."""
    i = relay.cast(relay.arange(const(0, "int64"), along.count, const(1, "int64"), "int64"), REAL)
    extent, count, scale = relay.cast(along.extent, REAL), relay.cast(along.count, REAL), along.scale
    one, half = _real(1), _real(0.5)
    alone = relay.less_equal(count, one)
    mode = how.coordinates
    centres = relay.divide(relay.add(i, half), scale)
    if mode == "half_pixel":
        return relay.subtract(centres, half)
    if mode == "pytorch_half_pixel":
        return relay.where(alone, relay.zeros_like(i), relay.subtract(centres, half))
    if mode == "half_pixel_symmetric":
        adjustment = relay.divide(count, relay.multiply(scale, extent))
        shift = relay.multiply(relay.divide(extent, _real(2)), relay.subtract(one, adjustment))
        return relay.subtract(relay.add(centres, shift), half)
    if mode == "align_corners":
        exact = relay.subtract(relay.multiply(scale, extent), one)
        ratio = relay.divide(
            relay.subtract(extent, one), relay.where(relay.equal(exact, _real(0)), one, exact)
        )
        return relay.where(relay.equal(exact, _real(0)), relay.zeros_like(i), relay.multiply(i, ratio))
    if mode == "asymmetric":
        return relay.divide(i, scale)
    if mode == "tf_half_pixel_for_nn":
        return centres
    if mode == "tf_crop_and_resize":
        first, last = [relay.multiply(corner, relay.subtract(extent, one)) for corner in along.roi]
        steps = relay.where(alone, one, relay.subtract(count, one))
        spread = relay.add(first, relay.multiply(i, relay.divide(relay.subtract(last, first), steps)))
        return relay.where(alone, relay.add(i, relay.multiply(relay.add(first, last), half)), spread)
    raise RelayError(f"coordinate_transformation_mode is {mode!r}, which ONNX does not define")


def _nearest(how: Resampling, at: Expr) -> Expr:
    half = _real(0.5)
    if how.nearest == "round_prefer_floor":
        return relay.ceil(relay.subtract(at, half))
    if how.nearest == "round_prefer_ceil":
        return relay.floor(relay.add(at, half))
    if how.nearest == "floor":
        return relay.floor(at)
    if how.nearest == "ceil":
        return relay.ceil(at)
    raise RelayError(f"nearest_mode is {how.nearest!r}, which ONNX does not define")


def _share(how: Resampling, distance: Expr) -> Expr:
    """Return the weight of an element at a distance from a position; see `Resampling.taps`."""
    if how.mode == "linear":
        return relay.subtract(_real(1), distance)
    a = how.cubic

    def polynomial(*coefficients: float) -> Expr:
        result: Expr = _real(coefficients[0])
        for coefficient in coefficients[1:]:
            result = relay.add(relay.multiply(result, distance), _real(coefficient))
        return result

    near = polynomial(a + 2, -(a + 3), 0.0, 1.0)
    far = polynomial(a, -5 * a, 8 * a, -4 * a)
    return relay.where(relay.less_equal(distance, _real(1)), near, far)


def _sum(terms: Sequence[Expr]) -> Expr:
    total = terms[0]
    for term in terms[1:]:
        total = relay.add(total, term)
    return total


def _real(value: float) -> Expr:
    return const(value, REAL)
