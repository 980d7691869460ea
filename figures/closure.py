"""A closure: the code of a function, the values that it captured, and a call of it."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 270


def draw(c: Canvas) -> None:
    c.text(8, 24, "`adder(2)` returns a closure …", size=15, bold=True)
    c.box(8, 36, 464, 92, fill="hue-purple-fill", edge="hue-purple", radius=12)
    c.box(24, 52, 250, 60, fill="paper", edge="edge")
    c.text(149, 72, "code", size=13, anchor="middle", color="soft")
    c.text(149, 98, "fn (%b) { %a + %b }", size=14.5, mono=True, anchor="middle")
    c.box(306, 52, 150, 60, fill="paper", edge="hue-orange", width=2)
    c.text(381, 72, "captured", size=13, anchor="middle", color="soft")
    c.text(381, 98, "%a = 2", size=14.5, mono=True, anchor="middle", color="hue-orange")

    c.text(8, 162, "… and `plus_two(40)` runs it in a new frame.", size=15, bold=True)
    c.box(8, 174, 266, 62, fill="paper", edge="run")
    c.text(141, 194, "stack frame of the call", size=13, anchor="middle", color="soft")
    c.text(141, 221, "%b = 40", size=14.5, mono=True, anchor="middle", color="run")
    c.line((381, 112), (381, 190), edge="hue-orange", width=2, arrow=True)
    c.line((274, 212), (306, 212), edge="run", width=2, arrow=True)
    c.text(381, 217, "2 + 40 = 42", size=14.5, mono=True, anchor="middle", bold=True)
    c.text(WIDTH / 2, 260, "The frame in which `%a` was bound is gone by then.", size=13, anchor="middle",
           color="soft")  # fmt: skip


FIGURE = Figure(
    "closure", WIDTH, HEIGHT, "What a closure contains",
    """Above, a closure as a box with two parts: the code, a function of b that adds a and b, and the captured
    value, a is 2. Below, a call of it: a new stack frame has b is 40. Arrows from the captured value and from
    the frame lead to the result, 2 plus 40 is 42. The frame in which a was bound no longer exists.""",
    draw,
)  # fmt: skip
