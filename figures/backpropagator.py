"""The chain of closures that three operators build while they run, and that runs the backward pass."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 396
STEP, TOP, TALL = 84, 58, 62
LEFT, RIGHT, LEFT_WIDE, RIGHT_WIDE = 10, 214, 132, 200
LINES = ("%a = %x * 1f", "%b = %x * %a", "%c = %x * %b")


def draw(c: Canvas) -> None:
    c.text(LEFT + LEFT_WIDE / 2, 28, "runs forward", size=15, bold=True, anchor="middle")
    c.text(RIGHT + RIGHT_WIDE / 2, 28, "leaves a closure", size=15, bold=True, anchor="middle")
    center = RIGHT + RIGHT_WIDE / 2
    c.box(center - 74, TOP - 10, 148, 32, fill="paper", edge="edge", radius=8)
    c.text(center, TOP + 11, "fn () { () }", size=14, mono=True, anchor="middle")
    for row, line in enumerate(LINES):
        y = TOP + 54 + STEP * row
        result, operand = line[:2], line.rpartition(" ")[2]
        c.box(LEFT, y + 10, LEFT_WIDE, 40, fill="known-bg", edge="known", radius=8)
        c.text(LEFT + LEFT_WIDE / 2, y + 35, line, size=14, mono=True, anchor="middle")
        if row:
            c.line((LEFT + 66, y - STEP + 50), (LEFT + 66, y + 9), edge="known", arrow=True)
        c.line((LEFT + LEFT_WIDE, y + 30), (RIGHT - 3, y + 30), edge="edge", dashed=True, arrow=True)
        c.box(RIGHT, y, RIGHT_WIDE, TALL, fill="run-bg", edge="run", radius=8)
        adds = f"%x and {operand}" if operand.startswith("%") else "%x"
        c.text(RIGHT + 10, y + 18, f"read d{result}", size=13)
        c.text(RIGHT + 10, y + 36, f"add to d of {adds}", size=13)
        c.text(RIGHT + 10, y + 54, "call the previous one", size=13)
        c.line((center, y), (center, y - (31 if not row else STEP - TALL - 1)), edge="run", arrow=True)
    newest = TOP + 54 + STEP * 2 + TALL / 2
    c.box(430, newest - 17, 44, 34, fill="paper", edge="edge", radius=8)
    c.text(452, newest + 5, "back", size=13, mono=True, anchor="middle")
    c.line((430, newest), (RIGHT + RIGHT_WIDE + 2, newest), edge="run", arrow=True)
    c.text(LEFT, HEIGHT - 12, "Calling what `back` holds runs the backward pass, newest first.", size=13.5)


FIGURE = Figure(
    "backpropagator", WIDTH, HEIGHT, "A chain of closures runs the backward pass",
    """On the left three operators run, downward: a = x times 1, b = x times a, c = x times b. Each leaves a
    closure on the right, below the previous one. The closure of c reads the derivative of c, adds to those of
    x and b, and calls the closure of b; that one reads the derivative of b, adds to those of x and a, and
    calls the closure of a, which adds to that of x and calls an empty function. The reference back holds
    the newest closure.""",
    draw,
)  # fmt: skip
