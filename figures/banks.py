"""The banks of a tile in shared memory: rows of 32 words, and of 33."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 306
BANKS, ROWS, COLUMNS = 32, 16, 8  # the tile of the chapter's transpose
CELL, TALL, TOP = 6.8, 12.5, 70
LEFT, SECOND = 12, 252


def banks(length: int) -> list[int]:
    """Return the banks of the first column's elements, for rows of that many words."""
    return [length * row % BANKS for row in range(ROWS)]


def _panel(c: Canvas, x: float, length: int) -> None:
    column = banks(length)
    most = max(column.count(bank) for bank in column)
    c.text(x, 20, f"rows of {length} words", size=14, bold=True)
    says = "no conflict" if most == 1 else f"{most}-way conflict"
    c.text(x, 40, f"a column: {says}", size=13, color="soft")
    c.text(x, TOP - 6, "bank 0", size=13, color="soft")
    c.text(x + CELL * BANKS, TOP - 6, "31", size=13, color="soft", anchor="end")
    for row in range(ROWS):
        y = TOP + TALL * row
        for bank in range(BANKS):
            c.box(x + CELL * bank, y, CELL, TALL, edge="line", width=0.6, radius=0)
        for place in range(COLUMNS):
            bank = (length * row + place) % BANKS
            first = place == 0
            c.box(
                x + CELL * bank + 0.5, y + 0.8, CELL - 1, TALL - 1.6,
                fill="hue-blue" if first else "hue-blue-fill", edge="hue-blue",
                width=1 if first else 0.6, radius=0.5,
            )  # fmt: skip
    bottom = TOP + TALL * ROWS
    c.text(
        x, bottom + 22, f"the column uses {len(set(column))} bank{'s' * (len(set(column)) > 1)}", size=13.5
    )


def draw(c: Canvas) -> None:
    _panel(c, LEFT, 32)
    _panel(c, SECOND, 33)


FIGURE = Figure(
    "banks", WIDTH, HEIGHT, "A tile in the banks of shared memory",
    """A tile of 16 rows and 8 columns in shared memory, drawn twice as a chart of rows against 32 banks. With
    rows of 32 words every row begins in bank 0; the 16 elements of the first column all lie in bank 0, which
    is a 16-way conflict. With rows of 33 words row 0 begins in bank 0, row 1 in bank 1, and so on; the first
    column lies in 16 different banks.""",
    draw,
)  # fmt: skip
