"""The three Futamura projections, as a partial evaluator with its two inputs and its result."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 386
STEP, TALL, WIDE = 128, 34, 122
ROWS = (
    ("1", "interpreter", "program", ("compiled", "program")),
    ("2", "evaluator", "interpreter", ("compiler", "")),
    ("3", "evaluator", "evaluator", ("generator", "of compilers")),
)


def draw(c: Canvas) -> None:
    for row, (number, code, static, (first, second)) in enumerate(ROWS):
        y = 22 + STEP * row
        c.text(8, y + 40, number, size=18, bold=True)
        c.text(30, y - 6, "a program", size=13, color="soft")
        _box(c, 30, y, WIDE, TALL, code, "edge", "paper")
        c.text(30, y + 58, "its static input", size=13, color="soft")
        _box(c, 30, y + 64, WIDE, TALL, static, "known", "known-bg")
        c.box(200, y + 22, 108, 54, fill="hue-purple-fill", edge="hue-purple", radius=10)
        c.lines(254, y + 45, ["partial", "evaluator"], size=14.5, anchor="middle", bold=True)
        c.line((30 + WIDE, y + 17), (198, y + 42), edge="edge", arrow=True)
        c.line((30 + WIDE, y + 81), (198, y + 58), edge="known", arrow=True)
        c.line((308, y + 49), (342, y + 49), edge="ink", width=2, arrow=True)
        c.box(345, y + 22, 127, 54, fill="hue-teal-fill", edge="hue-teal", width=2.2, radius=10)
        if second:
            c.lines(408, y + 45, [first, second], size=14.5, anchor="middle")
        else:
            c.text(408, y + 54, first, size=14.5, anchor="middle")


def _box(c: Canvas, x: float, y: float, wide: float, tall: float, text: str, edge: str, fill: str) -> None:
    c.box(x, y, wide, tall, fill=fill, edge=edge, radius=8)
    c.text(x + wide / 2, y + tall / 2 + 5, text, size=14.5, anchor="middle")


FIGURE = Figure(
    "futamura", WIDTH, HEIGHT, "The three Futamura projections",
    """Three rows, in each of which a partial evaluator receives a program and that program's static input.
    First: it receives an interpreter and a program and gives the compiled program. Second: it receives the
    evaluator itself and an interpreter and gives a compiler. Third: it receives the evaluator and the
    evaluator and gives a generator of compilers.""",
    draw,
)  # fmt: skip
