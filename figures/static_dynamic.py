"""A recursive power, call by call: what a partial evaluator computes, and which line each call leaves."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 330
EXPONENT = 3
TOP, STEP, TALL = 88, 52, 38
LEFT, MIDDLE, RIGHT = 8, 110, 262


def calls() -> list[tuple[int, bool, str]]:
    """Return, for each call, `%n`, the condition, and the line that the call leaves."""
    rows = []
    for n in range(EXPONENT, -1, -1):
        line = EXPONENT - n
        operand = "1f" if n == 1 else f"%{n - 2}"
        rows.append((n, n == 0, f"%{EXPONENT - 1 - line} = %x * {operand}" if n else "1f, a constant"))
    return rows


def draw(c: Canvas) -> None:
    wide = RIGHT - LEFT - 24
    c.box(LEFT - 2, 8, wide + 12, HEIGHT - 16, fill="known-bg", edge="known", radius=10)
    c.box(RIGHT - 6, 8, WIDTH - RIGHT, HEIGHT - 16, fill="run-bg", edge="run", dashed=True, radius=10)
    c.text(LEFT + 12, 34, "static", size=15, bold=True, color="known")
    c.text(LEFT + 12, 54, "computed at compile time", size=13)
    c.text(RIGHT + 8, 34, "dynamic", size=15, bold=True, color="run")
    c.text(RIGHT + 8, 54, "left in the residual program", size=13)
    for row, (n, condition, line) in enumerate(calls()):
        y = TOP + STEP * row
        c.box(LEFT + 8, y, 84, TALL, fill="paper", edge="known", radius=7)
        c.text(LEFT + 50, y + 24, f"%n = {n}", size=14, mono=True, anchor="middle")
        c.text(MIDDLE + 4, y + 17, "%n == 0", size=13, mono=True)
        c.text(MIDDLE + 4, y + 35, f"is {condition}", size=13)
        if n:
            c.line((LEFT + 50, y + TALL), (LEFT + 50, y + STEP - 1), edge="known", arrow=True)
            c.line((RIGHT + 96, y + STEP), (RIGHT + 96, y + TALL + 2), edge="run", arrow=True)
        edge = "run" if n else "known"
        c.box(RIGHT + 6, y, 184, TALL, fill="paper", edge=edge, dashed=bool(n), radius=7)
        c.text(RIGHT + 98, y + 24, line, size=14, mono=bool(n), anchor="middle")
    c.text(LEFT + 12, HEIGHT - 22, "calls, downward", size=13, color="known")
    c.text(RIGHT + 8, HEIGHT - 22, "lines, upward", size=13, color="run")


FIGURE = Figure(
    "static_dynamic", WIDTH, HEIGHT, "A recursive power, call by call",
    """Two panels. Static, computed at compile time: four calls, downward, with n = 3, 2, 1 and 0; n == 0 is
    False, False, False and True. Dynamic, left in the residual program: beside n = 0 the constant 1, and
    upward the lines %0 = x times 1 beside n = 1, %1 = x times %0 beside n = 2, and %2 = x times %1 beside
    n = 3.""",
    draw,
)  # fmt: skip
