"""Backpropagation by hand: a small graph with its values and its derivatives."""

from __future__ import annotations

from math import atan2

from figures.canvas import Canvas, Figure, Point, number
from figures.graph import Arrow, Box, draw_arrow, lay_out

WIDTH, HEIGHT = 480, 412
X, W, T = 3, 2, 5
WIDE, TALL = 124, 48


def forward() -> dict[str, int]:
    """Return the values of `q = (x·w − t)²`."""
    h = X * W
    e = h - T
    return {"x": X, "w": W, "t": T, "h": h, "e": e, "q": e * e}


def backward() -> dict[str, int]:
    """Return the derivatives of `q`, rule by rule."""
    value = forward()
    dq = 1
    de = dq * value["e"] + dq * value["e"]  # used twice: a sum
    return {"q": dq, "e": de, "h": de, "t": -de, "x": de * value["w"], "w": de * value["x"]}


MADE = {"h": "x · w", "e": "h − t", "q": "e · e"}
EDGES = (("x", "h"), ("w", "h"), ("h", "e"), ("t", "e"), ("e", "q"), ("e", "q"))


def _label(c: Canvas, name: str, x: float, y: float) -> None:
    text = f"{name} = {MADE[name]} = {forward()[name]}" if name in MADE else f"{name} = {forward()[name]}"
    c.text(x, y - 4, text, size=13, mono=True, anchor="middle")
    slope = str(backward()[name]).replace("-", "−")
    c.text(x, y + 16, f"d{name} = {slope}", size=14, mono=True, bold=True, anchor="middle", color="run")


def _back(c: Canvas, curve: list[Point], label: str) -> None:
    """Draw a curve from its last point to its first, and the derivative that flows along it."""
    (x0, y0), (x1, y1), *_, (x2, y2) = curve
    steps = " ".join(f"{number(x)} {number(y)}" for x, y in curve[1:])
    c.path(f"M{number(x0)} {number(y0)}C{steps}", edge="run", dashed=True)
    c.head(x0, y0, atan2(y0 - y1, x0 - x1), "run")
    c.text((x0 + x2) / 2 + 12, (y0 + y2) / 2 + 7, label, size=14, mono=True, color="run")


def draw(c: Canvas) -> None:
    value, slope = forward(), backward()
    nodes = {name: Box("", "known" if name in MADE else "edge", width=WIDE, height=TALL) for name in "xwhteq"}
    parts = [slope["x"], slope["w"], slope["h"], slope["t"], value["e"], value["e"]]
    arrows = [Arrow(start, end, head=head) for start, end in EDGES for head in (True, False)]
    layout = lay_out(nodes, arrows, apart=38, ranks_apart=58).moved(8, 20)
    for arrow, curve in zip(arrows, layout.curves, strict=True):
        if arrow.head:
            draw_arrow(c, arrow, curve)
        else:
            _back(c, curve[:-1], str(parts.pop(0)).replace("-", "−"))
    for name, box in nodes.items():
        box.draw(c, *layout.centers[name])
    for name, center in layout.centers.items():
        _label(c, name, *center)
    x, y = layout.centers["e"]
    c.lines(x + 74, y - 10, ["used twice:", "1 + 1 = 2"], size=13.5, color="run")
    c.line((386, 34), (386, 74), edge="known", arrow=True)
    c.text(398, 60, "forward", size=13.5)
    c.line((386, 128), (386, 88), edge="run", dashed=True, arrow=True)
    c.text(398, 114, "backward", size=13.5, color="run")


FIGURE = Figure(
    "backprop_numbers", WIDTH, HEIGHT, "Backpropagation through a small graph, with numbers",
    """A graph from top to bottom. Forward: x is 3 and w is 2; h = x times w = 6; t is 5; e = h minus t = 1;
    q = e times e = 1. Backward, dashed, from the bottom: dq is 1; two edges pass 1 each to e, so de is 2,
    because e is used twice; dh is 2 and dt is minus 2; dx is 4 and dw is 6.""",
    draw,
)  # fmt: skip
