"""The exercise `choose_tile`: a picture of a tile. It shows the misses for different tile sizes, and which
parts of the three matrices are in the cache after a tile of B has been used.
"""

from __future__ import annotations

from functools import cache as remembered
from html import escape
from math import log

from ...analysis.cache import Cache, Misses, Product, Simulation, Tile
from ...ir.lazy_dataclass import dataclass

CELL_W, CELL_H, LEFT, TOP = 46, 24, 56, 46  # pixels of the table
MAX_SIDES = 6  # powers of two that are tried
DRAWN = 300  # pixels for two matrices side by side
SHADES = ("#2f6fb3", "#c2571a")  # in the cache; the tile


@remembered
def misses(product: Product, tile: Tile, cache: Cache) -> Misses:
    """Return `product.misses`, cached: a picture and a check ask for the same numbers."""
    return product.misses(tile, cache)


def sides(size: int, own: int) -> list[int]:
    """Return tile sizes to show: powers of two, the whole extent, and the tile's own."""
    result = {1 << e for e in range(size.bit_length()) if 1 << e < size}
    return sorted({*sorted(result)[-MAX_SIDES:], size, own})


@dataclass(frozen=True)
class TileMap:
    """A picture of a tile (tn, tk): the misses of tiles of other sizes, and the three matrices with the
    lines that are in the cache after the tile in the middle of B. As the last expression of a cell it
    displays itself.
    """

    product: Product
    cache: Cache
    tile: Tile

    def __post_init__(self) -> None:
        tn, tk = self.tile
        object.__setattr__(self, "tile", (min(tn, self.product.n), min(tk, self.product.k)))

    def table(self) -> tuple[list[int], list[int], list[list[int | None]]]:
        """Tabulate the misses: the heights tk, the widths tn, and the misses for each pair; None if B's
        part alone is far larger than the cache. The tile's own size is among them.
        """
        p, (tn, tk) = self.product, self.tile
        rows, columns = sides(p.k, tk), sides(p.n, tn)
        return rows, columns, [[self._misses(c, r) for c in columns] for r in rows]

    def _misses(self, tn: int, tk: int) -> int | None:
        if (tn, tk) != self.tile and tn * tk * self.product.element > 2 * self.cache.size:
            return None
        return misses(self.product, (tn, tk), self.cache).total

    def __repr__(self) -> str:
        rows, columns, table = self.table()
        lines = [f"misses for each tk (down) and tn (across); a cache of {self.cache}"]
        lines.append("".join(f"{text:>8}" for text in ["tk \\ tn", *map(str, columns)]))
        for row, result in zip(rows, table):
            lines.append(
                "".join(f"{text:>8}" for text in [str(row), *["" if n is None else str(n) for n in result]])
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows, columns, table = self.table()
        best, tk_best, tn_best = min(
            (n, r, c) for r, result in zip(rows, table) for c, n in zip(columns, result) if n is not None
        )
        tn, tk = self.tile
        description = (
            "Misses by tile size, tk down and tn across. A stronger color means more misses; "
            f"an empty cell is a tile far larger than the cache. Dashed: this tile, tn = {tn} "
            f"and tk = {tk}, with {misses(self.product, self.tile, self.cache).total:,}. "
            f"Bold: the fewest here, tn = {tn_best} and tk = {tk_best}, with {best:,}. "
        )
        return (
            '<figure class="rx-tile" style="margin:.8em 0;max-width:60em;font:14px/1.5 system-ui,sans-serif">'
            '<div style="display:flex;flex-wrap:wrap;gap:1em 2.5em;align-items:flex-start">'
            f"{self._heat(rows, columns, table)}{self._matrices()}</div>"
            f"<figcaption>{escape(description + self._describe())}</figcaption></figure>"
        )

    # -- the table

    def _heat(self, rows: list[int], columns: list[int], table: list[list[int | None]]) -> str:
        counts = [n for result in table for n in result if n is not None]
        least, most = min(counts), max(counts)
        parts = [
            _text(LEFT + CELL_W * len(columns) / 2, 14, "tn", "middle"),
            _text(8, TOP + CELL_H * len(rows) / 2 + 4, "tk", "start"),
        ]
        for x, column in enumerate(columns):
            parts.append(_text(LEFT + CELL_W * (x + 0.5), TOP - 8, str(column), "middle"))
        for y, (row, line) in enumerate(zip(rows, table)):
            parts.append(_text(LEFT - 8, TOP + CELL_H * (y + 0.5) + 4, str(row), "end"))
            for x, (column, result) in enumerate(zip(columns, line)):
                if result is not None:
                    full = 0.04 + 0.6 * log(result / least) / max(1.0, log(most / least))
                    mine = (column, row) == self.tile
                    place = LEFT + CELL_W * x, TOP + CELL_H * y
                    parts.append(_cell(*place, full, short(result), mine, result == least))
        width, height = LEFT + CELL_W * len(columns) + 4, TOP + CELL_H * len(rows) + 4
        return _svg(width, height, "Misses by tile size", parts)

    # -- the matrices

    def _middle(self) -> tuple[int, int]:
        """Return where the tile in the middle of B begins: its column and its row."""
        p, (tn, tk) = self.product, self.tile
        return p.n // 2 // tn * tn, p.k // 2 // tk * tk

    def _matrices(self) -> str:
        p = self.product
        played = Simulation(p, self.cache)
        played.run(self.tile, self._middle())
        inside = {line for lines in played.sets for line in lines}
        scale = DRAWN / max(p.m + p.k, p.n + p.k)
        gap, label = 22, 18
        left = top = p.k * scale + gap + label
        (j0, k0), (tn, tk) = self._middle(), self.tile
        parts = []
        for name, x, y, rows, columns, part in (
            ("A", label, top, p.m, p.k, (0, k0, p.m, tk)),
            ("B", left, label, p.k, p.n, (k0, j0, tk, tn)),
            ("C", left, top, p.m, p.n, (0, j0, p.m, tn)),
        ):
            start = p.starts(self.cache.line)["ABC".index(name)]
            parts.append(_text(x, y - 4, name, "start"))
            parts += self._matrix(x, y, rows, columns, start, inside, scale)
            parts.append(_outline(x, y, rows, columns, part, scale))
        size = left + p.n * scale + 4, top + p.m * scale + 4
        return _svg(*size, "The lines of A, B and C that are in the cache", parts)

    def _matrix(
        self, x: float, y: float, rows: int, columns: int, start: int, inside: set[int], scale: float
    ) -> list[str]:
        """Draw a matrix: the frame, and a bar for every run of elements of a row whose cache lines are in the
        cache.
        """
        p, line = self.product, self.cache.line
        frame = f'<rect x="{x:.1f}" y="{y:.1f}" width="{columns * scale:.1f}" height="{rows * scale:.1f}" '
        parts = [frame + 'fill="none" stroke="currentColor" stroke-opacity=".5"/>']
        for row in range(rows):
            first = start + row * columns * p.element
            last = first + columns * p.element
            for at in range(first // line, (last - 1) // line + 1):
                if at in inside:
                    begin, end = max(first, at * line) - first, min(last, (at + 1) * line) - first
                    left, width = begin / p.element * scale, (end - begin) / p.element * scale
                    parts.append(
                        f'<rect x="{x + left:.1f}" y="{y + row * scale:.1f}" width="{width:.1f}" '
                        f'height="{scale:.2f}" fill="{SHADES[0]}" fill-opacity=".55"/>'
                    )
        return parts

    def _describe(self) -> str:
        """Describe the second drawing."""
        j0, k0 = self._middle()
        return (
            f"The second drawing shows the matrices after the tile at j0 = {j0}, k0 = {k0} "
            "(dashed: the data that it used). Filled lines are in the cache."
        )


def short(number: int) -> str:
    """Write a number of misses in at most five characters."""
    return str(number) if number < 10_000 else f"{number / 1000:.0f}k"


def _svg(width: float, height: float, title: str, parts: list[str]) -> str:
    style = "max-width:100%;height:auto"
    return (
        f'<svg role="img" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" style="{style}" '
        f'font-size="12" fill="currentColor"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _cell(x: float, y: float, full: float, text: str, mine: bool, fewest: bool) -> str:
    weight = ' font-weight="700"' if fewest else ""
    border = f'stroke="{SHADES[1]}" stroke-width="2.5" stroke-dasharray="5 3"' if mine else 'stroke="none"'
    middle = x + CELL_W / 2, y + CELL_H / 2 + 4
    return (
        f'<rect x="{x + 1.5:.1f}" y="{y + 1.5:.1f}" width="{CELL_W - 3}" height="{CELL_H - 3}" '
        f'fill="{SHADES[0]}" fill-opacity="{full:.2f}" {border}/>'
        f'<text x="{middle[0]:.1f}" y="{middle[1]:.1f}" text-anchor="middle"{weight}>{text}</text>'
    )


def _outline(
    x: float, y: float, rows: int, columns: int, tile: tuple[int, int, int, int], scale: float
) -> str:
    """Draw the tile's part of a matrix, clipped where the matrix ends."""
    row, column, height, width = tile
    height, width = min(height, rows - row), min(width, columns - column)
    return (
        f'<rect x="{x + column * scale:.1f}" y="{y + row * scale:.1f}" width="{width * scale:.1f}" '
        f'height="{height * scale:.1f}" fill="none" stroke="{SHADES[1]}" stroke-width="2" '
        'stroke-dasharray="5 3"/>'
    )
