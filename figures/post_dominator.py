"""An addition that post-dominates a convolution, and one that does so on a forbidden path."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from figures.canvas import Canvas, Figure
from figures.graph import Box, draw_graph, program_graph
from relay_explorer.text import parse_expr

WIDTH, HEIGHT = 480, 350


def _panel(c: Canvas, left: float, title: str, foot: str, good: bool) -> float:
    c.box(left, 8, 229, 296, fill="panel", edge="edge")
    c.text(left + 114, 32, title, size=15, bold=True, anchor="middle")
    c.text(left + 114, 292, foot, size=13.5, anchor="middle", color="known" if good else "bad")
    return left + 114


def _box(name: str, data: dict[str, Any]) -> Box | None:
    if name in ("conv2d", "add"):
        return Box(name, "hue-purple", width=76, stroke=2.5)
    if name == "softmax":
        return Box(name, "bad", width=80, stroke=2.5)
    return Box(name) if "op" in data else None


def _graph(c: Canvas, x: float, body: str, ranks_apart: float) -> None:
    function = parse_expr(f"fn (%x, %w) {{ %0 = nn.conv2d(%x, %w); {body} }}")
    nodes, arrows = program_graph(function, _box, "ink")
    arrows = [replace(arrow, width=2) for arrow in arrows]
    draw_graph(c, nodes, arrows, x, 50, apart=24, ranks_apart=ranks_apart)


def draw(c: Canvas) -> None:
    x = _panel(c, 8, "`long`", "matches", True)
    _graph(c, x, "add(tanh(sqrt(exp(%0))), %0)", 20)
    x = _panel(c, 243, "`other`", "does not match", False)
    _graph(c, x, "add(tanh(%0), nn.softmax(%0))", 68)
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
