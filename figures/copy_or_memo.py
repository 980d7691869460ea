"""The copies of shared nodes that a recursive copy creates, and those of a copy with a memo."""

from __future__ import annotations

from typing import Any

from figures.canvas import Canvas, Figure
from figures.graph import Box, draw_graph, program_graph
from relay_explorer import relay
from relay_explorer.ir.expr import Call, Expr

WIDTH, HEIGHT = 480, 304
TOP, LEVELS = 50, 4


def _program() -> Expr:
    """Return three additions, each of which uses the expression below it twice."""
    expr: Expr = relay.exp(relay.var("x", shape=()))
    for _ in range(LEVELS - 1):
        expr = relay.add(expr, expr)
    return expr


def _copy(expr: Expr) -> Expr:
    """Copy a program recursively, without a memo."""
    return Call(expr.op, [_copy(arg) for arg in expr.args]) if isinstance(expr, Call) else expr


def _graph(c: Canvas, program: Expr, hue: str, x: float, apart: float) -> int:
    """Draw the calls of a program from the top, and return how many there are."""

    def box(name: str, data: dict[str, Any]) -> Box | None:
        return Box("+" if name == "add" else name, hue, width=34) if "op" in data else None

    nodes, arrows = program_graph(program, box, hue, to_operands=True)
    draw_graph(c, dict(reversed(nodes.items())), arrows[::-1], x, TOP, apart=apart, ranks_apart=32)
    return len(nodes)


def draw(c: Canvas) -> None:
    c.box(8, 8, 122, 254, fill="panel", edge="edge")
    c.text(69, 32, "Program", size=14.5, bold=True, anchor="middle")
    shared = _graph(c, _program(), "known", 69, 16)
    c.box(138, 8, 334, 254, fill="panel", edge="edge")
    c.text(305, 32, "Its copy, made without a memo", size=14.5, bold=True, anchor="middle")
    copied = _graph(c, _copy(_program()), "bad", 305, 6)
    c.text(69, 284, f"{shared} calls", size=13.5, anchor="middle", color="soft")
    words = f"{copied} calls, {2 ** (LEVELS - 1)} of them `exp`"
    c.text(305, 284, words, size=13.5, anchor="middle", color="soft")


FIGURE = Figure(
    "copy_or_memo", WIDTH, HEIGHT, "A copy that loses sharing",
    """On the left a program of four calls: three additions, each of which uses the one below it twice,
    and exp at the bottom. On the right the copy that a recursive function makes: a tree in which each
    addition has two operands of its own, so that there are one, two and four additions and eight exp.""",
    draw,
)  # fmt: skip
