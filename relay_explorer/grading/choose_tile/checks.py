"""The checks of the exercise `choose_tile`: cache misses are counted, so the same tile gets the same points
everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from ...analysis.cache import Cache, Misses, Product, Tile
from ...ir.lazy_dataclass import dataclass
from ..answer_values import integer, repr_of
from ..budget import limited
from ..check import CASE_SECONDS, Exercise, Property, crashed
from ..feedback import Failure
from . import TileMap, misses
from .hints import hint

LIMIT = 1.6  # multiple of the fewest known misses


def whole(size: int, line: int = 64) -> Cache:
    """Build a fully associative cache, in which a line may occupy any way."""
    return Cache(size, line, size // line)


@dataclass(frozen=True)
class Case:
    """A product and a cache, and the best of the tiles that were tried."""

    product: Product
    cache: Cache
    best: Tile

    @property
    def most(self) -> int:
        """Return the number of misses that are allowed."""
        return int(LIMIT * misses(self.product, self.best, self.cache).total)


# Learners see the first two of each; grading uses the others, too. The best tile is the best one with sides
# of 1 to 7, powers of two, three times these, the whole extent, or what the solution chooses.
CASES = {
    "fits": (
        Case(Product(64, 64, 64), whole(4096), (32, 24)),
        Case(Product(40, 56, 88), whole(2048), (56, 6)),
        Case(Product(32, 32, 100, 2), whole(4096), (32, 50)),
        Case(Product(24, 64, 64), whole(2048, 32), (16, 24)),
    ),
    "shapes": (
        Case(Product(24, 30, 250), whole(4096), (30, 24)),
        Case(Product(24, 250, 30), whole(4096), (16, 30)),
        Case(Product(24, 8, 300), whole(2048), (8, 48)),
        Case(Product(24, 200, 64, 8), whole(4096, 128), (16, 16)),
    ),
    "elements": (
        Case(Product(48, 72, 72, 8), whole(8192), (24, 36)),
        Case(Product(48, 72, 72, 2), whole(2048), (72, 8)),
        Case(Product(32, 32, 40, 8), whole(4096, 32), (16, 20)),
        Case(Product(32, 72, 24, 8), whole(8192, 32), (36, 24)),
    ),
    "lines": (
        Case(Product(48, 72, 72), whole(8192, 256), (72, 16)),
        Case(Product(40, 100, 100), whole(4096, 128), (100, 6)),
        Case(Product(32, 200, 64), whole(2048, 32), (24, 16)),
    ),
    "sets": (
        Case(Product(64, 64, 64), Cache(4096, 64, 8), (64, 11)),
        Case(Product(32, 256, 64), Cache(8192, 64, 2), (256, 4)),
        Case(Product(40, 128, 80), Cache(8192, 64, 4), (128, 12)),
        Case(Product(16, 256, 72, 8), Cache(2048, 32, 8), (32, 5)),
        Case(Product(32, 256, 64, 2), Cache(4096, 32, 4), (256, 6)),
    ),
}
SEEN = 2
ODD = (
    Case(Product(1, 1, 1), whole(2048), (1, 1)),
    Case(Product(5, 3, 200), whole(2048), (3, 100)),
    Case(Product(7, 1000, 1), Cache(4096, 64, 4), (1000, 1)),
    Case(Product(2, 9, 9, 8), Cache(256, 64, 2), (8, 1)),
)


def _describe(case: Case) -> str:
    p = case.product
    return (
        f"tile({p.m}, {p.n}, {p.k}, {p.element}, cache): {p}, of {p.element} bytes each; a cache of "
        f"{case.cache}"
    )


def _answered(answer: Any, case: Case) -> tuple[Tile | None, Failure | None]:
    """Call the answer; return its tile, or the failure of an answer that does not return one."""
    p = case.product
    expected = f"two integers, tn from 1 to {p.n} and tk from 1 to {p.k}"
    outcome = limited(CASE_SECONDS, answer, p.m, p.n, p.k, p.element, case.cache)
    if outcome.error is not None:
        return None, crashed(_describe(case), outcome, expected)
    inputs = outcome.value
    failure = Failure(_describe(case), expected, repr_of(inputs), "", printed=outcome.printed)
    if not isinstance(inputs, Sequence) or isinstance(inputs, str) or len(inputs) != 2:
        return None, _with(failure, "Return a pair: `return tn, tk`.")
    tn, tk = map(integer, inputs)
    if tn is None or tk is None:
        return None, _with(
            failure,
            "The extents are integers: `//` divides without a remainder, and `int` drops the fraction.",
        )
    if 1 <= tk <= p.n and 1 <= tn <= p.k and not (tn <= p.n and tk <= p.k):
        return None, _with(
            failure, "`tn`, the number of columns, comes first, followed by `tk`, the number of rows."
        )
    if not (1 <= tn <= p.n and 1 <= tk <= p.k):
        return None, _with(
            failure,
            "An extent is at least 1, however small the cache, and at most that of the "
            "matrix: use `min` and `max`.",
        )
    return (tn, tk), None


def _with(failure: Failure, hint: str) -> Failure:
    return Failure(failure.case, failure.expected, failure.got, hint, printed=failure.printed)


def _judge(answer: Any, case: Case) -> Failure | None:
    tile, failure = _answered(answer, case)
    if tile is None:
        return failure
    result, p = misses(case.product, tile, case.cache), case.product
    if result.total <= case.most:
        return None
    plain = misses(p, (p.n, p.k), case.cache).total
    expected = f"at most {case.most:,} misses ({plain:,} without tiles)"
    got = f"the tile tn = {tile[0]}, tk = {tile[1]}: {_counted(result)}"
    return Failure(
        _describe(case),
        expected,
        got,
        hint(p, tile, case.cache),
        picture=lambda: TileMap(p, case.cache, tile),
    )


def _counted(result: Misses) -> str:
    return f"{result.total:,} misses: {result.a:,} in A, {result.b:,} in B, {result.c:,} in C"


def _few(name: str, says: str) -> Property:
    def test(answer: Any, rng: random.Random, count: int) -> Failure | None:
        cases = CASES[name] if count > 100 else CASES[name][:SEEN]
        return next((failure for case in cases if (failure := _judge(answer, case))), None)

    return Property(name, says, test)


def _tiles(answer: Any, rng: random.Random, count: int) -> Failure | None:
    """Test that any product and any cache get a valid tile."""
    cases = list(ODD)
    for _ in range(count):
        line, ways = rng.choice((32, 64, 128)), rng.choice((2, 4, 8))
        m, n, k = (rng.choice((1, 2, 7, 16, 30, 90)) for _ in "mnk")
        product = Product(m, n, k, rng.choice((2, 4, 8)))
        cases.append(Case(product, Cache(line * ways * rng.choice((1, 2, 8)), line, ways), (1, 1)))
    return next((failure for case in cases if (failure := _answered(answer, case)[1])), None)


EXERCISE = {
    "": Exercise(
        "A tile for a cache",
        "tile(m, n, k, element, cache)",
        (
            Property("tiles", "every product and cache gets a valid tile", _tiles),
            _few("fits", "reused data is still in the cache"),
            _few("shapes", "also if B is tall or wide"),
            _few("elements", "also for elements of 2 or 8 bytes"),
            _few("lines", "also if a cache line holds many elements"),
            _few("sets", "also if lines compete for the ways of a set"),
        ),
    ),
}
