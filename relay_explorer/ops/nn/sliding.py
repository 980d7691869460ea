"""Windows over arrays: what convolutions and pools compute with. Axes of space come last."""

from __future__ import annotations

from ..numeric import Array, np
from .layout import many


def sides(padding: tuple[int, ...], axes: int) -> list[tuple[int, int]]:
    """How much goes before and after each axis, from one amount, one an axis, or all before and then all
    after.
    """
    if len(padding) not in (1, axes, 2 * axes):
        raise ValueError(f"padding has {many(len(padding), 'value', 'values')}")
    amounts = padding * (2 * axes) if len(padding) == 1 else padding * 2 if len(padding) == axes else padding
    return list(zip(amounts[:axes], amounts[axes:], strict=True))


def padded(x: Array, pairs: list[tuple[int, int]], value: float) -> Array:
    """`x` with as much of `value` before and after each of its last axes as `pairs` says."""
    lead = [(0, 0)] * (x.ndim - len(pairs))
    return np.pad(x, [*lead, *pairs], constant_values=value)


def windows(x: Array, size: tuple[int, ...], strides: tuple[int, ...], dilation: tuple[int, ...]) -> Array:
    """All windows over the last axes of `x`: (…, place of the window …, place within it …), a view."""
    axes = tuple(range(-len(size), 0))
    extents = [step * (n - 1) + 1 for n, step in zip(size, dilation, strict=True)]
    every = np.lib.stride_tricks.sliding_window_view(x, extents, axes)
    places = [slice(None, None, stride) for stride in strides]
    within = [slice(None, None, step) for step in dilation]
    return every[(..., *places, *within)]


def under(
    within: tuple[int, ...], places: tuple[int, ...], strides: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[slice, ...]:
    """Where in the data the element at `within` of every window lies, one slice an axis."""
    return tuple(
        [
            slice(step * u, step * u + stride * (count - 1) + 1, stride)
            for u, count, stride, step in zip(within, places, strides, dilation, strict=True)
        ]
    )


def cropped(x: Array, pairs: list[tuple[int, int]]) -> Array:
    """`x` without what `pairs` says before and after each of its last axes."""
    inner = [
        slice(before, extent - after)
        for (before, after), extent in zip(pairs, x.shape[-len(pairs) :], strict=True)
    ]
    return x[(..., *inner)]
