"""The matrices of a Winograd convolution: `m` results of a filter of `r` numbers by m + r - 1 products (S.
Winograd, Arithmetic Complexity of Computations, 1980; Lavin and Gray, arXiv 1509.09308).

Multiplying two polynomials is multiplying their values at enough points, and finding the polynomial that has
these values. Transposed, the same computes a filter: with `n = m + r - 1` points, one of them infinity,

    y = Aᵀ ((G g) ⊙ (Bᵀ d))

for a filter g of r numbers and n neighbours d. In two dimensions, the matrices are applied to rows and
columns. Products become few, additions more; the values spread as the points do, which costs digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

POINTS = tuple(Fraction(*p) for p in ((0, 1), (1, 1), (-1, 1), (2, 1), (-2, 1), (1, 2), (-1, 2)))
MOST = len(POINTS) + 1  # neighbours that the points are enough for, with infinity

Rows = tuple[tuple[Fraction, ...], ...]


class Matrices(NamedTuple):
    """`data` is Bᵀ (n, n), `filter` G (n, r), `result` Aᵀ (m, n)."""

    data: Rows
    filter: Rows
    result: Rows


@lru_cache(16)
def matrices(m: int, r: int) -> Matrices:
    """The matrices for `m` results of `r` numbers; m + r - 1 is at most MOST."""
    points = POINTS[: m + r - 2]
    one, none = Fraction(1), Fraction(0)
    filters, results, data = [], [], []
    for place, point in enumerate(points):
        others = points[:place] + points[place + 1 :]
        scale = one
        for other in others:
            scale *= point - other
        filters.append(tuple([point**power / scale for power in range(r)]))
        results.append(tuple([point**power for power in range(m)]))
        data.append((*_product(others), none))
    filters.append((*[none] * (r - 1), one))  # at infinity, the highest coefficient counts
    results.append((*[none] * (m - 1), one))
    data.append(_product(points))
    return Matrices(tuple(data), tuple(filters), tuple(zip(*results)))


def _product(roots: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The coefficients of the polynomial with these roots, from the lowest."""
    found = [Fraction(1)]
    for root in roots:
        shifted = [Fraction(0), *found]
        found = [high - root * low for high, low in zip(shifted, [*found, Fraction(0)])]
    return tuple(found)
