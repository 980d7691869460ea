"""A sum of 64 products in two orders: one after another, and as partial sums in eight lanes."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 344
LANES, ROWS = 8, 8
LEFT, GRID, TOP = 14, 158, 66
CELL, ROW = 38.0, 24.0


def _chain(c: Canvas) -> None:
    c.text(LEFT, 22, "in order", size=14.5, bold=True)
    c.text(LEFT, 42, "each waits", size=13, color="soft")
    for place, text in enumerate(("0", "1", "2", "…", "62", "63")):
        y = TOP + 38 * place
        c.box(LEFT, y, 36, 24, fill="hue-blue-fill", edge="hue-blue", width=1.2, radius=4)
        c.text(LEFT + 18, y + 17, text, size=13, anchor="middle")
        c.line((LEFT + 38, y + 12), (LEFT + 56, y + 12), edge="soft", arrow=True)
        c.circle(LEFT + 68, y + 12, 11, edge="hue-orange", fill="hue-orange-fill")
        c.text(LEFT + 68, y + 17, "+", size=15, anchor="middle")
        c.line((LEFT + 68, y + 24), (LEFT + 68, y + 37), edge="hue-orange", arrow=True)
    c.text(LEFT + 68, TOP + 242, "sum", size=13.5, anchor="middle", bold=True)


def draw(c: Canvas) -> None:
    _chain(c)
    c.line((GRID - 16, 10), (GRID - 16, HEIGHT - 10), edge="edge", dashed=True)
    c.text(GRID, 22, "in eight lanes", size=14.5, bold=True)
    c.text(GRID, 42, "8 vector additions, then 7 to combine", size=13, color="soft")
    for row in range(ROWS):
        for lane in range(LANES):
            x, y = GRID + CELL * lane, TOP + ROW * row
            c.box(x, y, CELL - 4, ROW - 4, fill="hue-blue-fill", edge="hue-blue", width=1, radius=3)
            c.text(x + CELL / 2 - 2, y + 15, str(LANES * row + lane), size=13, anchor="middle")
    base = TOP + ROW * ROWS
    for lane in range(LANES):
        middle = GRID + CELL * lane + CELL / 2 - 2
        c.line((middle, base - 2), (middle, base + 14), edge="hue-orange", arrow=True)
        c.box(middle - 17, base + 16, CELL - 4, 22, fill="hue-orange-fill", edge="hue-orange", radius=4)
        c.text(middle, base + 32, "+", size=15, anchor="middle")
        c.line((middle, base + 39), (GRID + CELL * LANES / 2, base + 62), edge="soft")
    c.text(GRID + CELL * LANES / 2, base + 78, "sum", size=13.5, anchor="middle", bold=True)


FIGURE = Figure(
    "partial_sums", WIDTH, HEIGHT, "A sum in order, and as partial sums",
    """Left, the products 0, 1, 2 and so on to 63 are added to one accumulator; each addition waits for the
    one before. Right, the same 64 products stand in eight rows of eight; each column is a lane. Lane 0 adds
    products 0, 8, 16, 24, 32, 40, 48 and 56, the next lane products 1, 9 and so on to 57. The eight partial
    sums are added at the end.""",
    draw,
)  # fmt: skip
