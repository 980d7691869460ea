"""A match that may be moved, and the same match where something outside uses its middle."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 316
PANEL = 229
ROWS = (76, 142, 208)


def _node(c: Canvas, x: float, y: float, name: str, half: float = 34, edge: str = "known") -> None:
    c.box(x - half, y - 17, 2 * half, 34, fill="paper", edge=edge)
    c.text(x, y + 5, name, size=13, mono=True, anchor="middle")


def _match(c: Canvas, number: int, name: str, foot: str, hue: str) -> float:
    """A panel with the match in it; gives the middle of the match."""
    left = 8 + (PANEL + 6) * number
    c.box(left, 8, PANEL, 300, fill="panel", edge="edge")
    c.text(left + PANEL / 2, 32, name, size=15, bold=True, anchor="middle")
    c.text(left + PANEL / 2, 296, foot, size=13, colour="soft", anchor="middle")
    x = left + (PANEL / 2, 83)[number]
    c.box(x - 75, 48, 150, 190, fill="known-bg", edge=hue, width=2, dashed=True, radius=14)
    _node(c, x, ROWS[0], "add")
    for side, inner in ((-37, "tanh"), (37, "exp")):
        c.line((x + side / 2, ROWS[0] + 17), (x + side, ROWS[1] - 19), edge="known", arrow=True)
        _node(c, x + side, ROWS[1], inner, 30)
        c.line((x + side, ROWS[1] + 17), (x + side / 2, ROWS[2] - 19), edge="known", arrow=True)
    _node(c, x, ROWS[2], "conv2d", 38)
    c.line((x, ROWS[2] + 17), (x, 260), edge="ink", arrow=True)
    c.text(x + 10, 262, "its arguments", size=12.5, colour="soft")
    return x


def draw(c: Canvas) -> None:
    _match(c, 0, "Closed", "becomes one function", "known")
    x = _match(c, 1, "Not closed", "stays as it is", "hue-orange")
    _node(c, x + 114, ROWS[0], "max", 24, "hue-orange")
    c.line(
        (x + 114, ROWS[0] + 17), (x + 114, ROWS[2]), (x + 42, ROWS[2]), edge="hue-orange", width=2, arrow=True
    )


FIGURE = Figure(
    "closed", WIDTH, HEIGHT, "A match that may be moved, and one that may not",
    """The same match twice: add has arrows to tanh and to exp, and both have an arrow to one conv2d, whose
    arguments are outside. A dashed line is around the four. On the left nothing else uses them, so they
    become one function. On the right max, which is outside of the dashed line, has an arrow to conv2d too,
    so the match stays as it is.""",
    draw,
)  # fmt: skip
