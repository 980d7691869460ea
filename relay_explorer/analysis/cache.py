"""Simulate a cache, and count the reads and writes of a tiled matrix product that miss it.

The cache consists of sets, each with slots (*ways*) for a few lines; a line that is fetched replaces the
least recently used line of its set (LRU). Nothing is estimated: every access to every line is simulated.
"""

from __future__ import annotations

from functools import cache as remembered

from ..ir.errors import RelayError
from ..ir.lazy_dataclass import dataclass

Tile = tuple[int, int]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Cache:
    """A cache of `size` bytes, in lines of `line` bytes, each of which may be stored in one of `ways` slots.
    The line at address `a` belongs to the set `a // line % sets`.
    """

    size: int
    line: int = 64
    ways: int = 8

    def __post_init__(self) -> None:
        whole = all(isinstance(n, int) and n >= 1 for n in (self.size, self.line, self.ways))
        if not whole or self.size % (self.line * self.ways) or self.ways < 2:
            raise RelayError(
                f"a cache of {self.size!r:.40} bytes cannot have {self.ways!r:.40} ways with lines of "
                f"{self.line!r:.40} bytes",
                help=[
                    "the size is the number of sets, times the ways (2 or more), times the bytes of a line"
                ],
            )

    @property
    def sets(self) -> int:
        """The number of sets; each line maps to one of them."""
        return self.size // (self.line * self.ways)

    def __str__(self) -> str:
        sets = "one set" if self.sets == 1 else f"{self.sets} sets"
        return f"{self.size:,} bytes, {sets} of {self.ways} lines of {self.line} bytes"


@dataclass(frozen=True)
class Misses:
    """The number of accesses to cache lines that missed, for each of the three matrices."""

    a: int
    b: int
    c: int

    @property
    def total(self) -> int:
        return self.a + self.b + self.c


@dataclass(frozen=True)
class Product:
    """C = A · B, with A of `m` × `k` elements, B of `k` × `n` and C of `m` × `n`, each of `element` bytes.
    The matrices are stored one after another, in row-major order; each begins at the start of a cache line.

    With a tile (tn, tk) the loops are

        for j0 in range(0, n, tn):
          for k0 in range(0, k, tk):
            for i in range(m):
              for kk in range(k0, k0 + tk):      # as far as there are any
                for j in range(j0, j0 + tn):
                  C[i, j] += A[i, kk] * B[kk, j]

    The innermost loop reads its element of A once. B and C are read, and C is written, along a row.
    """

    m: int
    n: int
    k: int
    element: int = 4

    def starts(self, line: int) -> tuple[int, int, int]:
        """Return the addresses of the three matrices."""
        of_b = -(-self.m * self.k * self.element // line) * line
        return 0, of_b, of_b + -(-self.k * self.n * self.element // line) * line

    def misses(self, tile: Tile, cache: Cache) -> Misses:
        """Count the misses with this tile. The tile `(n, k)` is the product without tiling."""
        return Simulation(self, cache).run(tile)

    def __str__(self) -> str:
        return f"A of {self.m} × {self.k}, B of {self.k} × {self.n}, C of {self.m} × {self.n} elements"


class Simulation:
    """Simulates the accesses of a product to a cache. `sets` are the lines in the cache: those of each set,
    from the least to the most recently used.
    """

    def __init__(self, product: Product, cache: Cache) -> None:
        if cache.line % product.element:
            raise RelayError(
                f"a line of {cache.line} bytes does not hold a whole number of elements of "
                f"{product.element} bytes"
            )
        self.product, self.cache = product, cache
        self.sets: list[dict[int, None]] = [{} for _ in range(cache.sets)]

    def run(self, tile: Tile, until: tuple[int, int] | None = None) -> Misses:
        """Simulate all tiles, or those up to and including the one that begins at `until` (j0, k0)."""
        p, misses = self.product, [0, 0, 0]
        tn, tk = min(tile[0], p.n), min(tile[1], p.k)
        if tn < 1 or tk < 1:
            raise RelayError(f"a tile of {tile[0]} × {tile[1]} is empty: its sides must be at least 1")
        for j0 in range(0, p.n, tn):
            for k0 in range(0, p.k, tk):
                self._tile(range(k0, min(k0 + tk, p.k)), j0, min(tn, p.n - j0), misses)
                if until == (j0, k0):
                    return Misses(*misses)
        return Misses(*misses)

    def _tile(self, inner: range, j0: int, width: int, misses: list[int]) -> None:
        p, line, count = self.product, self.cache.line, self.cache.sets
        sets, ways = self.sets, self.cache.ways
        of_a, of_b, of_c = p.starts(line)
        b_starts = [of_b + (kk * p.n + j0) * p.element for kk in inner]
        for i in range(p.m):
            c_start = of_c + (i * p.n + j0) * p.element
            c_line, c_phase = divmod(c_start, line)
            a_start = of_a + i * p.k * p.element
            for kk, b_start in zip(inner, b_starts):
                b_line, b_phase = divmod(b_start, line)
                touches = [(0, (a_start + kk * p.element) // line)]
                for b, c in _pairs(b_phase, c_phase, width, p.element, line):
                    touches.append((1, b_line + b))
                    touches.append((2, c_line + c))
                for matrix, at in touches:
                    lines = sets[at % count]
                    if at in lines:
                        del lines[at]  # reinserted as the most recently used
                    else:
                        misses[matrix] += 1
                        if len(lines) == ways:
                            del lines[next(iter(lines))]
                    lines[at] = None


@remembered
def _pairs(b_phase: int, c_phase: int, width: int, element: int, line: int) -> tuple[Pair, ...]:
    """Return the lines of B and C, relative to the first, that a row of a tile accesses together. While both
    lines stay the same, repeated accesses hit in a cache with at least two ways.
    """
    ends = {0}
    for phase in (b_phase, c_phase):
        ends.update(range((line - phase) // element, width, line // element))
    return tuple([((b_phase + j * element) // line, (c_phase + j * element) // line) for j in sorted(ends)])
