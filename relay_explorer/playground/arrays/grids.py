"""Orders of elements, and the indices of arrays."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator
from typing import Any

from .core import Array, asarray, function, strides
from .dtypes import INT64, Number
from .shapes import _shape, broadcast_to, linspace, moveaxis, ogrid_of, stack, swapaxes, take_along_axis


@function
def argsort(a: Any, axis: int = -1, kind: str = "", stable: bool = False, **keywords: Any) -> Array:
    x = moveaxis(asarray(a), axis, -1)
    n = x.shape[-1]
    values: list[Number] = []
    for start in range(0, x.size, n or 1):
        row = x.values[start : start + n]
        values += sorted(range(n), key=lambda i: (row[i] != row[i], row[i]))
    return moveaxis(Array(x.shape, INT64, values), -1, axis)


@function
def sort(a: Any, axis: int = -1, **keywords: Any) -> Array:
    return take_along_axis(a, argsort(a, axis), axis % asarray(a).ndim)


@function
def searchsorted(a: Any, values: Any, side: str = "left", **keywords: Any) -> Array:
    x, wanted = asarray(a), asarray(values)
    find = bisect.bisect_left if side == "left" else bisect.bisect_right
    return Array(wanted.shape, INT64, [find(x.values, v) for v in wanted.values])


@function
def histogram(a: Any, bins: int = 10, range: Any = None, **keywords: Any) -> tuple[Array, Array]:
    values = [float(v) for v in asarray(a).values]
    low, high = map(float, range or (min(values, default=0.0), max(values, default=1.0)))
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = linspace(low, high, bins + 1)
    counts = [0] * bins
    for value in values:
        if low <= value <= high:
            # The last bin has both its ends.
            counts[min(bisect.bisect_right(edges.values, value), bins) - 1] += 1
    return Array((bins,), INT64, counts), edges


@function
def meshgrid(*axes: Any, indexing: str = "xy", **keywords: Any) -> list[Array]:
    vectors = [asarray(a).ravel() for a in axes]
    shape = tuple(v.size for v in vectors)
    grids = [
        broadcast_to(v.reshape(tuple(v.size if k == i else 1 for k in range(len(vectors)))), shape)
        for i, v in enumerate(vectors)
    ]
    return [swapaxes(g, 0, 1) for g in grids] if indexing == "xy" and len(vectors) > 1 else grids


@function
def indices(shape: Any, **keywords: Any) -> Array:
    extents = _shape(shape)
    return stack([broadcast_to(one, extents) for one in ogrid_of(extents)])


@function
def ndindex(*shape: Any) -> Iterator[tuple[int, ...]]:
    extents = _shape(shape[0]) if len(shape) == 1 else _shape(shape)
    return itertools.product(*[range(n) for n in extents])


@function
def ndenumerate(a: Any) -> Iterator[tuple[tuple[int, ...], Array]]:
    x = asarray(a)
    return zip(ndindex(x.shape), x.flat)


@function
def unravel_index(index: Any, shape: Any) -> tuple[Array, ...]:
    x, extents = asarray(index), _shape(shape)
    return tuple(
        Array(x.shape, INT64, [p // step % n for p in x.values]) for n, step in zip(extents, strides(extents))
    )
