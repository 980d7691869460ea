"""Constant folding: expressions shrink from the leaves up, and a constant condition picks a branch."""

from __future__ import annotations

from typing import Any

from figures.canvas import Canvas, Figure
from figures.graph import Box, draw_graph, program_graph
from relay_explorer.text import parse_expr

WIDTH, HEIGHT = 480, 394
BRANCHES = (
    ("if (less(64f, 100f)) {", False),
    ("  tanh(…)", False),
    ("} else {", False),
    ("  %a / %norm", True),
    ("}", False),
)


STAGES = ("divide(1f, sqrt(64f))", "divide(1f, 8f)", "0.125f")


def _box(name: str, data: dict[str, Any]) -> Box:
    if "op" in data:
        return Box(name, width=66 if name == "divide" else 54)
    label = data["label"]
    return Box(label, "hue-teal", True, width=60 if len(label) > 2 else 38)


def _tree(c: Canvas, x: float, y: float, step: int) -> None:
    """Draw `1 / sqrt(64)` after `step` folds: the operand is computed first, then the quotient."""
    nodes, arrows = program_graph(parse_expr(STAGES[step]), _box)
    if arrows:
        draw_graph(c, nodes, arrows, x, y, direction="BT")
    else:
        draw_graph(c, nodes, [], x, y + 50)


def draw(c: Canvas) -> None:
    for number, title in enumerate(("as written", "one fold", "two folds")):
        x = 8 + 160 * number
        c.box(x, 8, 144, 182, fill="panel", edge="edge")
        c.text(x + 72, 32, title, size=14, bold=True, anchor="middle")
        _tree(c, x + 72, 48, number)
        if number:
            c.line((x - 14, 100), (x - 2, 100), edge="ink", arrow=True)
    c.text(8, 222, "A condition that is constant selects its branch:", size=14, bold=True)
    c.box(8, 236, 288, 118, fill="panel", edge="edge")
    for number, (line, dead) in enumerate(BRANCHES):
        y = 258 + 21 * number
        c.text(20, y, line, size=13.5, mono=True, color="soft" if dead else "ink")
        if dead:
            c.line((36, y - 4), (124, y - 4), edge="bad", width=1.5)
            c.text(190, y, "never taken", size=13, color="bad", anchor="middle")
    c.line((298, 294), (322, 294), edge="ink", arrow=True)
    c.box(326, 270, 146, 48, fill="panel", edge="edge")
    c.text(399, 299, "tanh(…)", size=13.5, mono=True, anchor="middle")
    c.text(8, HEIGHT - 14, "Filled boxes are constants. `%norm` now has no user left.", size=13)


FIGURE = Figure(
    "constant_folding", WIDTH, HEIGHT, "Constant folding, from the leaves up",
    """Above, one divided by the square root of 64 as a tree, in three stages: as written; after one fold,
    in which sqrt of 64 has become 8; after two folds, in which the whole tree has become 0.125. Below, an
    if whose condition is less(64, 100): the condition is true, so the if becomes its first branch, tanh
    of the dense layer, and the other branch, which used norm, disappears.""",
    draw,
)  # fmt: skip
