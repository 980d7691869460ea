"""Immediate post-dominators in three small graphs: where all paths from a node meet."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph

WIDTH, HEIGHT = 480, 300
PANEL = 150


def _panel(c: Canvas, number: int, title: str, foot: tuple[str, str]) -> float:
    x = 7 + (PANEL + 8) * number
    c.box(x, 8, PANEL, 284, fill="panel", edge="edge")
    c.text(x + PANEL / 2, 32, title, size=14.5, bold=True, anchor="middle")
    for line, words in enumerate(foot):
        c.text(x + PANEL / 2, 262 + 18 * line, words, size=13, anchor="middle")
    return x + PANEL / 2


def draw(c: Canvas) -> None:
    x = _panel(c, 0, "one path", ("meets at its", "only user, `relu`"))
    conv = Box("conv2d", "hue-blue", True, width=66)
    nodes = {"conv": conv, "relu": Box("relu", "hue-teal", True), "exp": Box("exp")}
    _graph(c, x, nodes, ("conv", "relu"), ("relu", "exp"))

    x = _panel(c, 1, "a diamond", ("both paths", "meet at `add`"))
    nodes = {"conv": conv, "relu": Box("relu", width=54), "tanh": Box("tanh", width=54)}
    nodes |= {"exp": Box("exp", width=54), "add": Box("add", "hue-teal", True)}
    _graph(c, x, nodes, ("conv", "relu"), ("relu", "exp"), ("exp", "add"), ("conv", "tanh"), ("tanh", "add"))

    x = _panel(c, 2, "two results", ("both meet at the", "tuple of results"))
    nodes = {"conv": conv, "relu": Box("relu", width=54), "end": Box("tuple", "hue-teal", True)}
    _graph(c, x, nodes, ("conv", "relu"), ("relu", "end"), ("conv", "end"))


def _graph(c: Canvas, x: float, nodes: dict[str, Box], *edges: tuple[str, str]) -> None:
    draw_graph(c, nodes, [Arrow(*edge, edge="ink") for edge in edges], x, 52, ranks_apart=24)


FIGURE = Figure(
    "meeting_points", WIDTH, HEIGHT, "Where all paths from a value meet",
    """Three graphs with a convolution at the top. In the first, the convolution is used by relu only, and
    relu by exp: all paths meet at relu. In the second, one path leads through relu and exp, another through
    tanh, and both meet at add, which is the immediate post-dominator. In the third, the convolution is used
    by relu and is also a result of the function: both paths meet at the tuple of the two results.""",
    draw,
)  # fmt: skip
