"""One computation as a graph, with `let`, and as a tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from figures.canvas import Canvas, Figure
from figures.graph import Box, draw_graph, program_graph
from relay_explorer.text import parse_expr

WIDTH, HEIGHT = 480, 262
PANEL, TOP = 150, 56


PROGRAM = "fn (%x: float32) { %0 = exp(%x); multiply(%0, %0) }"


def _box(name: str, data: dict[str, Any]) -> Box | None:
    if data["kind"] == "Function":
        return None
    return Box(data["name"] if data["kind"] == "Var" else name, width=76 if name == "multiply" else 50)


def _graph(c: Canvas, x: float, tree: bool) -> None:
    """Draw the program as a graph, or as a tree, in which every use has a copy of its operand."""
    nodes, arrows = program_graph(parse_expr(PROGRAM), _box, to_operands=True)
    if tree:
        seen: set[str] = set()
        pending, uses, arrows = [("multiply", "multiply")], arrows, []
        nodes, boxes = {"multiply": nodes["multiply"]}, nodes
        while pending:
            copy, name = pending.pop(0)
            for use in [use for use in uses if use.start == name]:
                end = use.end + "'" if use.end in seen else use.end
                seen.add(end)
                nodes[end] = boxes[use.end]
                arrows.append(replace(use, start=copy, end=end))
                pending.append((end, use.end))
    draw_graph(c, nodes, arrows, x, TOP, ranks_apart=38)


def _panel(c: Canvas, number: int, name: str, foot: str) -> float:
    x = 8 + (PANEL + 7) * number
    c.box(x, 8, PANEL, 246, fill="panel", edge="edge")
    c.text(x + PANEL / 2, 32, name, size=15, bold=True, anchor="middle")
    c.text(x + PANEL / 2, 242, foot, size=13, color="soft", anchor="middle")
    return x + PANEL / 2


def draw(c: Canvas) -> None:
    x = _panel(c, 0, "As a graph", "`exp` runs once")
    _graph(c, x, tree=False)

    x = _panel(c, 1, "With `let`", "`exp` runs once")
    left = x - PANEL / 2 + 9
    for line, text in enumerate(("let %a = exp(%x);", "multiply(%a, %a)")):
        c.text(left, TOP + 64 + 24 * line, text, size=12.5, mono=True)

    x = _panel(c, 2, "As a tree", "`exp` runs twice")
    _graph(c, x, tree=True)


FIGURE = Figure(
    "sharing", WIDTH, HEIGHT, "Three forms of one computation",
    """The product of exp of x with itself, in three panels. As a graph: multiply has two arrows to one and
    the same node exp, which has an arrow to x; exp runs once. With let: the text says let a be exp of x,
    and then multiply a by a; exp runs once. As a tree: multiply has one arrow to each of two nodes exp,
    each of which has an arrow to an x of its own; exp runs twice.""",
    draw,
)  # fmt: skip
