"""A list in memory: one cell per constructor, and a tail that is shared, not copied."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 190
ITEMS = (3, 1, 4)
CELL, GAP, TOP = 106, 20, 78


def draw(c: Canvas) -> None:
    c.text(8, 24, "`Cons(3, Cons(1, Cons(4, Nil)))`", size=15)
    for index, item in enumerate(ITEMS):
        x = 8 + (CELL + GAP) * index
        c.box(x, TOP, CELL, 52, fill="hue-purple-fill", edge="hue-purple")
        c.text(x + CELL / 2, TOP - 8, "Cons", size=13.5, mono=True, anchor="middle", color="hue-purple")
        c.line((x + 58, TOP), (x + 58, TOP + 52), edge="hue-purple")
        c.text(x + 29, TOP + 32, str(item), size=16, mono=True, anchor="middle")
        c.line((x + 82, TOP + 26), (x + CELL + GAP - 2, TOP + 26), edge="ink", width=2, arrow=True)
    x = 8 + (CELL + GAP) * len(ITEMS)
    c.box(x, TOP + 8, 62, 36, fill="hue-purple-fill", edge="hue-purple", radius=18)
    c.text(x + 31, TOP + 31, "Nil", size=14, mono=True, anchor="middle")
    second = 8 + CELL + GAP
    for x, name in ((34, "%l"), (second + 34, "%rest")):
        c.text(x, 176, name, size=14.5, mono=True, color="run", anchor="middle")
        c.line((x, 160), (x, TOP + 56), edge="run", width=2, arrow=True)


FIGURE = Figure(
    "list_cells", WIDTH, HEIGHT, "A list in memory",
    """Three cells in a row, each made by Cons: the first has the element 3 and an arrow to the second, the
    second has 1 and an arrow to the third, the third has 4 and an arrow to Nil. The variable l points to the
    first cell. The variable rest points to the second cell of the same chain; nothing is copied.""",
    draw,
)  # fmt: skip
