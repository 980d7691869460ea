"""The digit network of chapter 4: the order in which a visitor meets it, and how deep each call is."""

from __future__ import annotations

from typing import Any

from figures.canvas import Canvas, Figure
from figures.graph import Box, draw_graph, program_graph
from relay_explorer.text import parse

WIDTH, HEIGHT = 480, 440
PROGRAM = """
def @main(%x: Tensor[(1, 784), float32],
          %w1: Tensor[(256, 784), float32], %b1: Tensor[(256), float32],
          %w2: Tensor[(10, 256), float32], %b2: Tensor[(10), float32]) {
  %0 = nn.dense(%x, %w1);
  %1 = nn.bias_add(%0, %b1);
  %2 = nn.relu(%1);
  %3 = nn.dense(%2, %w2);
  %4 = nn.bias_add(%3, %b2);
  nn.softmax(%4)
}
"""


def _number(c: Canvas, x: float, y: float, number: int) -> None:
    c.circle(x, y, 13, fill="paper", edge="hue-orange", width=2)
    c.text(x, y + 5, str(number), size=13.5, bold=True, anchor="middle")


def draw(c: Canvas) -> None:
    nodes, arrows = program_graph(parse(PROGRAM)["main"], _box, "soft")
    layout = draw_graph(c, nodes, arrows, WIDTH / 2 + 20, 16, apart=36, ranks_apart=30)
    depth = 0
    for number, (name, box) in enumerate(nodes.items(), 1):
        x, y = layout.centers[name]
        _number(c, x + box.width / 2 + 2, y - 14, number)
        if box.filled:  # a call
            depth += 1
            c.text(x - 82, y + 5, f"d = {depth}", size=14, anchor="end", color="soft")


def _box(name: str, data: dict[str, Any]) -> Box | None:
    if data["kind"] == "Var":
        return Box(data["name"], width=72, height=34, radius=17)
    return Box(data["op"], "hue-blue", True, width=136, height=34) if "op" in data else None


FIGURE = Figure(
    "post_order", WIDTH, HEIGHT, "A visit in post-order",
    """The digit network as a graph. A visitor meets the variables first: x, w1, b1, w2 and b2 have the
    numbers 1 to 5. Then it meets the calls, each after its arguments: nn.dense 6, nn.bias_add 7, nn.relu 8,
    nn.dense 9, nn.bias_add 10, nn.softmax 11. The depth of these six calls grows from 1 to 6.""",
    draw,
)  # fmt: skip
