"""Loads and multiply-adds of one iteration, for three tiles with a similar number of accumulators."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 286
TILES = ((4, 4), (2, 8), (1, 16))
CELL = 15.0
LEFT = (12, 140, 300)


def _tile(c: Canvas, x: float, channels: int, columns: int) -> None:
    step = CELL if columns < 16 else 9.2
    left, top = x + 26, 62
    for column in range(columns):
        c.box(left + step * column, top - 20, step - 3, 13, fill="hue-orange-fill", edge="hue-orange",
              width=1.2, radius=2)  # fmt: skip
    for row in range(channels):
        y = top + 18 * row
        c.box(x, y, 19, 14, fill="hue-blue-fill", edge="hue-blue", width=1.2, radius=2)
        for column in range(columns):
            c.box(left + step * column, y, step - 3, 14, fill="hue-purple-fill", edge="hue-purple", width=1.2,
                  radius=2)  # fmt: skip
    loads, adds = channels + columns, channels * columns
    c.text(x, 20, f"{channels} × {columns}", size=15, bold=True)
    c.lines(x, 158, (f"{channels} + {columns} = {loads} loads", f"{adds} multiply-adds",
                     f"{adds / loads:.2g} per load"), size=13.5)  # fmt: skip


def draw(c: Canvas) -> None:
    for x, (channels, columns) in zip(LEFT, TILES):
        _tile(c, x, channels, columns)
    rows = (("blue", "a vector of weights (16 channels)"), ("orange", "an input element (a position)"),
            ("purple", "a vector of accumulators, one multiply-add"))  # fmt: skip
    for number, (hue, words) in enumerate(rows):
        y = 218 + 23 * number
        c.box(12, y, 19, 14, fill=f"hue-{hue}-fill", edge=f"hue-{hue}", width=1.2, radius=2)
        c.text(40, y + 12, words, size=13.5)


FIGURE = Figure(
    "tile_loads", WIDTH, HEIGHT, "Loads and multiply-adds of three tiles",
    """Three tiles with sixteen vectors of accumulators each. A tile of 4 vectors of channels by 4 positions
    loads 4 vectors of weights and 4 input elements for 16 multiply-adds, 2 per load. A tile of 2 by 8 loads
    10 for 16, 1.6 per load. A tile of 1 by 16 loads 17 for 16, 0.94 per load.""",
    draw,
)  # fmt: skip
