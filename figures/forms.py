"""The three forms of a program: parsing and building make the objects, printing makes text of them."""

from __future__ import annotations

from typing import Any

from figures.canvas import Canvas, Figure
from figures.graph import Box, draw_graph, program_graph
from relay_explorer.text import parse_expr

WIDTH, HEIGHT = 480, 358
TEXT = ("fn (%a: float32) {", "  %0 = exp(%a);", "  add(%0, %0)", "}")
CALLS = ('a = relay.var("a", …)', "p = relay.exp(a)", "relay.Function(", "    [a], p + p)")


def _written(c: Canvas, x: float, name: str, lines: tuple[str, ...], hue: str) -> None:
    c.box(x, 10, 222, 126, fill=f"{hue}-fill", edge=hue)
    c.text(x + 14, 34, name, size=15, bold=True, color=hue)
    for i, line in enumerate(lines):
        c.text(x + 14, 60 + 20 * i, line, size=13, mono=True)


OBJECTS = {
    "fn": ("Function", "[a], …"),
    "add": ("Call", "add"),
    "exp": ("Call", "exp"),
    "a": ("Var", "a"),
}


def _box(name: str, data: dict[str, Any]) -> Box:
    return Box("", width=84, height=42)


def draw(c: Canvas) -> None:
    _written(c, 8, "Text", TEXT, "hue-blue")
    _written(c, 250, "Python calls", CALLS, "hue-orange")
    c.box(8, 206, 464, 144, fill="known-bg", edge="known", width=2)
    c.text(22, 231, "Objects in memory", size=15, bold=True, color="known")
    c.line((90, 140), (90, 202), edge="ink", arrow=True)
    c.text(80, 176, "parse", size=14, anchor="end")
    c.line((150, 202), (150, 140), edge="ink", arrow=True)
    c.text(160, 176, "print", size=14)
    c.line((361, 140), (361, 202), edge="ink", arrow=True)
    c.text(371, 176, "build", size=14)
    nodes, arrows = program_graph(parse_expr("".join(TEXT)), _box, to_operands=True)
    layout = draw_graph(c, nodes, arrows, WIDTH / 2, 264, direction="LR", ranks_apart=32)
    for name, (x, y) in layout.centers.items():
        kind, what = OBJECTS[name]
        c.text(x, y - 4, kind, size=13, color="soft", anchor="middle")
        c.text(x, y + 14, what, size=13, mono=True, anchor="middle")
    middle = (layout.centers["add"][0] + layout.centers["exp"][0]) / 2
    c.text(middle, 332, "one exp, two uses", size=13, color="soft", anchor="middle")


FIGURE = Figure(
    "forms", WIDTH, HEIGHT, "Three forms of a program",
    """Text and Python calls, side by side, describe one small program: exp of a, added to itself.
    Parsing the text and running the Python calls both lead to objects in memory: a function, whose body
    is a call of add, both of whose arguments are one and the same call of exp, whose argument is the
    variable a. Printing leads from the objects to the text.""",
    draw,
)  # fmt: skip
