"""The matrices of Winograd's algorithm, which computes `m` outputs of a filter of `r` elements with m + r - 1
multiplications (S. Winograd, Arithmetic Complexity of Computations, 1980; Lavin and Gray, arXiv 1509.09308).

Two polynomials can be multiplied by multiplying their values at enough points, and interpolating the
polynomial with these values. The transpose of this algorithm computes a filter: with `n = m + r - 1` points,
one of them infinity,

    y = Aᵀ ((G g) ⊙ (Bᵀ d))

for a filter g of r elements and n adjacent data elements d. In two dimensions, the matrices are applied to
rows and columns. There are fewer multiplications but more additions, and the larger the points, the larger
the rounding errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

POINTS = tuple(Fraction(*p) for p in ((0, 1), (1, 1), (-1, 1), (2, 1), (-2, 1), (1, 2), (-1, 2)))
MAX_TILE = len(POINTS) + 1  # the largest tile, with the point at infinity

Rows = tuple[tuple[Fraction, ...], ...]


class Matrices(NamedTuple):
    """The transformation matrices: `data` is Bᵀ (n, n), `filter` G (n, r), `result` Aᵀ (m, n)."""

    data: Rows
    filter: Rows
    result: Rows


@lru_cache(16)
def matrices(m: int, r: int) -> Matrices:
    """Compute the matrices for `m` outputs of a filter of `r` elements; m + r - 1 is at most MAX_TILE."""
    points = POINTS[: m + r - 2]
    one, none = Fraction(1), Fraction(0)
    filters, results, data = [], [], []
    for index, point in enumerate(points):
        others = points[:index] + points[index + 1 :]
        scale = one
        for other in others:
            scale *= point - other
        filters.append(tuple([point**power / scale for power in range(r)]))
        results.append(tuple([point**power for power in range(m)]))
        data.append((*_product(others), none))
    filters.append((*[none] * (r - 1), one))  # the value at infinity is the highest coefficient
    results.append((*[none] * (m - 1), one))
    data.append(_product(points))
    return Matrices(tuple(data), tuple(filters), tuple(zip(*results)))


def _product(roots: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Expand the polynomial with these roots; return its coefficients, from the lowest."""
    coefficients = [Fraction(1)]
    for root in roots:
        shifted = [Fraction(0), *coefficients]
        coefficients = [high - root * low for high, low in zip(shifted, [*coefficients, Fraction(0)])]
    return tuple(coefficients)
