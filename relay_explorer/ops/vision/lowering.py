"""Helpers of the lowerings of operators on boxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..te.imperative import each, int32, local, when
from ..te.library import te, tirx
from ..te.sort import merge_sort
from ..te.tensors import Extent, Value, clamp, dtype_of, every, number, select

Box = Callable[[int], Value]  # its coordinate k: left, top, right, bottom


def ordered(box: Box, k: int) -> Value:
    """Return coordinate `k` of a box whose ends are ordered, the lesser first."""
    return te.min(box(k), box(k + 2)) if k < 2 else te.max(box(k - 2), box(k))


def overlap(a: Box, b: Box, dtype: str, pixel: float = 0.0) -> Value:
    """Compute the intersection over union of two boxes; 0 for empty ones.

    `pixel` is added to the difference of a side's ends to get its length.
    """
    zero, one = number(0, dtype), number(1, dtype)
    sides: list[list[Value]] = [[], [], []]  # of the intersection, of `a`, and of `b`
    for k in range(2):
        shared = te.min(a(k + 2), b(k + 2)) - te.max(a(k), b(k))
        sides[0].append(te.max(_wider(shared, pixel, dtype), zero))
        sides[1].append(_wider(a(k + 2) - a(k), pixel, dtype))
        sides[2].append(_wider(b(k + 2) - b(k), pixel, dtype))
    shared, first, second = (side[0] * side[1] for side in sides)
    union = first + second - shared
    return select(union > zero, shared / select(union > zero, union, one), zero)


def _wider(side: Value, pixel: float, dtype: str) -> Value:
    """Add `pixel` to a side, unless it is zero."""
    return side + number(pixel, dtype) if pixel else side


def best_first(row: Extent, count: Value, score: Callable[[Value], Value], places: Any, spare: Any) -> None:
    """Fill `places[row]` with 0 to `count` - 1, sorted by score: the greatest first, equal ones in their
    order, NaN last.
    """
    merge_sort(row, count, lambda place: -score(place), places, spare, ascending=True)


def keep(
    count: Value,
    most: Value | None,
    candidate: Callable[[Value], Value],
    too_close: Callable[[Value, Value], Value],
    retained: Any,
) -> Any:
    """Fill the buffer `retained` with the indices of the candidates that are too close to none before them.

    The best come first; the returned buffer holds the number of indices.
    """
    stay, suppressed = local(1, "int32"), local(1, "bool")
    stay[0] = number(0, "int32")
    with each(count) as index:
        suppressed[0] = tirx.Not(candidate(index))
        if most is not None:
            suppressed[0] = tirx.any(suppressed[0], stay[0] >= most)
        with each(stay[0]) as n, when(tirx.Not(suppressed[0])), when(too_close(retained[n], index)):
            suppressed[0] = number(True, "bool")
        with when(every([tirx.Not(suppressed[0])])):
            retained[stay[0]] = int32(index)
            stay[0] = stay[0] + 1
    return stay


REAL = "float64"


def real(value: Any) -> Value:
    """Convert a number or an expression to REAL."""
    return number(value, REAL) if isinstance(value, (int, float)) else value.astype(REAL)


def is_at(at: Value, place: int) -> Value:
    """Compare an index with a constant."""
    return tirx.EQ(at, number(place, dtype_of(at)))


def table(values: list[float], at: Value) -> Value:
    """Look up one of a few constants."""
    result = real(values[-1])
    for n, value in reversed(list(enumerate(values[:-1]))):
        result = select(is_at(at, n), real(value), result)
    return result


def region_side(rois: Any, r: Extent, k: int, scale: float) -> Value:
    """Read element `k` of a region of interest, scaled to the data."""
    return rois[r, k].astype(REAL) * real(scale)


def image_number(rois: Any, r: Extent, images: Any) -> Value:
    """Return the index of a region's image, clamped to the batch."""
    return clamp(rois[r, 0].astype("int32"), 0, images - 1)
