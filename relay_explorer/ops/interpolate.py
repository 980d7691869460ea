"""Interpolation between elements: the weights of resizing, and sampling at computed positions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any as Anything

from ..ir.show import counted
from .numeric import Array, along, np

TOLERANCE = 1e-5  # a position this close below an integer counts as that integer, as in TVM's kernels


@dataclass(frozen=True)
class Resizing:
    """The attributes of `image.resize2d` that determine the interpolation.

    With `single_precision`, positions of `tf_crop_and_resize` are rounded to float32 after each operation,
    as in TensorFlow: the last position in a box that ends at the image's border may then lie beyond it.
    """

    method: str
    coordinate_transformation_mode: str
    rounding_method: str = ""
    extrapolation_value: float = 0.0
    cubic_alpha: float = -0.5
    cubic_exclude: int = 0
    single_precision: bool = False


def resized(attrs: Anything, x: Array, size: tuple[int, ...], roi: tuple[float, ...]) -> Array:
    """Interpolate the spatial axes of `x` (batch, channels, space …) to `size`.

    `attrs` are those of image.resize2d, or a Resizing; `roi` holds the lowest corner of the part that
    `tf_crop_and_resize` selects, then the highest, as fractions of the extents.
    """
    axes = len(size)
    if 0 in x.shape[2:]:
        if 0 not in size:
            raise ValueError("there is nothing to resize: the data has no elements")
        return np.zeros(x.shape[:2] + size)
    cropping = attrs.coordinate_transformation_mode == "tf_crop_and_resize"
    if cropping and len(roi) != 2 * axes:
        raise ValueError(f"roi has {counted(len(roi), 'number')}, but two corners have {2 * axes}")
    y, outside = x.astype("float64"), np.zeros((1,) * x.ndim, bool)
    for axis, extent in enumerate(size):
        span = (roi[axis], roi[axis + axes]) if cropping else (0.0, 1.0)
        if getattr(attrs, "single_precision", False):
            positions = _single_positions(x.shape[axis + 2], extent, span)
        else:
            positions = _positions(attrs.coordinate_transformation_mode, x.shape[axis + 2], extent, span)
        weights = _weights(attrs, positions, x.shape[axis + 2])
        y = np.moveaxis(np.tensordot(y, weights, (axis + 2, 1)), -1, axis + 2)
        if cropping:
            beyond = (positions < 0) | (positions > x.shape[axis + 2] - 1)
            outside = outside | along(beyond, axis + 2, x.ndim)
    return np.where(outside, attrs.extrapolation_value, y)


def _positions(mode: str, extent: int, count: int, span: tuple[float, float]) -> Array:
    """Return the positions, on an axis of `extent` elements, of the `count` elements of the result."""
    i, scale = np.arange(count, dtype="float64"), extent / max(count, 1)
    if mode == "half_pixel" or (mode == "pytorch_half_pixel" and count > 1):
        return (i + 0.5) * scale - 0.5
    if mode == "pytorch_half_pixel":
        return i
    if mode == "align_corners":
        return i * ((extent - 1) / max(count - 1, 1))
    if mode == "asymmetric":
        return i * scale
    if mode == "tf_half_pixel_for_nn":
        return (i + 0.5) * scale
    if mode == "tf_crop_and_resize":
        first, last = span[0] * (extent - 1), span[1] * (extent - 1)
        return first + i * ((last - first) / (count - 1)) if count > 1 else i + (first + last) / 2
    raise ValueError(f'coordinate_transformation_mode is "{mode[:40]}", which is not known')


def _single_positions(extent: int, count: int, span: tuple[float, float]) -> Array:
    """Return the positions of `tf_crop_and_resize`, computed in float32 in the order of TensorFlow."""
    low, high, last = (np.float32(value) for value in (*span, extent - 1))
    if count == 1:
        return np.array([0.5 * float(low + high) * float(last)], "float32").astype("float64")
    step = (high - low) * last / np.float32(count - 1)
    return (low * last + np.arange(count, dtype="float32") * step).astype("float64")


def _weights(attrs: Anything, places: Array, extent: int) -> Array:
    """Return the weight of each element of an axis (columns) at each of `places` (rows)."""
    weights = np.zeros((len(places), extent))
    if attrs.method == "nearest_neighbor":
        chosen = np.clip(_nearest(attrs, places).astype("int64"), 0, extent - 1)
        weights[np.arange(len(places)), chosen] = 1
        return weights
    first = np.floor(places).astype("int64")
    fraction = places - first
    shares = [1 - fraction, fraction] if attrs.method == "linear" else cubic(fraction, attrs.cubic_alpha)
    first = first - (attrs.method == "cubic")
    neighbours = [(first + n, share) for n, share in enumerate(shares)]
    if attrs.method == "cubic" and attrs.cubic_exclude:
        neighbours = [(at, np.where((at < 0) | (at >= extent), 0, share)) for at, share in neighbours]
        total = sum(share for _, share in neighbours)
        neighbours = [(at, share / total) for at, share in neighbours]
    for at, share in neighbours:
        np.add.at(weights, (np.arange(len(places)), np.clip(at, 0, extent - 1)), share)
    return weights


def _nearest(attrs: Anything, places: Array) -> Array:
    default = "round" if attrs.coordinate_transformation_mode == "align_corners" else "floor"
    method = attrs.rounding_method or default
    if method == "round":
        return np.rint(places)
    if method == "round_prefer_floor":
        return np.ceil(places - 0.5)
    if method == "round_prefer_ceil":
        return np.floor(places + 0.5)
    if method == "floor":
        return np.floor(places + TOLERANCE)
    if method == "ceil":
        return np.ceil(places - TOLERANCE)
    raise ValueError(f'rounding_method is "{method[:40]}", which is not known')


def cubic(part: Array, alpha: float) -> list[Array]:
    """Return the weights of the four elements around a position that lies `part` after the second (Keys,
    1981).
    """

    def near(d: Array) -> Array:
        return (alpha + 2) * d**3 - (alpha + 3) * d**2 + 1

    def far(d: Array) -> Array:
        return alpha * (d**3 - 5 * d**2 + 8 * d - 4)

    return [far(1 + part), near(part), near(1 - part), far(2 - part)]


def sampled(attrs: Anything, x: Array, grid: Array) -> Array:
    """Sample `x` (batch, channels, space …) at the positions of `grid` (batch, axes, positions …), whose
    coordinates run from -1 to 1 and come last axis first. `attrs` are those of image.grid_sample.
    """
    extents = x.shape[2:]
    coordinates = [grid[:, len(extents) - 1 - axis].astype("float64") for axis in range(len(extents))]
    choices = []
    for extent, coordinate in zip(extents, coordinates, strict=True):
        position = _unscaled(coordinate, extent, attrs.align_corners)
        if attrs.method != "bicubic":
            position = _inside(position, extent, attrs)
        choices.append([(_inside(at, extent, attrs), share) for at, share in _around(position, attrs.method)])
    total = np.zeros((x.shape[0], *grid.shape[2:], x.shape[1]))
    batch = np.arange(x.shape[0]).reshape(-1, *(1,) * len(extents))
    for corner in product(*choices):
        inside, weight, index = np.ones_like(coordinates[0], bool), 1.0, []
        for (at, share), extent in zip(corner, extents, strict=True):
            inside = inside & (at >= 0) & (at < extent)
            weight = weight * share
            index.append(np.clip(at, 0, extent - 1).astype("int64"))
        values = np.moveaxis(x, 1, -1)[(batch, *index)]
        total = total + np.where(inside, weight, 0)[..., None] * values
    return np.moveaxis(total, -1, 1)


def _unscaled(coordinate: Array, extent: int, align_corners: bool) -> Array:
    """Convert a coordinate from -1 to 1 to a position on an axis of `extent` elements."""
    if align_corners:
        return (coordinate + 1) / 2 * (extent - 1)
    return ((coordinate + 1) * extent - 1) / 2


def _around(place: Array, method: str) -> list[tuple[Array, Array]]:
    """Return the elements around `place`, each with its weight."""
    if method == "nearest":
        return [(np.rint(place), np.ones_like(place))]
    first = np.floor(place)
    if method == "bilinear":
        return [(first, 1 - (place - first)), (first + 1, place - first)]
    return [(first - 1 + n, share) for n, share in enumerate(cubic(place - first, -0.75))]


def _inside(place: Array, extent: int, attrs: Anything) -> Array:
    """Bring `place` into the axis's range by `attrs.padding_mode`; "zeros" leaves it unchanged."""
    if attrs.padding_mode == "zeros":
        return place
    if attrs.padding_mode == "reflection":
        low, span = (0.0, extent - 1.0) if attrs.align_corners else (-0.5, float(extent))
        if span == 0:
            return np.zeros_like(place)
        distance = np.abs(place - low) % (2 * span)
        place = np.minimum(distance, 2 * span - distance) + low
    return np.clip(place, 0, extent - 1)
