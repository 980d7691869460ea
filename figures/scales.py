"""How a scale moves into a weight: four small programs, before and after."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph

WIDTH, HEIGHT = 480, 490
PANEL_W, PANEL_H = 230, 234
Program = tuple[tuple[Box, ...], tuple[tuple[int, int], ...]]  # boxes, and arrows between their numbers


def _step(text: str, scaled: bool = False) -> Box:
    hue, stroke = ("hue-orange", 2.4) if scaled else ("edge", 1.5)
    wide = 15 + 7.6 * len(text)
    return Box(text, hue, scaled, width=wide, height=26, stroke=stroke, radius=6, bold=scaled)


X, W, CONV, RELU = map(_step, ("x", "w", "conv", "relu"))
S, WS = _step("· s", True), _step("w·s", True)
INTO = ((0, 2), (1, 2))
PANELS: tuple[tuple[str, Program, Program, str], ...] = (
    (
        "backward",
        ((X, W, CONV, S), (*INTO, (2, 3))),
        ((X, WS, CONV), INTO),
        "if conv has no other user",
    ),
    (
        "past a sum",
        ((X, W, CONV, _step("+ b"), S), (*INTO, (2, 3), (3, 4))),
        ((X, WS, CONV, _step("+ b·s", True)), (*INTO, (2, 3))),
        "b is scaled as well",
    ),
    (
        "past a ReLU",
        ((X, W, CONV, RELU, S), (*INTO, (2, 3), (3, 4))),
        ((X, WS, CONV, RELU), (*INTO, (2, 3))),
        "only if s is positive",
    ),
    (
        "forward",
        ((X, S, W, CONV), ((0, 1), (1, 3), (2, 3))),
        ((X, WS, CONV), INTO),
        "along the channels that are read",
    ),
)


def _program(c: Canvas, program: Program, middle: float, top: float) -> None:
    boxes, edges = program
    nodes = {str(number): box for number, box in enumerate(boxes)}
    arrows = [Arrow(str(start), str(end)) for start, end in edges]
    draw_graph(c, nodes, arrows, middle, top, ranks_apart=18)


def draw(c: Canvas) -> None:
    for number, (name, before, after, says) in enumerate(PANELS):
        x, y = 7 + (PANEL_W + 6) * (number % 2), 7 + (PANEL_H + 8) * (number // 2)
        c.box(x, y, PANEL_W, PANEL_H, fill="panel", edge="edge")
        c.text(x + PANEL_W / 2, y + 25, name, size=15, bold=True, anchor="middle")
        _program(c, before, x + 54, y + 42)
        c.line((x + 103, y + 112), (x + 127, y + 112), edge="ink", width=2, arrow=True)
        _program(c, after, x + 172, y + 42)
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
