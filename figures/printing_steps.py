"""How the printer names a shared call: the lines and the table of names after each of its steps."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 372
ROW, TOP = 108, 34
STEPS = (
    ("1  First operand, `p`", "has no name yet:", "write a line for it", ("%0 = exp(%a);",)),
    ("2  Second operand, `p`", "is in the table:", "its name is `%0`", ("%0 = exp(%a);",)),
    ("3  The call itself", "is the result of the block,", "so it needs no name",
     ("%0 = exp(%a);", "add(%0, %0)")),
)  # fmt: skip


def draw(c: Canvas) -> None:
    c.text(222, 20, "lines", size=13, bold=True, color="soft")
    c.text(378, 20, "names", size=13, bold=True, color="soft")
    for number, (title, what, then, lines) in enumerate(STEPS):
        y = TOP + number * (ROW + 4)
        c.box(8, y, 464, ROW - 6, edge="edge", radius=10)
        c.text(20, y + 28, title, size=14, bold=True)
        c.lines(20, y + 54, (what, then), size=13.5, color="soft")
        c.box(212, y + 12, 148, 78, fill="hue-blue-fill", edge="hue-blue")
        for i, line in enumerate(lines):
            c.text(224, y + 40 + 24 * i, line, size=13.5, mono=True)
        c.box(370, y + 12, 92, 78, fill="hue-orange-fill", edge="hue-orange")
        c.text(416, y + 40, "p → %0", size=13.5, anchor="middle", mono=True)


FIGURE = Figure(
    "printing_steps", WIDTH, HEIGHT, "Printing a shared call",
    """Three steps of the printer on add(p, p), each with the lines written so far and the table of names.
    Step 1: the first operand, p, has no name yet, so the printer writes the line %0 = exp(%a) and enters p
    as %0. Step 2: the second operand, p, is in the table, and no line is written. Step 3: the call itself
    is the result of the block and needs no name: add(%0, %0).""",
    draw,
)  # fmt: skip
