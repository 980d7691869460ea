"""A match that may be moved, and the same match with a user outside of it."""

from __future__ import annotations

from dataclasses import replace

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_layout, lay_out, only_calls, program_graph
from relay_explorer.text import parse_expr

WIDTH, HEIGHT = 480, 316
PANEL = 229
MATCH = "%0 = nn.conv2d(%x, %w); %1 = add(tanh(%0), exp(%0));"
PROGRAMS = (f"{MATCH} %1", f"{MATCH} (%1, max(%0))")
INSIDE = ("add", "tanh", "exp", "conv2d")


def _panel(c: Canvas, number: int, name: str, foot: str, hue: str) -> None:
    """Draw a panel with the match; if the match has another user, that box and its arrow are colored."""
    edge = 8 + (PANEL + 6) * number
    c.box(edge, 8, PANEL, 300, fill="panel", edge="edge")
    c.text(edge + PANEL / 2, 32, name, size=15, bold=True, anchor="middle")
    c.text(edge + PANEL / 2, 296, foot, size=13, color="soft", anchor="middle")
    function = parse_expr(f"fn (%x, %w) {{ {PROGRAMS[number]} }}")
    nodes, arrows = program_graph(function, only_calls(width=60, height=34), to_operands=True)
    arrows.sort(key=lambda arrow: (arrow.start == "max", arrow.start != "add"))
    if number:
        nodes["max"] = Box("max", hue, width=48, height=34)
        arrows[-1] = replace(arrows[-1], edge=hue, width=2, weight=0)
    nodes = {name: nodes[name] for name in (*INSIDE, "max") if name in nodes}  # from the top
    arrows.append(Arrow("conv2d", "operands", "ink", weight=4))
    outside = Box("", "none", width=90, height=18)
    row = [name for name in nodes if name in {"tanh", "exp", "max"}]
    layout = lay_out(nodes | {"operands": outside}, arrows, apart=18, ranks_apart=30, rows=[row])
    layout = layout.moved(edge + (PANEL - layout.width) / 2 + 4 * number, 60)
    places = [layout.centers[name] for name in INSIDE]
    left, right = min(x for x, _ in places) - 38, max(x for x, _ in places) + 38
    top, bottom = min(y for _, y in places) - 25, max(y for _, y in places) + 25
    c.box(left, top, right - left, bottom - top, fill="known-bg", edge=hue, width=2, dashed=True, radius=14)
    draw_layout(c, nodes, arrows, layout)
    x, y = layout.centers["operands"]
    c.text(x, y + 5, "its operands", size=12.5, color="soft", anchor="middle")


def draw(c: Canvas) -> None:
    _panel(c, 0, "Closed", "becomes one function", "known")
    _panel(c, 1, "Not closed", "stays as it is", "hue-orange")


FIGURE = Figure(
    "closed", WIDTH, HEIGHT, "A match that may be moved, and one that may not",
    """The same match twice: add has arrows to tanh and to exp, and both have an arrow to one conv2d, whose
    operands are outside. A dashed line encloses the four. On the left nothing else uses them, so they
    become one function. On the right max, which is outside of the dashed line, has an arrow to conv2d too,
    so the match stays as it is.""",
    draw,
)  # fmt: skip
