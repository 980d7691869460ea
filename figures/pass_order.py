"""Two passes in both orders: merging twins first lets the scale move into the weight."""

from __future__ import annotations

from typing import Any

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph, program_graph
from relay_explorer import relay
from relay_explorer.ir.expr import Call, Expr
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.walk import post_order

WIDTH, HEIGHT = 480, 480
PANEL, HIGH = 136, 206


def _start() -> IRModule:
    """Return a convolution whose result is multiplied by the same positive scale twice."""
    x, w = relay.var("x", shape=(1, 4, 8, 8)), relay.var("w", shape=(4, 4, 3, 3))
    scale = relay.const([[[[2.0]], [[3.0]], [[4.0]], [[5.0]]]], "float32")
    conv = relay.nn.conv2d(x, w, channels=4, kernel_size=(3, 3))
    body = relay.Tuple([relay.nn.relu(conv * scale), relay.tanh(conv * scale)])
    return relay.transform.InferType()(relay.IRModule.from_expr(relay.Function([x, w], body)))


MERGE, MOVE = relay.transform.EliminateCommonSubexpr(), relay.transform.BackwardFoldScaleAxis()


def _drawn(module: IRModule) -> tuple[dict[str, Box], list[Arrow]]:
    """Return the operators of a program; what a pass moved into the weight is a part of the convolution."""
    body = module["main"]
    scaled = any(call.op.name == "nn.conv2d" and isinstance(call.args[1], Call) for call in calls(body))
    used = {arg for call in calls(body) if call.op.name == "nn.conv2d" for arg in post_order(call.args[1])}

    def box(name: str, data: dict[str, Any]) -> Box | None:
        if "op" not in data or data["expr"] in used:
            return None
        if name == "multiply":
            return Box("× s", "hue-orange", True, width=46)
        if name == "conv2d":
            return Box("conv2d(w·s)", "hue-orange", True, width=100) if scaled else Box(name, width=66)
        return Box(name, width=52)

    return program_graph(body, box)


def calls(body: Expr) -> list[Any]:
    """Return the calls of operators in a program."""
    return [node for node in post_order(body) if isinstance(node, Call)]


def _row(c: Canvas, top: float, title: str, steps: tuple[str, str], last: bool) -> None:
    c.text(8, top + 16, title, size=14.5, bold=True)
    first, second = (MERGE, MOVE) if last else (MOVE, MERGE)
    start = _start()
    graphs = [_drawn(module) for module in (start, first(start), second(first(start)))]
    feet = (
        ("as given", "one product", "in the weight")
        if last
        else ("as given", "unchanged", "one product left")
    )
    for number, ((nodes, arrows), foot) in enumerate(zip(graphs, feet, strict=True)):
        x = 8 + (PANEL + 28) * number
        c.box(x, top + 28, PANEL, HIGH - 28, fill="panel", edge="edge")
        draw_graph(c, nodes, arrows, x + PANEL / 2, top + 42, ranks_apart=24)
        c.text(x + PANEL / 2, top + HIGH - 10, foot, size=13, anchor="middle", color="soft")
        if number:
            c.line((x - 25, top + 116), (x - 4, top + 116), edge="ink", arrow=True)
            c.text(x - 14, top + 106, steps[number - 1], size=13, bold=True, anchor="middle")


def draw(c: Canvas) -> None:
    _row(c, 4, "Merge (1), then move (2)", ("1", "2"), True)
    _row(c, 226, "Move (2), then merge (1)", ("2", "1"), False)
    c.text(8, HEIGHT - 28, "1: EliminateCommonSubexpr   2: BackwardFoldScaleAxis", size=13, mono=True)
    c.text(8, HEIGHT - 8, "Pass 2 needs a convolution whose result has a single user.", size=13)


FIGURE = Figure(
    "pass_order", WIDTH, HEIGHT, "The same two passes in both orders",
    """Two rows of three graphs. Each starts with a convolution whose result is multiplied by the same scale
    twice, for relu and for tanh. In the first row, merging leaves one multiplication, and moving puts it into
    the weight of the convolution: no multiplication is left. In the second row, moving comes first and
    changes nothing, because the convolution has two users; merging then leaves one multiplication behind.""",
    draw,
)  # fmt: skip
