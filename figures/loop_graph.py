"""A loop in a graph: one special node that contains a graph for its condition and one for its body."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 336
TALL = 32


def _node(c: Canvas, x: float, y: float, name: str, hue: str, wide: float = 78) -> None:
    c.box(x - wide / 2, y - TALL / 2, wide, TALL, fill=f"{hue}-fill", edge=hue)
    c.text(x, y + 5, name, size=13.5, anchor="middle")


def _graph(c: Canvas, x: float, title: str, number: str, operator: str, hue: str, result: str) -> None:
    """Draw one of the two graphs inside: a variable and a number lead to an operator."""
    c.box(x, 92, 186, 176, fill="paper", edge="edge", radius=10)
    c.text(x + 93, 114, title, size=14, bold=True, anchor="middle")
    for start, name in ((x + 52, "variable"), (x + 143, number)):
        _node(c, start, 150, name, "hue-blue", 78 if name == "variable" else 50)
        c.line(
            (start, 150 + TALL / 2),
            (x + 93 + (start - x - 93) * 0.3, 202 - TALL / 2),
            edge="soft",
            arrow=True,
        )
    _node(c, x + 93, 202, operator, hue)
    c.line((x + 93, 202 + TALL / 2), (x + 93, 240), edge="soft", arrow=True)
    c.text(x + 93, 257, result, size=13, color="soft", anchor="middle")


def draw(c: Canvas) -> None:
    c.text(240, 18, "start", size=14, bold=True, anchor="middle")
    c.line((240, 24), (240, 44), edge="soft", arrow=True)
    c.box(10, 46, 460, 250, fill="hue-purple-fill", edge="hue-purple", width=2, radius=12)
    c.text(26, 74, "while", size=16, bold=True, mono=True, color="hue-purple")
    c.text(456, 74, "one special node", size=13, color="soft", anchor="end")
    _graph(c, 30, "condition", "100", "less", "hue-teal", "true: go on")
    _graph(c, 264, "body", "2", "multiply", "hue-orange", "the next value")
    c.line((216, 228), (262, 228), edge="hue-purple", width=2, arrow=True)
    c.line((262, 140), (218, 140), edge="hue-purple", width=2, arrow=True)
    c.text(26, 286, "The new value goes to both variables.", size=13, color="soft")
    c.line((240, 296), (240, 312), edge="soft", arrow=True)
    c.text(240, 327, "result, when the condition is false", size=14, bold=True, anchor="middle")


FIGURE = Figure(
    "loop_graph", WIDTH, HEIGHT, "A loop as a special node",
    """A start value enters a large node called while. Inside are two small graphs. The condition has a
    variable and 100, which lead to less. The body has a variable and 2, which lead to multiply. While the
    condition is true, the body computes the next value, which goes to both variables. When it is false,
    the value leaves the node as the result.""",
    draw,
)  # fmt: skip
