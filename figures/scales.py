"""How a scale moves into a weight: four small programs, before and after."""

from __future__ import annotations

from typing import Any

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph, program_graph
from relay_explorer import relay
from relay_explorer.ir.expr import Call, Expr
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.narrow import as_op
from relay_explorer.ir.walk import post_order
from relay_explorer.transform import BackwardFoldScaleAxis, ForwardFoldScaleAxis, InferType, Pass

WIDTH, HEIGHT = 480, 490
PANEL_W, PANEL_H = 230, 234


def _step(text: str, scaled: bool = False) -> Box:
    hue, stroke = ("hue-orange", 2.4) if scaled else ("edge", 1.5)
    wide = 15 + 7.6 * len(text)
    return Box(text, hue, scaled, width=wide, height=26, stroke=stroke, radius=6, bold=scaled)


PANELS = {
    "backward": "if conv has no other user",
    "past a sum": "b is scaled as well",
    "past a ReLU": "only if s is positive",
    "forward": "along the channels that are read",
}


def _program(name: str) -> IRModule:
    """Return the program of a panel, before the pass."""
    x, w = relay.var("x", shape=(1, 2, 8, 8)), relay.var("w", shape=(2, 2, 3, 3))
    b, s = relay.var("b", shape=(2, 1, 1)), relay.const([[[2.0]], [[3.0]]], "float32")
    data = x * s if name == "forward" else x
    body: Expr = relay.nn.conv2d(data, w, channels=2, kernel_size=(3, 3))
    if name == "past a sum":
        body = body + b
    elif name == "past a ReLU":
        body = relay.nn.relu(body)
    if name != "forward":
        body = body * s
    params = [x, w, b] if name == "past a sum" else [x, w]
    return InferType()(IRModule.from_expr(relay.Function(params, body)))


def _scaled(name: str) -> IRModule:
    """Return the program of a panel, after the pass."""
    fold: Pass = ForwardFoldScaleAxis() if name == "forward" else BackwardFoldScaleAxis()
    return fold(_program(name))


def _drawn(module: IRModule) -> tuple[dict[str, Box], list[Arrow]]:
    """Return the boxes and arrows of a program. A weight or a bias with its scale is one box."""
    calls = [node for node in post_order(module["main"]) if isinstance(node, Call)]
    inside: set[Expr] = set()  # what is a part of another box
    weights: list[Expr] = []
    for call in calls:
        second = call.args[1] if len(call.args) > 1 else None
        if second is not None and as_op(call.op).name == "nn.conv2d":
            weights.append(second)
            inside.update(post_order(second))
        elif second is not None:
            inside.update(post_order(second))
    inside.difference_update(weights)

    def box(name: str, data: dict[str, Any]) -> Box | None:
        expr = data["expr"]
        if expr in inside or data["kind"] not in ("Var", "Call"):
            return None
        if expr in weights:
            return _step("w·s", True) if isinstance(expr, Call) else _step("w")
        if name == "add":
            scaled = isinstance(expr.args[1], Call)
            return _step("+ b·s" if scaled else "+ b", scaled)
        if name == "multiply":
            return _step("· s", True)
        return _step({"conv2d": "conv"}.get(name, name))

    return program_graph(module["main"], box)


def draw(c: Canvas) -> None:
    for number, (name, says) in enumerate(PANELS.items()):
        x, y = 7 + (PANEL_W + 6) * (number % 2), 7 + (PANEL_H + 8) * (number // 2)
        c.box(x, y, PANEL_W, PANEL_H, fill="panel", edge="edge")
        c.text(x + PANEL_W / 2, y + 25, name, size=15, bold=True, anchor="middle")
        draw_graph(c, *_drawn(_program(name)), x + 54, y + 42, ranks_apart=18)
        c.line((x + 103, y + 112), (x + 127, y + 112), edge="ink", width=2, arrow=True)
        draw_graph(c, *_drawn(_scaled(name)), x + 172, y + 42, ranks_apart=18)
        c.text(x + PANEL_W / 2, y + PANEL_H - 12, says, size=12.5, color="soft", anchor="middle")


FIGURE = Figure(
    "scales", WIDTH, HEIGHT, "A scale moves into the weight of a convolution",
    """Four panels, each a program before and after. Backward: conv of x and w, times s, becomes conv of x
    and w times s, if conv has no other user. Past a sum: conv, plus b, times s, becomes conv with the
    weight times s, plus b times s: b is scaled as well. Past a ReLU: conv, relu, times s becomes conv
    with the weight times s, relu, only if s is positive. Forward: x times s, read by conv with w, becomes
    conv of x with w times s, along the channels that are read. A thick frame marks the scale.""",
    draw,
)  # fmt: skip
