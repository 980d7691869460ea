"""The checks of the exercise `choose_tile`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from relay_explorer.analysis.cache import Cache, Product
from relay_explorer.grading import check
from relay_explorer.grading.choose_tile import TileMap, misses
from relay_explorer.grading.choose_tile.checks import CASES, LIMIT, SEEN, Case
from tests.exercises.answers import answer

Answer = Callable[[int, int, int, int, Cache], object]


def solution() -> Answer:
    return answer("choose_tile", "tile")


@pytest.mark.parametrize("programs", [60, 120])
def test_solution_passes(programs: int) -> None:
    """With the visible cases, and with the hidden ones."""
    feedback = check("choose_tile", solution(), programs=programs)
    assert feedback.passed, str(feedback)


def test_accepts_best_of_some_tiles() -> None:
    def search(m: int, n: int, k: int, element: int, cache: Cache) -> object:
        product = Product(m, n, k, element)
        tiles = {(min(tn, n), min(tk, k)) for tn in (16, 32, 64, 256) for tk in (4, 6, 8, 11, 16, 24)}
        return min(tiles, key=lambda tile: product.misses(tile, cache).total)

    assert check("choose_tile", search, "sets").passed


def test_tiling_halves_misses() -> None:
    for case in (case for cases in CASES.values() for case in cases):
        p = case.product
        untiled_misses = misses(p, (p.n, p.k), case.cache).total
        assert untiled_misses > 2 * case.most, case
        assert case.most >= LIMIT * misses(p, case.best, case.cache).total - 1
    assert all(len(cases) > SEEN for cases in CASES.values())


# -- common mistakes


def square(numbers: float, n: int, k: int) -> tuple[int, int]:
    side = max(1, int(numbers**0.5))
    return min(side, n), min(side, k)


def counts_bytes_as_elements(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return square(cache.size, n, k)


def fills_cache_with_tile(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return square(cache.size / element, n, k)


def untiled(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return n, k


def tall_tile(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return n, max(1, k - 1)


def fills_half_of_cache(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return square(cache.size / element / 2, n, k)


def small_tile(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return min(n, max(1, cache.line // element)), min(k, 4)


def wide_tile(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return n, max(1, min(k, cache.size // element // 2 // n))


def assumes_four_bytes(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return solution()(m, n, k, 4, cache)


def assumes_full_associativity(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return solution()(m, n, k, element, Cache(cache.size, cache.line, cache.size // cache.line))


def ignores_streamed_rows(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    """Leave one way of a set free, although the streamed rows of A and C need two."""
    return (n, 14) if n == 64 else solution()(m, n, k, element, cache)


def float_extent(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return n / 2, k


def zero_extent(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return n, cache.size // element // n // 2


def extent_beyond_matrix(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return 64, 1


def single_extent(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return 16


MISTAKES = (
    (counts_bytes_as_elements, "fits", "Do you count elements where the cache counts bytes?"),
    (fills_cache_with_tile, "fits", "A row of A, a row of C"),
    (tall_tile, "shapes", "The tile of B alone has"),
    (untiled, "shapes", "all of B, 30,000 bytes"),
    (fills_half_of_cache, "fits", "the rest of the line is fetched"),
    (small_tile, "fits", "The larger the tile"),
    (wide_tile, "fits", "a larger `tk`, with a smaller `tn`"),
    (assumes_four_bytes, "elements", "bytes"),
    (assumes_full_associativity, "sets", "map to the same set"),
    (ignores_streamed_rows, "sets", "need ways in it, too"),
    (float_extent, "tiles", "The extents are integers"),
    (zero_extent, "tiles", "An extent is at least 1"),
    (extent_beyond_matrix, "tiles", "at most that of the matrix"),
    (single_extent, "tiles", "Return a pair"),
)


@pytest.mark.parametrize(("mistake", "part", "hint"), MISTAKES, ids=lambda x: getattr(x, "__name__", None))
def test_hints_at_common_mistake(mistake: Answer, part: str, hint: str) -> None:
    feedback = check("choose_tile", mistake, part)
    assert feedback.failure is not None
    assert hint in feedback.failure.hint, str(feedback)
    assert (feedback.picture is None) == (part == "tiles")


def test_reports_misses_per_matrix() -> None:
    failure = check("choose_tile", fills_cache_with_tile, "fits").failure
    assert failure is not None
    assert failure.case == (
        "tile(64, 64, 64, 4, cache): A of 64 × 64, B of 64 × 64, C of 64 × 64 elements, of 4 bytes each; a "
        "cache of 4,096 bytes, one set of 64 lines of 64 bytes"
    )
    assert failure.expected == "at most 2,662 misses (16,896 without tiles)"
    assert failure.got == ("the tile tn = 32, tk = 32: 17,408 misses: 512 in A, 16,384 in B, 512 in C")


# -- the picture


def test_picture_has_equivalent_text() -> None:
    case = Case(Product(24, 48, 40), Cache(2048, 64, 4), (16, 8))
    drawn = TileMap(case.product, case.cache, case.best)
    rows, columns, table = drawn.table()
    assert (8 in rows, 16 in columns) == (True, True)
    assert table[rows.index(8)][columns.index(16)] == misses(case.product, (16, 8), case.cache).total
    assert table[-1][-1] is None  # 7,680 bytes: far larger than the cache
    html = drawn._repr_html_()
    figure = ElementTree.fromstring(html)
    assert len(figure.findall(".//svg")) == 2
    assert html.count('stroke-dasharray="5 3"') == 4  # the tile in the table, and in each matrix
    assert "this tile, tn = 16 and tk = 8" in html
    lines = repr(drawn).splitlines()
    assert len(lines) == 2 + len(rows)
    assert lines[0].endswith("2,048 bytes, 8 sets of 4 lines of 64 bytes")


def test_picture_marks_cached_lines() -> None:
    """At most as many lines as the cache holds; all touched lines if they fit."""
    small, large = (
        TileMap(Product(16, 32, 16), cache, (32, 16)) for cache in (Cache(512, 64, 8), Cache(1 << 16))
    )
    count = [drawn._repr_html_().count('fill-opacity=".55"') for drawn in (small, large)]
    assert count == [8, 16 + 32 + 32]
