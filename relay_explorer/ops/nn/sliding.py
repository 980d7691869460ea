"""Sliding windows over arrays, on which convolutions and pools are computed. Spatial axes come last."""

from __future__ import annotations

from ..numeric import Array, np
from .layout import many


def sides(padding: tuple[int, ...], axes: int) -> list[tuple[int, int]]:
    """Return the padding before and after each axis, given one amount, one per axis, or all before and then
    all after.
    """
    if len(padding) not in (1, axes, 2 * axes):
        raise ValueError(f"padding has {many(len(padding), 'value', 'values')}")
    amounts = padding * (2 * axes) if len(padding) == 1 else padding * 2 if len(padding) == axes else padding
    return list(zip(amounts[:axes], amounts[axes:], strict=True))


def padded(x: Array, pairs: list[tuple[int, int]], value: float) -> Array:
    """Pad each of the last axes of `x` with `value`, by the amounts before and after it in `pairs`."""
    lead = [(0, 0)] * (x.ndim - len(pairs))
    return np.pad(x, [*lead, *pairs], constant_values=value)


def windows(x: Array, size: tuple[int, ...], strides: tuple[int, ...], dilation: tuple[int, ...]) -> Array:
    """Return all windows over the last axes of `x`, as a view: (…, position of the window …, position within
    it …).
    """
    axes = tuple(range(-len(size), 0))
    extents = [step * (n - 1) + 1 for n, step in zip(size, dilation, strict=True)]
    every = np.lib.stride_tricks.sliding_window_view(x, extents, axes)
    places = [slice(None, None, stride) for stride in strides]
    within = [slice(None, None, step) for step in dilation]
    return every[(..., *places, *within)]


def under(
    within: tuple[int, ...], places: tuple[int, ...], strides: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[slice, ...]:
    """Return the slices, one per axis, that select the data's elements at the position `within` of every
    window.
    """
    return tuple(
        [
            slice(step * u, step * u + stride * (count - 1) + 1, stride)
            for u, count, stride, step in zip(within, places, strides, dilation, strict=True)
        ]
    )


def cropped(x: Array, pairs: list[tuple[int, int]]) -> Array:
    """Crop each of the last axes of `x` by the amounts before and after it in `pairs`."""
    inner = [
        slice(before, extent - after)
        for (before, after), extent in zip(pairs, x.shape[-len(pairs) :], strict=True)
    ]
    return x[(..., *inner)]
