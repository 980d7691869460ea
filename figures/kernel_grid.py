"""Kernels by hand against a compiler: a product of operators, data types and chips, or their sum."""

from __future__ import annotations

from itertools import product

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 332
OPERATORS = ("dense", "conv2d", "add", "tanh", "split", "softmax")
TYPES = ("f32", "f16", "i8")
CHIPS = ("x86", "ARM", "GPU")
LEFT, TOP, CELL, ROW = 74, 74, 20, 32
CARDS = 316


def _grid(c: Canvas) -> None:
    for i, chip in enumerate(CHIPS):
        x = LEFT + i * (3 * CELL + 6)
        c.text(x + 1.5 * CELL, TOP - 10, chip, size=13, anchor="middle", color="soft")
    for row, name in enumerate(OPERATORS):
        c.text(LEFT - 8, TOP + ROW * row + 18, name, size=13, anchor="end", mono=True)
        for column, kind in product(range(3), range(3)):
            x = LEFT + column * (3 * CELL + 6) + kind * CELL
            c.box(x + 1, TOP + ROW * row + 4, CELL - 3, ROW - 10, fill="hue-purple-fill", edge="hue-purple",
                  width=1, radius=3)  # fmt: skip


def _cards(c: Canvas) -> None:
    columns = (
        (OPERATORS, "hue-blue", "operators"), (TYPES, "hue-orange", "types"), (CHIPS, "hue-teal", "chips"),
    )  # fmt: skip
    widths, x = (66, 42, 42), float(CARDS)
    for (names, hue, title), width in zip(columns, widths, strict=True):
        c.text(x + width / 2, TOP - 10, title, size=13, anchor="middle", color="soft")
        for row, name in enumerate(names):
            c.box(x, TOP + ROW * row + 2, width, ROW - 6, fill=f"{hue}-fill", edge=hue, width=1, radius=5)
            c.text(x + width / 2, TOP + ROW * row + 19, name, size=13, anchor="middle")
        x += width + 5


def draw(c: Canvas) -> None:
    c.text(LEFT + 96, 24, "By hand", size=17, bold=True, anchor="middle")
    c.text(CARDS + 80, 24, "With a compiler", size=17, bold=True, anchor="middle")
    c.line((293, 14), (293, HEIGHT - 14), edge="edge", dashed=True)
    _grid(c)
    _cards(c)
    bottom = TOP + ROW * len(OPERATORS) + 28
    c.text(LEFT + 96, bottom, "6 × 3 × 3 = 54 kernels", size=15, bold=True, anchor="middle")
    c.text(CARDS + 80, bottom, "6 + 3 + 3 = 12", size=15, bold=True, anchor="middle")
    c.text(LEFT + 96, bottom + 20, "each cell: f32, f16 or i8", size=13, anchor="middle", color="soft")
    c.text(CARDS + 80, bottom + 20, "descriptions", size=13, anchor="middle", color="soft")


FIGURE = Figure(
    "kernel_grid", WIDTH, HEIGHT, "A product or a sum",
    """Left, by hand: a grid with a row for each of six operators and a column for each of three data types
    on each of three chips; every cell is a kernel to write, 6 times 3 times 3, 54 in all. Right, with a
    compiler: six operators, three data types and three chips are described once each, 6 plus 3 plus 3,
    12 descriptions.""",
    draw,
)  # fmt: skip
