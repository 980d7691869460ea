"""Converters of operators that resize images.

TensorFlow Lite interpolates integers with integers: the fractions of the coordinates have 11 bits, in its
reference kernels and for 16 bits only 10.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ...ops.numeric import Array, np
from .operation import Operation, converter

_LARGEST = 1 << 24  # coordinates that float32 represents
_FINE_BITS, _COARSE_BITS = 11, 10  # of a fraction


Coordinates = tuple[Array, Array, Array]
"""The indices of the elements before and after each coordinate, and the weight of the second one."""


@converter("RESIZE_NEAREST_NEIGHBOR", mode="stored")
def _nearest(op: Operation) -> Expr:
    """Take the elements at the coordinates: the nearest if the corners are aligned, else those before."""
    corners, centers = _placement(op)
    if not all(isinstance(extent, int) for extent in op.shape(0)[1:3]) and not centers:
        return relay.image.resize2d(
            op[0], op.ints(1, "the size"), layout="NHWC", method="nearest_neighbor",
            coordinate_transformation_mode="align_corners" if corners else "asymmetric",
            rounding_method="round" if corners else "floor",
        )  # fmt: skip
    x = op[0]
    for axis, extent, wanted in _extents(op):
        at = (_positions(wanted) + np.float32(0.5 if centers else 0)) * _scale(extent, wanted, corners)
        index = np.floor(at + np.float32(0.5 if corners else 0))
        x = relay.take(x, const(np.clip(index, 0, extent - 1).astype(np.int32)), axis)
    return x


@converter("RESIZE_BILINEAR", mode="own")
def _bilinear(op: Operation) -> Expr:
    corners, centers = _placement(op)
    before, after, dtype = op.tensor(0).quantization, op.result().quantization, op.result().dtype
    if before is None or before != after or op.dtype(0) != dtype or dtype not in ("int8", "uint8", "int16"):
        op.mode = "real"
        mode = "align_corners" if corners else "half_pixel" if centers else "asymmetric"
        return relay.image.resize2d(
            op[0], op.ints(1, "the size"), layout="NHWC", method="linear", rounding_method="",
            coordinate_transformation_mode=mode,
        )  # fmt: skip
    x: Expr = relay.cast(op.stored(0), "int64" if dtype == "int16" else "int32")
    if op.frame.importer.reference or dtype == "int16":
        sums = _interpolated(op, x, _coarse, _COARSE_BITS)
        negative = relay.cast(relay.less(sums, _like(op, sums, 0)), op.context.dtype(sums))
        sums = relay.subtract(sums, negative)  # rounds half away from zero
        return relay.cast(_halved(op, sums, 2 * _COARSE_BITS), dtype)
    return relay.cast(_halved(op, _interpolated(op, x, _fine, _FINE_BITS), 2 * _FINE_BITS), dtype)


def _interpolated(
    op: Operation, x: Expr, coordinates: Callable[[int, int, bool, bool], Coordinates], bits: int
) -> Expr:
    """Interpolate integers along the height and the width; the result has twice as many bits of fraction."""
    for axis, extent, wanted in _extents(op):
        before, after, weights = coordinates(extent, wanted, *_placement(op))
        shape = [1] * 4
        shape[axis] = wanted
        second = weights.reshape(shape)
        first, last = (relay.take(x, const(index.astype(np.int32)), axis) for index in (before, after))
        x = relay.add(
            relay.multiply(first, _like(op, x, (1 << bits) - second)),
            relay.multiply(last, _like(op, x, second)),
        )
    return x


def _halved(op: Operation, x: Expr, bits: int) -> Expr:
    """Divide by a power of two and round half upwards."""
    return relay.right_shift(relay.add(x, _like(op, x, 1 << (bits - 1))), _like(op, x, bits))


def _like(op: Operation, x: Expr, value: int | Array) -> Expr:
    return const(np.asarray(value), op.context.dtype(x))


# -- coordinates


def _placement(op: Operation) -> tuple[bool, bool]:
    """Return whether the corners are aligned, and whether pixels are at their centers."""
    return bool(op.attr("align_corners", False)), bool(op.attr("half_pixel_centers", False))


def _extents(op: Operation) -> list[tuple[int, int, int]]:
    """Return the axes of the height and the width with their extents before and after."""
    size = op.ints(1, "the size")
    if len(size) != 2 or not all(0 < wanted <= _LARGEST for wanted in size):
        raise RelayError(
            f"the size of a resized image must be two positive numbers of at most {_LARGEST:,}, not "
            f"{list(size)}"
        )
    return list(zip((1, 2), op.extents(0, (1, 2)), size))


def _positions(wanted: int) -> Array:
    return np.arange(wanted, dtype=np.float32)


def _scale(extent: int, wanted: int, corners: bool) -> Any:
    inner = 1 if corners and wanted > 1 else 0
    return np.float32(extent - inner) / np.float32(wanted - inner)


def _fine(extent: int, wanted: int, corners: bool, centers: bool) -> Coordinates:
    scale = _scale(extent, wanted, corners)
    offset = np.float32(0.5) * scale - np.float32(0.5) if centers and not corners else np.float32(0)
    at = np.clip(_positions(wanted) * scale + offset, np.float32(0), np.float32(extent - 1))
    before = np.floor(at)
    weights = np.rint((at - before) * np.float32(1 << _FINE_BITS)).astype(np.int64)
    first = before.astype(np.int64)
    return first, np.minimum(first + 1, extent - 1), weights


def _coarse(extent: int, wanted: int, corners: bool, centers: bool) -> Coordinates:
    inner, one = (1 if corners and wanted > 1 else 0), 1 << _COARSE_BITS
    scale = (one * (extent - inner) + (wanted - inner) // 2) // (wanted - inner)
    at = np.arange(wanted, dtype=np.int64) * scale
    if centers:
        at = at + scale // 2 - one // 2
    first = np.maximum(np.sign(at) * (np.abs(at) // one), 0)
    return first, np.minimum((at + one - 1) // one, extent - 1).clip(0), at - one * first
