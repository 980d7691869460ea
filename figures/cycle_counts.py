"""Finding garbage cycles: subtract the references from inside; what is left comes from outside."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 316


def _value(c: Canvas, x: float, y: float, name: str, count: int, left: int) -> None:
    held = left > 0
    hue = "hue-teal" if held else "edge"
    c.box(x, y, 92, 40, fill="hue-teal-fill" if held else "none", edge=hue, dashed=not held, radius=6)
    c.text(x + 46, y + 25, name, size=14, anchor="middle", mono=True)
    c.text(x + 46, y + 60, f"{count} − 1 = {left}", size=14, bold=True, anchor="middle")


def _ring(c: Canvas, y: float, outside: bool) -> None:
    left, right = 130, 300
    _value(c, left, y, "cell", 2 if outside else 1, 1 if outside else 0)
    # The node stays because the cell leads to it.
    _value(c, right, y, "Node", 1, 0)
    if outside:
        c.box(right, y, 92, 40, fill="hue-teal-fill", edge="hue-teal", radius=6)
        c.text(right + 46, y + 25, "Node", size=14, anchor="middle", mono=True)
        c.box(20, y + 9, 40, 23, fill="paper", edge="hue-orange", radius=4)
        c.text(40, y + 25, "r1", size=13.5, mono=True, anchor="middle")
        c.line((62, y + 20), (left - 2, y + 20), edge="hue-orange", width=1.5, arrow=True)
    c.line((left + 94, y + 11), (right - 2, y + 11), edge="hue-blue", width=1.5, arrow=True)
    c.line((right - 2, y + 30), (left + 95, y + 30), edge="hue-blue", width=1.5, arrow=True)


def draw(c: Canvas) -> None:
    c.text(10, 22, "no reference from outside", size=14, bold=True)
    _ring(c, 40, False)
    c.text(10, 132, "Nothing is left, so both are garbage: freed.", size=13.5)
    c.line((10, 154), (470, 154), edge="line", width=1)
    c.text(10, 182, "a register still refers to the cell", size=14, bold=True)
    _ring(c, 200, True)
    c.text(10, 292, "The cell is reachable and refers to the node: both stay.", size=13.5)


FIGURE = Figure(
    "cycle_counts", WIDTH, HEIGHT, "Subtracting the references inside a cycle",
    """Two cases of a cell and a Node that refer to each other. Above, nothing else refers to them: each has
    count 1, minus one reference from inside the cycle leaves 0, and both are freed. Below, a register refers
    to the cell too: its count 2 minus 1 leaves 1, so it is reachable from outside and stays, and the Node
    stays because the cell refers to it.""",
    draw,
)  # fmt: skip
