"""Value numbering: a program with repeated calls, the table that identifies them, and the result."""

from __future__ import annotations

from functools import cache
from typing import Any

from figures.canvas import Canvas, Figure
from figures.graph import Box, draw_graph, program_graph
from relay_explorer.ir.expr import Call, Expr, Function
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.op import Op
from relay_explorer.ir.walk import post_order
from relay_explorer.text import parse
from relay_explorer.transform import EliminateCommonSubexpr, InferType

WIDTH, HEIGHT = 480, 300
HUES = {"exp": "hue-blue", "tanh": "hue-orange", "add": "hue-purple"}
PROGRAM = "def @main(%x: float32) { add(tanh(exp(%x)), tanh(exp(%x))) }"
LABELS = {"exp": 1, "tanh": 2, "add": 3}


@cache
def table() -> tuple[tuple[str, tuple[str, ...], int, bool], ...]:
    """Return for each call, in order, its operator, arguments and value number, and whether that is new."""
    main = parse(PROGRAM)["main"]
    assert isinstance(main, Function)
    numbers: dict[Expr, int] = {}
    first: dict[tuple[str, tuple[str, ...]], int] = {}
    rows = []
    for node in post_order(main.body):
        if isinstance(node, Call) and isinstance(node.op, Op):
            args = tuple(str(numbers[arg]) if arg in numbers else "x" for arg in node.args)
            key = node.op.name, args
            new = key not in first
            numbers[node] = first.setdefault(key, len(first) + 1)
            rows.append((*key, numbers[node], new))
    return tuple(rows)


def _box(name: str, data: dict[str, Any]) -> Box | None:
    if data["kind"] == "Var":
        return Box(name, "none", width=20, height=20)
    return Box(name, HUES[name], True, width=52, mark=str(LABELS[name])) if "op" in data else None


def _graph(c: Canvas, middle: float, program: IRModule) -> None:
    draw_graph(c, *program_graph(program["main"], _box), middle, 52, ranks_apart=32)


def draw(c: Canvas) -> None:
    for x, wide, name in ((7, 142, "written"), (157, 182, "looked up"), (347, 126, "shared")):
        c.box(x, 8, wide, 254, fill="panel", edge="edge")
        c.text(x + wide / 2, 32, name, size=15, bold=True, anchor="middle")
    program = InferType()(parse(PROGRAM))
    _graph(c, 78, program)
    for row, (name, args, number, new) in enumerate(table()):
        y = 72 + 38 * row
        hue = HUES[name]
        c.box(169, y - 17, 158, 28, fill=f"{hue}-fill" if new else "paper", edge=hue, dashed=not new)
        c.text(179, y + 2.5, f"{name} {' '.join(args)}", size=13, mono=True)
        c.text(318, y + 2.5, f"new: {number}" if new else f"seen: {number}", size=13, anchor="end", bold=new)
    _graph(c, 410, EliminateCommonSubexpr()(program))
    c.text(
        WIDTH / 2, HEIGHT - 14, "The key of a call: its operator and the value numbers of its arguments.",
        size=13, anchor="middle",
    )  # fmt: skip


FIGURE = Figure(
    "numbering", WIDTH, HEIGHT, "Value numbering finds repeated computations",
    """Three panels. Written: exp of x twice, tanh of each, and the sum of the two, five calls. Looked up, one
    row for each call, operands first: exp of x is new and gets 1; tanh of 1 is new and gets 2; exp of x was
    seen, 1; tanh of 1 was seen, 2; add of 2 and 2 is new and gets 3. Shared: exp of x, marked 1, tanh of it,
    marked 2, and add, marked 3, which uses 2 twice.""",
    draw,
)  # fmt: skip
