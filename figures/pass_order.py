"""Two passes in both orders: merging twins first lets the scale move into the weight."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph

WIDTH, HEIGHT = 480, 480
PANEL, HIGH = 136, 206


SCALE = Box("× s", "hue-orange", True, width=46)
ENDS = {"relu": Box("relu", width=52), "tanh": Box("tanh", width=52)}
CONV = Box("conv2d", width=66)
START = (
    {"conv": CONV, "left": SCALE, "right": SCALE} | ENDS,
    (("conv", "left"), ("conv", "right"), ("left", "relu"), ("right", "tanh")),
)
MERGED = ({"conv": CONV, "scale": SCALE} | ENDS, (("conv", "scale"), ("scale", "relu"), ("scale", "tanh")))
MOVED = (
    {"conv": Box("conv2d(w·s)", "hue-orange", True, width=100)} | ENDS,
    (("conv", "relu"), ("conv", "tanh")),
)


def _row(c: Canvas, top: float, title: str, steps: tuple[str, str], last: bool) -> None:
    c.text(8, top + 16, title, size=14.5, bold=True)
    graphs = (START, MERGED, MOVED) if last else (START, START, MERGED)
    feet = (
        ("as given", "one product", "in the weight")
        if last
        else ("as given", "unchanged", "one product left")
    )
    for number, ((nodes, edges), foot) in enumerate(zip(graphs, feet, strict=True)):
        x = 8 + (PANEL + 28) * number
        c.box(x, top + 28, PANEL, HIGH - 28, fill="panel", edge="edge")
        draw_graph(c, nodes, [Arrow(*edge) for edge in edges], x + PANEL / 2, top + 42, ranks_apart=24)
        c.text(x + PANEL / 2, top + HIGH - 10, foot, size=13, anchor="middle", color="soft")
        if number:
            c.line((x - 25, top + 116), (x - 4, top + 116), edge="ink", arrow=True)
            c.text(x - 14, top + 106, steps[number - 1], size=13, bold=True, anchor="middle")


def draw(c: Canvas) -> None:
    _row(c, 4, "Merge (1), then move (2)", ("1", "2"), True)
    _row(c, 226, "Move (2), then merge (1)", ("2", "1"), False)
    c.text(8, HEIGHT - 28, "1: EliminateCommonSubexpr   2: BackwardFoldScaleAxis", size=13, mono=True)
    c.text(8, HEIGHT - 8, "Pass 2 needs a convolution whose result has a single user.", size=13)


FIGURE = Figure(
    "pass_order", WIDTH, HEIGHT, "The same two passes in both orders",
    """Two rows of three graphs. Each starts with a convolution whose result is multiplied by the same scale
    twice, for relu and for tanh. In the first row, merging leaves one multiplication, and moving puts it into
    the weight of the convolution: no multiplication is left. In the second row, moving comes first and
    changes nothing, because the convolution has two users; merging then leaves one multiplication behind.""",
    draw,
)  # fmt: skip
