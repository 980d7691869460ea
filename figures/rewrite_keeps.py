"""A rewrite of one operator: new nodes on the path to the root, all other nodes reused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph, program_graph
from relay_explorer import relay
from relay_explorer.ir.expr import Call, Expr, Function
from relay_explorer.ir.narrow import as_function
from relay_explorer.ir.op import Op
from relay_explorer.ir.walk import post_order, rewrite
from relay_explorer.text import parse_expr

WIDTH, HEIGHT = 480, 322


WIDTHS = {"x": 48, "sigmoid": 84, "y": 48, "tanh": 64, "multiply": 92, "clip": 60, "0.2x + 0.5": 104}
BEFORE = as_function(parse_expr("fn (%x, %y) { multiply(sigmoid(%x), tanh(%y)) }"))


def _line(node: Expr) -> Expr | None:
    """Replace a sigmoid by a line, cut off at 0 and 1."""
    if isinstance(node, Call) and node.op == Op.get("sigmoid"):
        return relay.clip(node.args[0] * relay.const(0.2) + relay.const(0.5), 0, 1)
    return None


def _drawn(program: Function) -> tuple[dict[str, Box], list[Arrow]]:
    """Return the boxes and arrows of a program; the expressions that are not in the first one are new."""
    old = set(post_order(BEFORE))

    def box(name: str, data: dict[str, Any]) -> Box | None:
        if data["kind"] not in ("Var", "Call"):
            return None
        name = "0.2x + 0.5" if name == "add" else name
        new = data["expr"] not in old
        look: dict[str, Any] = {"hue": "hue-orange", "filled": True, "stroke": 2.5} if new else {}
        label = f"%{name}" if data["kind"] == "Var" else name
        return Box(label, width=WIDTHS[name], height=34, **look)

    nodes, arrows = program_graph(program, box, to_operands=True)
    (root,) = nodes.keys() - {arrow.end for arrow in arrows}
    if "add" in nodes:  # one box for the product and the sum
        arrows = [replace(a, end="x") if a.start == "add" else a for a in arrows if a.start != "multiply"]
        del nodes["multiply"]
    order = [root, *sorted(nodes.keys() - {root}, key=ORDER.index)]
    arrows.sort(key=lambda arrow: (order.index(arrow.start), order.index(arrow.end)))
    names = {root: "multiply"}
    return (
        {names.get(name, name): nodes[name] for name in order},
        [replace(a, start=names.get(a.start, a.start)) for a in arrows],
    )


ORDER = ("clip", "add", "sigmoid", "x", "tanh", "y")
VISITS = ("x", "sigmoid", "y", "tanh", "multiply")


def _order(c: Canvas, x: float, y: float, number: int) -> None:
    c.circle(x, y, 10, fill="paper", edge="soft")
    c.text(x, y + 5, str(number), size=13, anchor="middle", color="soft")


def draw(c: Canvas) -> None:
    c.text(116, 24, "Before", size=15, bold=True, anchor="middle")
    c.text(366, 24, "After", size=15, bold=True, anchor="middle")
    nodes, arrows = _drawn(BEFORE)
    layout = draw_graph(c, nodes, arrows, 116, 78, apart=28)
    for number, name in enumerate(VISITS, 1):
        x, y = layout.centers[name]
        side = 1 if x > layout.centers["multiply"][0] else -1
        _order(c, x + side * nodes[name].width / 2, y - 17, number)
    c.line((240, 44), (240, 284), edge="line")
    draw_graph(c, *_drawn(as_function(rewrite(BEFORE, _line))), 366, 48, apart=28)
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
