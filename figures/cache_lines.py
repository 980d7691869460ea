"""The cache lines that sixteen iterations of an inner loop need: down a column and along a row."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 300
ROWS, LINE = 16, 16  # rows that are drawn; elements of a cache line
CELL, TALL, TOP = 6.6, 12.5, 52
LEFT, SECOND = 8, 252


def _panel(c: Canvas, x: float, title: str, says: str, *, down: bool) -> None:
    c.text(x, 20, title, size=14, bold=True)
    c.text(x, 40, says, size=13, color="soft")
    for row in range(ROWS):
        for part in range(2):
            left, y = x + part * (CELL * LINE + 7), TOP + TALL * row
            needed = part == 0 if down else (part, row) == (0, 0)
            c.box(
                left, y, CELL * LINE, TALL - 2.5,
                edge="hue-orange" if needed else "line", fill="hue-orange-fill" if needed else "none",
                width=1.6 if needed else 1, radius=2,
            )  # fmt: skip
    used = [(row, 5) for row in range(ROWS)] if down else [(0, column) for column in range(LINE)]
    for row, column in used:
        c.box(
            x + CELL * column + 0.6, TOP + TALL * row + 0.8, CELL - 1.4, TALL - 4,
            fill="hue-blue", edge="hue-blue", width=0.6, radius=1,
        )  # fmt: skip
    bottom = TOP + TALL * ROWS
    if down:
        c.line((x + CELL * 5.5, bottom + 1), (x + CELL * 5.5, bottom + 18), edge="hue-blue", arrow=True)
        c.text(x + CELL * 5.5 + 10, bottom + 16, "k", size=14, mono=True, color="hue-blue")
    else:
        c.line((x + 8, TOP + 22), (x + CELL * LINE, TOP + 22), edge="hue-blue", arrow=True)
        c.text(x + CELL * LINE + 8, TOP + 27, "j", size=14, mono=True, color="hue-blue")
    text = "16 cache lines" if down else "1 cache line"
    c.text(x, bottom + 38, text, size=13.5, bold=True, color="hue-orange")


def draw(c: Canvas) -> None:
    _panel(c, LEFT, "i, j, k: down a column", "of `b`, 16 iterations", down=True)
    c.line((240, 10), (240, HEIGHT - 10), edge="edge", dashed=True)
    _panel(c, SECOND, "i, k, j: along a row", "of `b`, 16 iterations", down=False)


FIGURE = Figure(
    "cache_lines", WIDTH, HEIGHT, "Cache lines that two loop orders need",
    """A corner of matrix b, 16 rows of 32 elements, drawn twice; each row consists of two cache lines of 16
    elements. Left, the loop over k goes down a column: its 16 iterations use one element each of 16 cache
    lines. Right, the loop over j goes along a row: its 16 iterations use all 16 elements of one cache
    line.""",
    draw,
)  # fmt: skip
