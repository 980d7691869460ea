"""One computation as a graph, with `let`, and written out."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 262
PANEL, TOP, STEP = 150, 70, 66


def _node(c: Canvas, x: float, level: int, name: str, hue: str = "known") -> None:
    y = TOP + STEP * level
    half = 38 if len(name) > 4 else 25
    c.box(x - half, y - 17, 2 * half, 34, fill="paper", edge=hue)
    c.text(x, y + 5, name, size=13, mono=True, anchor="middle")


def _arrow(c: Canvas, x: float, level: int, to: float) -> None:
    y = TOP + STEP * level
    c.line((x, y + 17), (to, y + STEP - 19), edge="known", arrow=True)


def _panel(c: Canvas, number: int, name: str, foot: str) -> float:
    x = 8 + (PANEL + 7) * number
    c.box(x, 8, PANEL, 246, fill="panel", edge="edge")
    c.text(x + PANEL / 2, 32, name, size=15, bold=True, anchor="middle")
    c.text(x + PANEL / 2, 242, foot, size=13, colour="soft", anchor="middle")
    return x + PANEL / 2


def draw(c: Canvas) -> None:
    x = _panel(c, 0, "As a graph", "`exp` is run once")
    for level, name in enumerate(("multiply", "exp", "%x")):
        _node(c, x, level, name)
    for side in (-14, 14):
        c.line((x + side, TOP + 17), (x + side, TOP + STEP - 19), edge="known", arrow=True)
    _arrow(c, x, 1, x)

    x = _panel(c, 1, "With `let`", "`exp` is run once")
    left = x - PANEL / 2 + 9
    for line, text in enumerate(("let %a = exp(%x);", "multiply(%a, %a)")):
        c.text(left, TOP + 50 + 24 * line, text, size=12.5, mono=True)

    x = _panel(c, 2, "Written out", "`exp` is run twice")
    _node(c, x, 0, "multiply")
    for side in (-34, 34):
        _arrow(c, x + side / 2, 0, x + side)
        _node(c, x + side, 1, "exp")
        _arrow(c, x + side, 1, x + side)
        _node(c, x + side, 2, "%x")


FIGURE = Figure(
    "sharing", WIDTH, HEIGHT, "Three ways to write one computation",
    """The product of exp of x with itself, in three panels. As a graph: multiply has two arrows to one and
    the same node exp, which has an arrow to x; exp is run once. With let: the text says let a be exp of x,
    and then multiply a by a; exp is run once. Written out: multiply has one arrow to each of two nodes exp,
    each of which has an arrow to an x of its own; exp is run twice.""",
    draw,
)  # fmt: skip
