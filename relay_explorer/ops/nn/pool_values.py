"""The reference implementations of pools and of their gradients, in any layout."""

from __future__ import annotations

from math import prod
from typing import Any as Anything

from ...ir.op import Reference
from ..numeric import Array, is_float, limits, np, per, quotient
from .pool_shape import pooled, spatial_places
from .sliding import cropped, padded, sides, under, windows


def _last(x: Array, attrs: Anything, axes: str) -> tuple[Array, tuple[int, ...]]:
    """Move the spatial axes of `x` to the end; return the array and their former positions."""
    places = spatial_places(attrs, axes, x.ndim)
    return np.moveaxis(x, places, range(-len(axes), 0)), places


def _back(y: Array, places: tuple[int, ...]) -> Array:
    return np.moveaxis(y, range(-len(places), 0), places)


def _overhang(x: Array, attrs: Anything, places: tuple[int, ...], axes: str) -> list[tuple[int, int]]:
    """Return how far the last window extends beyond the padded data on each axis, in ceil_mode."""
    out: Anything = pooled(x.shape, attrs, axes)  # an array's extents are static
    pairs = sides(attrs.padding, len(axes))
    spans = []
    for axis, place in enumerate(places):
        window = attrs.dilation[axis] * (attrs.pool_size[axis] - 1) + 1
        reach = (out[place] - 1) * attrs.strides[axis] + window
        spans.append((0, max(0, reach - x.shape[place] - sum(pairs[axis]))))
    return spans


class _Pool:
    """The windows of one call: the padded data, and how windows are read from it."""

    def __init__(self, attrs: Anything, axes: str, x: Array) -> None:
        self.attrs, self.count = attrs, len(axes)
        self.data, self.places = _last(x, attrs, axes)
        self.pairs = sides(attrs.padding, self.count)
        self.overhang = _overhang(x, attrs, self.places, axes)
        self.around = [(b, a + more) for (b, a), (_, more) in zip(self.pairs, self.overhang, strict=True)]
        self.folded = tuple(range(-self.count, 0))

    def windows(self, padded_data: Array) -> Array:
        return windows(padded_data, self.attrs.pool_size, self.attrs.strides, self.attrs.dilation)

    def sizes(self) -> Array:
        """Return the number of elements over which each window's mean is taken: never those beyond the
        padding.
        """
        ones = np.ones(self.data.shape[-self.count :], self.data.dtype)
        inside = padded(ones, self.pairs, int(self.attrs.count_include_pad))
        counts = self.windows(padded(inside, self.overhang, 0)).sum(self.folded, dtype=self.data.dtype)
        return np.maximum(counts, 1).astype(self.data.dtype)

    def spread(self, shares: Array) -> Array:
        """Sum `shares` (…, position of the window …, position within it …) at their positions in the data."""
        y = padded(np.zeros_like(self.data), self.around, 0)
        places = shares.shape[-2 * self.count : -self.count]
        for within in np.ndindex(self.attrs.pool_size):
            y[(..., *under(within, places, self.attrs.strides, self.attrs.dilation))] += shares[
                (..., *within)
            ]
        return _back(cropped(y, self.around), self.places)


def maximum(axes: str) -> Reference:
    """Build the reference implementation of max pooling; padding is the lowest finite number, as in TVM."""

    def compute(attrs: Anything, x: Array) -> Array:
        pool = _Pool(attrs, axes, x)
        lowest = np.finfo(x.dtype).min if is_float(x) else limits(x)[0]
        return _back(pool.windows(padded(pool.data, pool.around, lowest)).max(pool.folded), pool.places)

    return compute


def mean(axes: str) -> Reference:
    """Build the reference implementation of average pooling: the sum of each window divided by its size."""

    def compute(attrs: Anything, x: Array) -> Array:
        pool = _Pool(attrs, axes, x)
        total = pool.windows(padded(pool.data, pool.around, 0)).sum(pool.folded, dtype=x.dtype)
        return _back(quotient(total, pool.sizes()), pool.places)

    return compute


def maximum_grad(attrs: Anything, grad: Array, x: Array) -> Array:
    """Add each window's gradient to its largest element, the first of equal ones."""
    pool = _Pool(attrs, "HW", x)
    patches = pool.windows(padded(pool.data, pool.around, limits(x)[0]))
    rows = patches.reshape(*patches.shape[:-2], -1)
    chosen = rows.argmax(-1)[..., None] == np.arange(rows.shape[-1])
    grads, _ = _last(grad, attrs, "HW")
    return pool.spread(grads[..., None, None] * chosen.reshape(patches.shape)).astype(x.dtype)


def mean_grad(attrs: Anything, grad: Array, x: Array) -> Array:
    """Distribute each window's gradient evenly over the elements of its mean."""
    pool = _Pool(attrs, "HW", x)
    grads, _ = _last(grad, attrs, "HW")
    shares = quotient(grads, pool.sizes())
    return pool.spread(np.broadcast_to(shares[..., None, None], (*shares.shape, *attrs.pool_size)))


def resized_to(kind: str, axes: str, sizes: Anything) -> Reference:
    """Build the reference implementation of an adaptive pool. It divides each spatial axis into as many
    windows as `sizes(attrs, axes)` requests, which may overlap by one element, or into one window per element
    where it requests none.
    """

    def compute(attrs: Anything, x: Array) -> Array:
        data, places = _last(x, attrs, axes)
        extents = data.shape[-len(axes) :]
        requested = sizes(attrs, len(axes)) or extents
        folded = tuple(range(-len(axes), 0))
        y = np.empty((*data.shape[: -len(axes)], *requested), x.dtype)
        for at in np.ndindex(*requested):
            window = [
                slice(i * d // m, -(-(i + 1) * d // m))
                for i, d, m in zip(at, extents, requested, strict=True)
            ]
            patch = data[(..., *window)]
            if kind == "max":
                y[(..., *at)] = patch.max(folded)
            else:
                elements = prod([part.stop - part.start for part in window])
                y[(..., *at)] = per(patch.sum(folded, dtype=x.dtype), elements)
        return _back(y, places)

    return compute
