"""Explain why a tile causes many misses: the common mistakes of `choose_tile`."""

from __future__ import annotations

from ...analysis.cache import Cache, Product, Tile
from ...ir.show import counted


def times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def lines_of(numbers: int, element: int, line: int) -> int:
    """Return the largest number of cache lines that consecutive elements can touch."""
    return (numbers * element + line - element - 1) // line + 1


def lines_by_set(product: Product, tile: Tile, cache: Cache) -> list[int]:
    """Count the lines of a tile of B in each set."""
    tn, tk = tile
    counts = [0] * cache.sets
    for row in range(tk):
        first = row * product.n * product.element
        for line in range(first // cache.line, (first + tn * product.element - 1) // cache.line + 1):
            counts[line % cache.sets] += 1
    return counts


def hint(product: Product, tile: Tile, cache: Cache) -> str:
    """Explain the misses by the most serious mistake."""
    tn, tk = tile
    size = tn * tk * product.element
    if size > cache.size:
        if tn * tk <= cache.size:
            return (
                f"The tile of B has {tn * tk:,} elements of {product.element} bytes each, "
                f"{size:,} bytes in all, but the cache has {cache.size:,}. Do you count "
                "elements where the cache counts bytes?"
            )
        if (tn, tk) == (product.n, product.k):
            return (
                f"This tile is all of B, {size:,} bytes, but the cache has {cache.size:,}. "
                "Choose a smaller part of B."
            )
        return f"The tile of B alone has {size:,} bytes, but the cache has {cache.size:,}."
    rows = lines_of(tn, product.element, cache.line) + lines_of(tk, product.element, cache.line)
    counts = lines_by_set(product, tile, cache)
    held, most, places = sum(counts), max(counts), cache.size // cache.line
    if most > cache.ways:
        return (
            f"{most} lines of the tile of B map to the same set, which has {cache.ways} ways. "
            "They evict each other, although other sets have room. Count the lines of each "
            "set."
        )
    if held + rows > places:
        return (
            f"The tile of B occupies {held} of the cache's {places} lines. A row of A, a row "
            "of C, and the rows after them need room as well. The cache evicts the least "
            "recently used lines, and those belong to B."
        )
    if most + -(-2 * rows // cache.sets) > cache.ways:
        return (
            f"One set holds {most} lines of the tile of B in its {cache.ways} ways. The rows "
            "of A and C that stream past need ways in it, too."
        )
    if tn < product.n and tn * product.element % cache.line:
        return (
            f"{counted(tn, 'element')} of a row are {tn * product.element} bytes, but a line "
            f"has {cache.line}: the rest of the line is fetched with them, and never used."
        )
    if 3 * held < places and (tn < product.n or tk < product.k):
        return (
            f"The tile of B occupies {held} lines, and the cache has {places}. The larger the "
            "tile, the less often A and C are read."
        )
    beside, below = -(-product.n // tn), -(-product.k // tk)
    larger, smaller = ("tk", "tn") if below > beside else ("tn", "tk")
    return (
        f"A is read {times(beside)}, since the tiles form {counted(beside, 'column')}, and C "
        f"{times(below)}, since they form {counted(below, 'row')}. "
        f"Try a larger `{larger}`, with a smaller `{smaller}` if necessary."
    )
