"""Immediate post-dominators in three small graphs: where all paths from a node meet."""

from __future__ import annotations

from typing import Any

from figures.canvas import Canvas, Figure
from figures.graph import Box, draw_graph, program_graph
from relay_explorer.text import parse_expr

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
    _graph(c, x, "%0 = nn.conv2d(%x, %w); %1 = nn.relu(%0); exp(%1)", "relu")

    x = _panel(c, 1, "a diamond", ("both paths", "meet at `add`"))
    branches = "%0 = nn.conv2d(%x, %w); %1 = exp(nn.relu(%0)); %2 = tanh(%0); add(%1, %2)"
    _graph(c, x, branches, "add")

    x = _panel(c, 2, "two results", ("both meet at the", "tuple of results"))
    _graph(c, x, "%0 = nn.conv2d(%x, %w); (nn.relu(%0), %0)", "tuple")


def _graph(c: Canvas, x: float, body: str, meeting: str) -> None:
    """Draw the operators of a program, the one at which all paths from the convolution meet in its color."""
    look: dict[str, dict[str, Any]] = {
        "conv2d": {"hue": "hue-blue", "filled": True, "width": 66},
        meeting: {"hue": "hue-teal", "filled": True},
    }

    def box(name: str, data: dict[str, Any]) -> Box | None:
        return None if data["kind"] in ("Var", "Function") else Box(name, **look.get(name, {"width": 54}))

    nodes, arrows = program_graph(parse_expr(f"fn (%x, %w) {{ {body} }}"), box, "ink")
    draw_graph(c, nodes, arrows, x, 52, ranks_apart=24)


FIGURE = Figure(
    "meeting_points", WIDTH, HEIGHT, "Where all paths from a value meet",
    """Three graphs with a convolution at the top. In the first, the convolution is used by relu only, and
    relu by exp: all paths meet at relu. In the second, one path leads through relu and exp, another through
    tanh, and both meet at add, which is the immediate post-dominator. In the third, the convolution is used
    by relu and is also a result of the function: both paths meet at the tuple of the two results.""",
    draw,
)  # fmt: skip
