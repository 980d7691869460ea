"""Anchors, detections and regions of interest: the operators around a detector's suppression of boxes."""

from __future__ import annotations

from typing import Any

from .library import tirx
from .tensors import (
    Value,
    clamp,
    dtype_of,
    number,
    select,
)

REAL = "float64"


def real(value: Any) -> Value:
    return number(value, REAL) if isinstance(value, (int, float)) else value.astype(REAL)


def is_at(at: Value, place: int) -> Value:
    return tirx.EQ(at, number(place, dtype_of(at)))


def table(values: list[float], at: Value) -> Value:
    """One of a few numbers that are known."""
    found = real(values[-1])
    for n, value in reversed(list(enumerate(values[:-1]))):
        found = select(is_at(at, n), real(value), found)
    return found


# -- regions of an image, at one size


def region_side(rois: Any, r: Value, k: int, scale: float) -> Value:
    return rois[r, k].astype(REAL) * real(scale)


def image_number(rois: Any, r: Value, images: Any) -> Value:
    """The number of the image that a region is of, brought into their range."""
    return clamp(rois[r, 0].astype("int32"), 0, images - 1)


# -- the regions that a detector's first stage proposes
