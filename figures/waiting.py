"""Stack frames of two recursions over time, as the interpreter recorded them."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from relay_explorer.execute import Evaluation, record
from relay_explorer.execute.record import Activation
from relay_explorer.text import parse

WIDTH, HEIGHT = 480, 344
LEFT, UNIT, ROW = 12, 20.6, 34
STACKED = "def @main(%n: int32) -> int32 { if (%n == 0) { 0 } else { %n + @main(%n - 1) } }"
TAIL = """
def @main(%n: int32, %total: int32) -> int32 {
  if (%n == 0) { %total } else { @main(%n - 1, %total + %n) }
}
"""


def depth(activation: Activation) -> int:
    """Count the frames below a call on the stack. (A tail call reuses the frame of its caller.)"""
    return 0 if activation.caller is None else 1 + depth(activation.caller)


def runs(evaluation: Evaluation, activation: Activation) -> list[tuple[int, int]]:
    """Return the intervals of steps in which a call runs: the first and the last step of each."""
    intervals: list[tuple[int, int]] = []
    for number, step in enumerate(evaluation.steps):
        if step.activation is activation:
            if intervals and intervals[-1][1] == number - 1:
                intervals[-1] = (intervals[-1][0], number)
            else:
                intervals.append((number, number))
    return intervals


def _panel(c: Canvas, y: float, title: str, evaluation: Evaluation) -> None:
    c.text(LEFT, y, title, size=14)
    deepest = max(map(depth, evaluation.activations))
    for activation in evaluation.activations:
        top = y + 16 + ROW * (deepest - depth(activation))
        mine = runs(evaluation, activation)
        first, last = mine[0][0], mine[-1][1]
        if len(mine) > 1:
            start, end = LEFT + UNIT * (mine[0][1] + 1), LEFT + UNIT * last
            for y_edge in (top + 4, top + ROW - 8):
                c.line((start + 2, y_edge), (end - 2, y_edge), edge="queued", dashed=True)
            c.text((start + end) / 2, top + 20, "waits", size=13, anchor="middle", color="soft")
        for begin, end in mine:
            w = UNIT * (end + 1 - begin)
            c.box(LEFT + UNIT * begin + 1, top, w - 2, ROW - 4, fill="run-bg", edge="run", radius=6)
        n = int(activation.frame[0])
        c.text(LEFT + UNIT * first + 10, top + 20, f"%n = {n}", size=13, mono=True, color="run")
    base = y + 16 + ROW * (deepest + 1) + 6
    end = LEFT + UNIT * len(evaluation.steps)
    c.line((LEFT, base), (end, base), edge="soft", arrow=True)
    c.text(LEFT, base + 19, f"{len(evaluation.steps)} steps", size=13, color="soft")


def draw(c: Canvas) -> None:
    _panel(c, 24, "`%n + @main(%n - 1)`: the addition follows the call", record(parse(STACKED), 3))
    _panel(c, 242, "`@main(%n - 1, %total + %n)`: a tail call", record(parse(TAIL), 3, 0))


FIGURE = Figure(
    "waiting", WIDTH, HEIGHT, "Stack frames of two recursions",
    """Two recursions over time, each stack frame a bar. Above, the addition follows the call: the frame for
    n = 3 waits for that of n = 2, which waits for that of n = 1, which waits for that of n = 0; then each
    continues, in the opposite order. The stack is four frames high. Below, the total is passed along as a
    parameter: each call replaces the frame of the one before, and the stack stays at one frame.""",
    draw,
)  # fmt: skip
