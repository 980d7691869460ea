"""Why a tile misses the cache often: the usual mistakes of `choose_tile`."""

from __future__ import annotations

from ...analysis.cache import Cache, Product, Tile
from ...ir.show import counted


def times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def lines_of(numbers: int, element: int, line: int) -> int:
    """Return the most cache lines that so many adjacent elements can touch."""
    return (numbers * element + line - element - 1) // line + 1


def lines_by_set(product: Product, tile: Tile, cache: Cache) -> list[int]:
    """How many lines of a tile of B belong to each set."""
    tn, tk = tile
    counts = [0] * cache.sets
    for row in range(tk):
        first = row * product.n * product.element
        for line in range(first // cache.line, (first + tn * product.element - 1) // cache.line + 1):
            counts[line % cache.sets] += 1
    return counts


def hint(product: Product, tile: Tile, cache: Cache) -> str:
    """Explain the misses by the gravest mistake."""
    tn, tk = tile
    size = tn * tk * product.element
    if size > cache.size:
        if tn * tk <= cache.size:
            return (
                f"The tile of B has {tn * tk:,} numbers of {product.element} bytes each: {size:,} bytes, and "
                f"the cache has {cache.size:,}. Do you count numbers where the cache counts bytes?"
            )
        if (tn, tk) == (product.n, product.k):
            return (
                f"This tile is all of B, {size:,} bytes, and the cache has {cache.size:,}. Take a part of it."
            )
        return f"The tile of B alone has {size:,} bytes, and the cache has {cache.size:,}."
    rows = lines_of(tn, product.element, cache.line) + lines_of(tk, product.element, cache.line)
    counts = lines_by_set(product, tile, cache)
    held, most, places = sum(counts), max(counts), cache.size // cache.line
    if most > cache.ways:
        return (
            f"{most} lines of the tile of B belong to one set, which has {cache.ways} places: they push each "
            "other out, though there is room elsewhere. Count the lines of each set."
        )
    if held + rows > places:
        return (
            f"The tile of B lies in {held} of the cache's {places} lines. A row of A and one of C need "
            "room beside it, and so do the next ones: what has not been used for longest goes, and that is "
            "B."
        )
    if most + -(-2 * rows // cache.sets) > cache.ways:
        return (
            f"One set holds {most} lines of the tile of B, of {cache.ways} places. The rows of A and C that "
            "pass need places in it, too."
        )
    if tn < product.n and tn * product.element % cache.line:
        return (
            f"{counted(tn, 'number')} of a row: {tn * product.element} bytes, and a line has {cache.line}: "
            "the rest of the last line is fetched with them, and not used."
        )
    if 3 * held < places and (tn < product.n or tk < product.k):
        return (
            f"The tile of B lies in {held} lines, and the cache has {places}. The larger the tile, the fewer "
            "times A and C are read."
        )
    beside, below = -(-product.n // tn), -(-product.k // tk)
    larger, smaller = ("tk", "tn") if below > beside else ("tn", "tk")
    return (
        f"A is read {times(beside)}: so many tiles lie beside each other. C is read {times(below)}: so many "
        f"lie below each other. Try a larger `{larger}`, if need be with a smaller `{smaller}`."
    )
