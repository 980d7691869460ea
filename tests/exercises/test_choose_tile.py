"""The exercise `choose_tile`: right answers pass, and every usual mistake is told by its name."""

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


def right() -> Answer:
    return answer("choose_tile", "tile")


@pytest.mark.parametrize("programs", [60, 120])
def test_the_solution_passes(programs: int) -> None:
    """What learners see, and what is hidden."""
    feedback = check("choose_tile", right(), programs=programs)
    assert feedback.passed, str(feedback)


def test_an_answer_that_tries_some_tiles_passes() -> None:
    def tried(m: int, n: int, k: int, element: int, cache: Cache) -> object:
        product = Product(m, n, k, element)
        tiles = {(min(tn, n), min(tk, k)) for tn in (16, 32, 64, 256) for tk in (4, 6, 8, 11, 16, 24)}
        return min(tiles, key=lambda tile: product.misses(tile, cache).total)

    assert check("choose_tile", tried, "sets").passed


def test_the_best_tiles_are_far_better_than_none() -> None:
    for case in (case for cases in CASES.values() for case in cases):
        p = case.product
        plain = misses(p, (p.n, p.k), case.cache).total
        assert plain > 2 * case.most, case
        assert case.most >= LIMIT * misses(p, case.best, case.cache).total - 1
    assert all(len(cases) > SEEN for cases in CASES.values())


# -- the usual mistakes


def square(numbers: float, n: int, k: int) -> tuple[int, int]:
    side = max(1, int(numbers**0.5))
    return min(side, n), min(side, k)


def bytes_for_numbers(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return square(cache.size, n, k)


def all_of_it(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return square(cache.size / element, n, k)


def no_tiles(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return n, k


def too_tall(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return n, max(1, k - 1)


def half_lines(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return square(cache.size / element / 2, n, k)


def small(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return min(n, max(1, cache.line // element)), min(k, 4)


def wide(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return n, max(1, min(k, cache.size // element // 2 // n))


def four_bytes(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return right()(m, n, k, 4, cache)


def no_sets(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return right()(m, n, k, element, Cache(cache.size, cache.line, cache.size // cache.line))


def not_passing(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    """One line less than all places of a set, where the rows that pass need two."""
    return (n, 14) if n == 64 else right()(m, n, k, element, cache)


def a_float(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return n / 2, k


def nothing_left(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return n, cache.size // element // n // 2


def too_much(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return 64, 1


def one_number(m, n, k, element, cache):  # type: ignore[no-untyped-def]
    return 16


MISTAKES = (
    (bytes_for_numbers, "fits", "Do you count numbers where the cache counts bytes?"),
    (all_of_it, "fits", "A row of A and one of C need room"),
    (too_tall, "shapes", "The tile of B alone has"),
    (no_tiles, "shapes", "all of B, 30,000 bytes"),
    (half_lines, "fits", "the rest of the last line is fetched"),
    (small, "fits", "The larger the tile"),
    (wide, "fits", "a larger `tk`, if need be with a smaller `tn`"),
    (four_bytes, "elements", "bytes"),
    (no_sets, "sets", "belong to one set"),
    (not_passing, "sets", "need places in it, too"),
    (a_float, "tiles", "Sides are whole numbers"),
    (nothing_left, "tiles", "A side is at least 1"),
    (too_much, "tiles", "at most the matrix"),
    (one_number, "tiles", "Return a pair"),
)


@pytest.mark.parametrize(("mistake", "part", "hint"), MISTAKES, ids=lambda x: getattr(x, "__name__", None))
def test_a_usual_mistake_is_named(mistake: Answer, part: str, hint: str) -> None:
    feedback = check("choose_tile", mistake, part)
    assert feedback.failure is not None
    assert hint in feedback.failure.hint, str(feedback)
    assert (feedback.picture is None) == (part == "tiles")


def test_what_missed_is_said() -> None:
    failure = check("choose_tile", all_of_it, "fits").failure
    assert failure is not None
    assert failure.case == (
        "tile(64, 64, 64, 4, cache): A of 64 × 64, B of 64 × 64, C of 64 × 64 numbers, of 4 bytes each; a "
        "cache of 4,096 bytes, one set of 64 lines of 64 bytes"
    )
    assert failure.expected == "at most 2,662 misses (16,896 without tiles)"
    assert failure.got == (
        "the tile tn = 32, tk = 32: 17,408 misses, 512 of them in A, 16,384 in B, 512 in C"
    )


# -- the picture


def test_the_picture_tells_the_same_in_words() -> None:
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


def test_the_picture_shows_what_is_in_the_cache() -> None:
    """As many lines as there are places, at most; and where all fits, all that was touched."""
    small, large = (
        TileMap(Product(16, 32, 16), cache, (32, 16)) for cache in (Cache(512, 64, 8), Cache(1 << 16))
    )
    count = [drawn._repr_html_().count('fill-opacity=".55"') for drawn in (small, large)]
    assert count == [8, 16 + 32 + 32]
