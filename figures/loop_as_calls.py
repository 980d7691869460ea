"""The iterations of a `while` loop, and the same iterations as tail calls."""

from __future__ import annotations

import numpy as np

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 432
WEIGHT = np.array([[0.6, -0.5, 0.2], [0.5, 0.6, 0.1], [-0.1, 0.3, 0.7]], "float32")
MESSAGE = np.array([[2.0, 1.5, 1.0]], "float32")  # "I love it!"
LIMIT = 0.0001
CODE = (
    "h, count = zeros, 1",
    "while True:",
    "    new = tanh(h @ W.T + x)",
    "    if change < 0.0001:",
    "        return new, count",
    "    h, count = new, count + 1",
)


def changes() -> list[float]:
    """Return the largest change of the state in each iteration, until it is below the limit."""
    state = np.zeros((1, 3), "float32")
    result: list[float] = []
    while not result or result[-1] >= LIMIT:
        new = np.tanh(state @ WEIGHT.T + MESSAGE)
        result.append(float(np.abs(new - state).max()))
        state = new
    return result


def draw(c: Canvas) -> None:
    c.text(8, 22, "A loop overwrites its variables …", size=15, bold=True)
    c.box(8, 34, 278, 148, fill="panel", edge="edge")
    c.lines(20, 58, CODE, size=13.5, leading=1.62, mono=True)
    c.box(322, 62, 150, 84, fill="hue-teal-fill", edge="hue-teal")
    c.text(397, 94, "h", size=14.5, mono=True, anchor="middle")
    c.text(397, 124, "count", size=14.5, mono=True, anchor="middle")
    c.line((286, 166), (397, 166), (397, 150), edge="hue-teal", width=2, arrow=True)
    c.text(397, 52, "two variables", size=13, anchor="middle", color="soft")

    c.text(8, 216, "… a recursion passes new values along.", size=15, bold=True)
    values = changes()
    for index, change in enumerate(values):
        y = 232 + 40 * index
        last = index == len(values) - 1
        c.box(8, y, 178, 28, fill="hue-teal-fill", edge="hue-teal")
        c.text(97, y + 19, f"@settle(h{index}, {index + 1}, …)", size=13.5, mono=True, anchor="middle")
        c.text(204, y + 19, f"change {change:.5f}", size=13, color="soft")
        if last:
            c.text(330, y + 19, f"returns (h{index + 1}, {index + 1})", size=13.5, mono=True)
        else:
            c.line((97, y + 28), (97, y + 39), edge="hue-teal", width=2, arrow=True)
            c.text(330, y + 19, "calls itself", size=13)


FIGURE = Figure(
    "loop_as_calls", WIDTH, HEIGHT, "A while loop, and the same loop as tail calls",
    """Above, a Python loop in a box, and beside it the two variables h and count, which each iteration
    overwrites. Below, the same loop as five calls of a function settle, one below the other: each is called
    with a new state and the next count, and the change of the state gets smaller from call to call. The fifth
    call finds the change below the limit and returns the state and the number 5.""",
    draw,
)  # fmt: skip
