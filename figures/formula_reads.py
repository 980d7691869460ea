"""What one element of a product of matrices reads: a row of each operand."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 316
ROWS, UNITS = 4, 32  # of the chapter's gate
ROW_OF_X, ROW_OF_W = 1, 5  # the element that is computed
LEFT, RIGHT, TOP = 46, 300, 58
CELL, THIN = 13.0, 4.5  # the heights of a row of x and of T, and of w
BREADTH, COLUMN = 192, 5


def _matrix(c: Canvas, x: float, y: float, w: float, h: float, name: str, shape: str) -> None:
    c.box(x, y, w, h, edge="soft", radius=3)
    c.text(x, y - 9, name, size=15, mono=True, bold=True)
    c.text(x + 18, y - 9, shape, size=13, color="soft")


def draw(c: Canvas) -> None:
    below = TOP + ROWS * CELL + 50
    row_x, row_w = TOP + CELL * ROW_OF_X, below + THIN * ROW_OF_W
    _matrix(c, LEFT, TOP, BREADTH, ROWS * CELL, "x", "4 × 64")
    _matrix(c, LEFT, below, BREADTH, UNITS * THIN, "w", "32 × 64")
    c.box(LEFT, row_x, BREADTH, CELL, fill="hue-blue-fill", edge="hue-blue", radius=2)
    c.box(LEFT, row_w, BREADTH, THIN + 2, fill="hue-orange-fill", edge="hue-orange", radius=1)
    c.text(LEFT - 8, row_x + 12, "i = 1", size=13, anchor="end", color="hue-blue")
    c.text(LEFT - 8, row_w + 8, "j = 5", size=13, anchor="end", color="hue-orange")
    c.line((LEFT + 84, TOP - 14), (LEFT + BREADTH, TOP - 14), edge="ink", arrow=True)
    c.text(LEFT + 136, TOP - 20, "k", size=14, mono=True, anchor="middle")
    top = TOP + 62
    x, y = RIGHT + COLUMN * ROW_OF_W, top + CELL * ROW_OF_X
    _matrix(c, RIGHT, top, UNITS * COLUMN, ROWS * CELL, "T", "4 × 32")
    c.box(x - 1, y, COLUMN + 3, CELL, fill="hue-purple-fill", edge="hue-purple", width=2, radius=1)
    c.line((LEFT + BREADTH + 4, row_x + CELL / 2), (x - 6, y + 2), edge="hue-blue", arrow=True)
    c.line((LEFT + BREADTH + 4, row_w + 3), (x - 6, y + CELL - 2), edge="hue-orange", arrow=True)
    c.text(x + 16, y + 12, "T[1, 5]", size=13.5, mono=True, color="hue-purple")
    c.lines(RIGHT - 34, top + 104, ["64 products, added up:", "`k` is a reduction axis,"], size=13.5)
    c.text(RIGHT - 34, top + 141, "`i` and `j` are spatial.", size=13.5)


FIGURE = Figure(
    "formula_reads", WIDTH, HEIGHT, "What one element of the product reads",
    """Three matrices: x of 4 by 64, w of 32 by 64, T of 4 by 32. The element of T in row i = 1 and column
    j = 5 is computed from row 1 of x and row 5 of w. An arrow marked k runs along these rows: their 64
    products are added up. k is a reduction axis, i and j are spatial axes.""",
    draw,
)  # fmt: skip
