"""The simulated cache: exact, compared with one that plays every single number in the plainest way."""

from __future__ import annotations

import random

import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer.analysis.cache import Cache, Misses, Product, Simulation
from relay_explorer.ir.errors import RelayError


def plainly(product: Product, tile: tuple[int, int], cache: Cache) -> Misses:
    """Every read and write of a number, one after the other; each set is a list, the line last used at its
    end.
    """
    p, (tn, tk) = product, tile
    sets: list[list[int]] = [[] for _ in range(cache.sets)]
    result = [0, 0, 0]
    of_a, of_b, of_c = p.starts(cache.line)

    def touch(matrix: int, address: int) -> None:
        line = address // cache.line
        lines = sets[line % cache.sets]
        if line in lines:
            lines.remove(line)
        else:
            result[matrix] += 1
            del lines[: max(0, len(lines) + 1 - cache.ways)]
        lines.append(line)

    for j0 in range(0, p.n, tn):
        for k0 in range(0, p.k, tk):
            for i in range(p.m):
                for kk in range(k0, min(k0 + tk, p.k)):
                    touch(0, of_a + (i * p.k + kk) * p.element)
                    for j in range(j0, min(j0 + tn, p.n)):
                        touch(1, of_b + (kk * p.n + j) * p.element)
                        touch(2, of_c + (i * p.n + j) * p.element)  # read
                        touch(2, of_c + (i * p.n + j) * p.element)  # written
    return Misses(*result)


def test_it_counts_what_plain_play_counts() -> None:
    rng = random.Random(7)
    for _ in range(60):
        product = Product(rng.randint(1, 12), rng.randint(1, 40), rng.randint(1, 12), rng.choice((2, 4, 8)))
        line, ways = rng.choice((8, 16, 32, 64)), rng.choice((2, 3, 4))
        cache = Cache(line * ways * rng.choice((1, 2, 3, 8)), line, ways)
        tile = rng.randint(1, product.n), rng.randint(1, product.k)
        assert product.misses(tile, cache) == plainly(product, tile, cache), (product, tile, cache)


def test_where_all_fits_each_line_misses_once() -> None:
    product = Product(8, 32, 8)
    assert product.misses((32, 8), Cache(1 << 16)) == Misses(a=4, b=16, c=16)
    assert product.misses((5, 3), Cache(1 << 16)).total == 36


def test_what_is_in_the_cache_can_be_looked_at() -> None:
    product, cache = Product(4, 32, 8), Cache(512, 64, 2)
    played = Simulation(product, cache)
    played.run((16, 4), until=(16, 0))
    assert sum(map(len, played.sets)) <= cache.size // cache.line
    assert all(line % cache.sets == number for number, lines in enumerate(played.sets) for line in lines)
    last = product.starts(64)[2] // 64 + 3 * 2 + 1  # the second half of the last row of C
    assert last in played.sets[last % cache.sets]


@pytest.mark.parametrize(("size", "line", "ways"), [(1000, 64, 8), (4096, 64, 1), (0, 64, 8), (64.0, 8, 2)])
def test_a_cache_must_be_made_of_sets(size: int, line: int, ways: int) -> None:
    with pytest.raises(RelayError, match=r"a cache of .* cannot have"):
        Cache(size, line, ways)


def test_a_tile_must_have_sides_and_a_line_whole_numbers() -> None:
    with raises(snapshot("RelayError: error: a tile of 0 × 4 is empty: its sides must be at least 1")):
        Product(4, 4, 4).misses((0, 4), Cache(4096))
    with raises(
        snapshot("RelayError: error: a line of 4 bytes does not hold a whole number of elements of 8 bytes")
    ):
        Product(4, 4, 4, 8).misses((4, 4), Cache(64, 4, 2))
