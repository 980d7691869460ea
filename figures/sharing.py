"""One computation as a graph, with `let`, and as a tree."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph

WIDTH, HEIGHT = 480, 262
PANEL, TOP = 150, 56


def _graph(c: Canvas, x: float, *edges: tuple[str, str]) -> None:
    """Draw a graph whose nodes are named after their labels; a prime distinguishes nodes with one label."""
    labels = {"multiply": "multiply", "exp": "exp", "x": "%x"}
    names = dict.fromkeys(name for edge in edges for name in edge)
    nodes = {name: Box(labels[name.rstrip("'")], width=76 if name == "multiply" else 50) for name in names}
    draw_graph(c, nodes, [Arrow(*edge) for edge in edges], x, TOP, ranks_apart=38)


def _panel(c: Canvas, number: int, name: str, foot: str) -> float:
    x = 8 + (PANEL + 7) * number
    c.box(x, 8, PANEL, 246, fill="panel", edge="edge")
    c.text(x + PANEL / 2, 32, name, size=15, bold=True, anchor="middle")
    c.text(x + PANEL / 2, 242, foot, size=13, color="soft", anchor="middle")
    return x + PANEL / 2


def draw(c: Canvas) -> None:
    x = _panel(c, 0, "As a graph", "`exp` runs once")
    _graph(c, x, ("multiply", "exp"), ("multiply", "exp"), ("exp", "x"))

    x = _panel(c, 1, "With `let`", "`exp` runs once")
    left = x - PANEL / 2 + 9
    for line, text in enumerate(("let %a = exp(%x);", "multiply(%a, %a)")):
        c.text(left, TOP + 64 + 24 * line, text, size=12.5, mono=True)

    x = _panel(c, 2, "As a tree", "`exp` runs twice")
    _graph(c, x, ("multiply", "exp"), ("multiply", "exp'"), ("exp", "x"), ("exp'", "x'"))


FIGURE = Figure(
    "sharing", WIDTH, HEIGHT, "Three forms of one computation",
    """The product of exp of x with itself, in three panels. As a graph: multiply has two arrows to one and
    the same node exp, which has an arrow to x; exp runs once. With let: the text says let a be exp of x,
    and then multiply a by a; exp runs once. As a tree: multiply has one arrow to each of two nodes exp,
    each of which has an arrow to an x of its own; exp runs twice.""",
    draw,
)  # fmt: skip
