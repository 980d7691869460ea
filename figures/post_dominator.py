"""An addition that post-dominates a convolution, and one that does so on a forbidden path."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph

WIDTH, HEIGHT = 480, 350


def _panel(c: Canvas, left: float, title: str, foot: str, good: bool) -> float:
    c.box(left, 8, 229, 296, fill="panel", edge="edge")
    c.text(left + 114, 32, title, size=15, bold=True, anchor="middle")
    c.text(left + 114, 292, foot, size=13.5, anchor="middle", color="known" if good else "bad")
    return left + 114


def _graph(c: Canvas, x: float, between: dict[str, Box], *edges: tuple[str, str], ranks_apart: float) -> None:
    ends = {name: Box(name, "hue-purple", width=76, stroke=2.5) for name in ("conv2d", "add")}
    arrows = [Arrow(*edge, edge="ink", width=2) for edge in edges]
    draw_graph(c, ends | between, arrows, x, 50, apart=24, ranks_apart=ranks_apart)


def draw(c: Canvas) -> None:
    x = _panel(c, 8, "`long`", "matches", True)
    nodes = {name: Box(name) for name in ("exp", "sqrt", "tanh")}
    chain = (("conv2d", "exp"), ("exp", "sqrt"), ("sqrt", "tanh"), ("tanh", "add"))
    _graph(c, x, nodes, *chain, ("conv2d", "add"), ranks_apart=20)
    x = _panel(c, 243, "`other`", "does not match", False)
    nodes = {"tanh": Box("tanh"), "softmax": Box("softmax", "bad", width=80, stroke=2.5)}
    paths = (("conv2d", "tanh"), ("tanh", "add"), ("conv2d", "softmax"), ("softmax", "add"))
    _graph(c, x, nodes, *paths, ranks_apart=68)
    c.text(WIDTH / 2, 330, "Arrows follow the data: from an operator to the users of its result.", size=13.5,
           anchor="middle", color="soft")  # fmt: skip


FIGURE = Figure(
    "post_dominator", WIDTH, HEIGHT, "Post-dominance, with element-wise operators in between",
    """Two programs, drawn with arrows in the direction of the data. On the left, conv2d leads to add on two
    paths: through exp, sqrt and tanh, and directly. All paths end in add, and all operators on them are
    element-wise, so the pattern matches. On the right, conv2d leads to add through tanh and through softmax.
    All paths end in add here too, but softmax is not element-wise, so the pattern does not match.""",
    draw,
)  # fmt: skip
