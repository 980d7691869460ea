"""A pattern, and the expressions of a program that its parts match."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph
from relay_explorer import models
from relay_explorer.interop import to_networkx

WIDTH, HEIGHT = 480, 386
PATTERNS = (
    'is_op("nn.relu")', "is_tuple_get_item(…, 0)", 'is_op("nn.batch_norm")', 'is_op("nn.conv2d")',
    "wildcard()",
)  # fmt: skip


def _matched() -> list[str]:
    """Return what the first ReLU of MobileNet is computed from, along the first operands."""
    graph = to_networkx(models.load("mobilenet")["main"])
    node = next(node for node, op in graph.nodes(data="op") if op == "nn.relu")
    path = [node]
    while before := [n for n, _, operand in graph.in_edges(path[-1], data="operand") if operand == 0]:
        path.append(before[0])
    nodes = [graph.nodes[node] for node in path]
    return [data.get("op") or (f"(…).{data['index']}" if "index" in data else data["name"]) for data in nodes]


ROWS = tuple(zip(PATTERNS, _matched(), strict=True))


def draw(c: Canvas) -> None:
    nodes: dict[str, Box] = {}
    arrows: list[Arrow] = []
    for row, (pattern, program) in enumerate(ROWS):
        nodes[f"pattern {row}"] = Box(pattern, "hue-purple", True, width=212, height=36, radius=18)
        nodes[f"program {row}"] = Box(program, width=128, height=36)
        if row:
            arrows.append(Arrow(f"pattern {row - 1}", f"pattern {row}", "hue-purple"))
            arrows.append(Arrow(f"program {row - 1}", f"program {row}"))
    for row in range(len(ROWS)):
        ends = f"pattern {row}", f"program {row}"
        arrows.append(Arrow(*ends, "hue-purple", dashed=True, constrain=False, head=False))
    layout = draw_graph(c, nodes, arrows, WIDTH / 2, 46, apart=76, ranks_apart=28)
    for side, words in (("pattern", "The pattern"), ("program", "A part of MobileNet")):
        c.text(layout.centers[f"{side} 0"][0], 24, words, size=15, bold=True, anchor="middle")
    c.text(WIDTH / 2, 374, "Five more wildcards match the weights and are not drawn.", size=13.5,
           anchor="middle", color="soft")  # fmt: skip


FIGURE = Figure(
    "pattern_on_program", WIDTH, HEIGHT, "A pattern and what it matches",
    """On the left a chain of patterns: an operator relu, of field 0, of an operator batch norm, of an
    operator conv2d, of a wildcard. On the right a chain of expressions of MobileNet: relu, the
    projection to field 0, batch norm, conv2d, and the variable data. A dashed line leads from each
    pattern to the expression that it matches.""",
    draw,
)  # fmt: skip
