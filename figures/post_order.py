"""The digit network of chapter 4: the order in which a visitor meets it, and how deep each call is."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph

WIDTH, HEIGHT = 480, 440
CALLS = ("nn.dense", "nn.bias_add", "nn.relu", "nn.dense", "nn.bias_add", "nn.softmax")
WEIGHTS = {0: ("w1", 2), 1: ("b1", 3), 3: ("w2", 4), 4: ("b2", 5)}  # by the row of their call


def _number(c: Canvas, x: float, y: float, number: int) -> None:
    c.circle(x, y, 13, fill="paper", edge="hue-orange", width=2)
    c.text(x, y + 5, str(number), size=13.5, bold=True, anchor="middle")


def draw(c: Canvas) -> None:
    nodes = {"x": Box("%x", width=72, height=34, radius=17)}
    numbers = {"x": 1}
    arrows, above = [], "x"
    for row, label in enumerate(CALLS):
        name = str(row)
        nodes[name] = Box(label, "hue-blue", True, width=136, height=34)
        numbers[name] = row + 6
        arrows.append(Arrow(above, name, edge="soft"))
        if row in WEIGHTS:
            weight, number = WEIGHTS[row]
            nodes[weight] = Box(f"%{weight}", width=72, height=34, radius=17)
            numbers[weight] = number
            arrows.append(Arrow(weight, name, edge="soft"))
        above = name
    layout = draw_graph(c, nodes, arrows, WIDTH / 2 + 20, 16, apart=36, ranks_apart=30)
    for name, (x, y) in layout.centers.items():
        _number(c, x + nodes[name].width / 2 + 2, y - 14, numbers[name])
        if name.isdigit():
            c.text(x - 82, y + 5, f"d = {int(name) + 1}", size=14, anchor="end", colour="soft")


FIGURE = Figure(
    "post_order", WIDTH, HEIGHT, "A visit in post-order",
    """The digit network as a graph. A visitor meets the variables first: x, w1, b1, w2 and b2 have the
    numbers 1 to 5. Then it meets the calls, each after its arguments: nn.dense 6, nn.bias_add 7, nn.relu 8,
    nn.dense 9, nn.bias_add 10, nn.softmax 11. The depth of these six calls grows from 1 to 6.""",
    draw,
)  # fmt: skip
