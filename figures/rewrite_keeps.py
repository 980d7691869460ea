"""A rewrite of one operator: new nodes on the path to the root, all other nodes reused."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph

WIDTH, HEIGHT = 480, 322


def _new(label: str, width: float) -> Box:
    return Box(label, "hue-orange", True, width=width, height=34, stroke=2.5)


KEPT = {"x": 48, "sigmoid": 84, "y": 48, "tanh": 64, "multiply": 92}  # in the order of the visits
BEFORE = {
    name: Box(f"%{name}" if name in "xy" else name, width=width, height=34) for name, width in KEPT.items()
}
SIGMOID = (Arrow("multiply", "sigmoid"), Arrow("sigmoid", "x"))
LINE = (Arrow("multiply", "clip"), Arrow("clip", "line"), Arrow("line", "x"))
TANH = (Arrow("multiply", "tanh"), Arrow("tanh", "y"))
AFTER = {
    "multiply": _new("multiply", 92),
    "clip": _new("clip", 60),
    "line": _new("0.2x + 0.5", 104),
    "x": BEFORE["x"],
    "tanh": BEFORE["tanh"],
    "y": BEFORE["y"],
}


def _order(c: Canvas, x: float, y: float, number: int) -> None:
    c.circle(x, y, 10, fill="paper", edge="soft")
    c.text(x, y + 5, str(number), size=13, anchor="middle", color="soft")


def draw(c: Canvas) -> None:
    c.text(116, 24, "Before", size=15, bold=True, anchor="middle")
    c.text(366, 24, "After", size=15, bold=True, anchor="middle")
    layout = draw_graph(c, BEFORE, [*SIGMOID, *TANH], 116, 78, apart=28)
    for number, name in enumerate(KEPT, 1):
        x, y = layout.centers[name]
        side = 1 if x > layout.centers["multiply"][0] else -1
        _order(c, x + side * BEFORE[name].width / 2, y - 17, number)
    c.line((240, 44), (240, 284), edge="line")
    draw_graph(c, AFTER, [*LINE, *TANH], 366, 48, apart=28)
    c.text(WIDTH / 2, 308, "Circles: the order of the visits. Thick and filled: new objects.", size=13.5,
           anchor="middle", color="soft")  # fmt: skip


FIGURE = Figure(
    "rewrite_keeps", WIDTH, HEIGHT, "A rewrite, and the objects that it reuses",
    """Before: multiply with the operands sigmoid of x and tanh of y. Numbers give the order of the
    visits: x, sigmoid, y, tanh, multiply. After: sigmoid is replaced by clip of 0.2 x plus 0.5, which
    are new objects, and multiply is a new object because an operand has changed. x, y and tanh are the
    same objects as before.""",
    draw,
)  # fmt: skip
