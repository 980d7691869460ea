"""A layer's forward and backward pass: the operators that each gradient rule adds, and the values stored in
between; drawn from a run of the differentiation.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from textwrap import wrap

from figures.canvas import Canvas, Figure
from relay_explorer.text import parse
from relay_explorer.views.gradient.format import GradientView, Kept, Role
from relay_explorer.views.gradient.view import gradient_view
from relay_explorer.views.words import counted

WIDTH, HEIGHT = 480, 462
TOP, STEP, TALL = 66, 62, 42
LEFT, LEFT_WIDE, RIGHT, RIGHT_WIDE = 20, 128, 262, 200
PROGRAM = """
def @main(%x: Tensor[(1, 4), float32], %w: Tensor[(3, 4), float32], %b: Tensor[(3), float32],
          %t: Tensor[(1, 3), float32]) {
  let %h = nn.dense(%x, %w);
  let %z = nn.bias_add(%h, %b);
  let %y = tanh(%z);
  let %e = subtract(%y, %t);
  let %q = multiply(%e, %e);
  let %loss = sum(%q);
  %loss
}
"""


@cache
def run() -> GradientView:
    return gradient_view(parse(PROGRAM))


def _operator(tokens: str) -> str:
    """Return the operator of a line: `multiply` for `%g2 = multiply(%d_q, %e)`; "" for a constant."""
    call = tokens.partition(" = ")[2]
    return call.partition("(")[0].rpartition(".")[2] if "(" in call else ""


def added(value: int) -> str:
    """Return the operators that the backward pass adds beside a value, with counts."""
    texts = ["".join(t.text for t in line.tokens) for line in run().lines if line.value == value]
    counts = Counter(filter(None, map(_operator, texts)))
    return ", ".join(name if times == 1 else f"{name} ×{times}" for name, times in counts.items())


def kept() -> list[tuple[int, int, Kept]]:
    """Return each use of a computed value in the backward pass: the value, the value of the row that uses it,
    and how.
    """
    view = run()
    uses = {(use.value, line.value, use.how) for line in view.lines for use in line.uses}
    return sorted((v, at, how) for v, at, how in uses if not view.values[v].given)


def draw(c: Canvas) -> None:
    view = run()
    rows = [number for number, value in enumerate(view.values) if not value.given]
    y = {value: TOP + STEP * place for place, value in enumerate(rows)}
    c.box(8, 8, LEFT_WIDE + 24, HEIGHT - 16, fill="panel", edge="edge")
    c.box(RIGHT - 12, 8, RIGHT_WIDE + 24, HEIGHT - 16, fill="panel", edge="edge")
    c.text(LEFT + LEFT_WIDE / 2, 34, "Forward ↓", size=15, bold=True, anchor="middle")
    c.text(RIGHT + RIGHT_WIDE / 2, 34, "Backward ↑", size=15, bold=True, anchor="middle")
    for place, value in enumerate(rows):
        result, at = view.values[value], y[value]
        c.box(LEFT, at, LEFT_WIDE, TALL, fill="paper", edge="known")
        c.text(LEFT + 10, at + 26, f"{result.name} = {result.label.rpartition('.')[2]}", size=13, mono=True)
        sums = any(line.value == value and line.role == Role.SUM for line in view.lines)
        edge = "run" if sums else "hue-blue"
        c.box(RIGHT, at, RIGHT_WIDE, TALL, fill="paper", edge=edge)
        lines = wrap(added(value), 25)
        for number, text in enumerate(lines):
            c.text(RIGHT + 10, at + (26 if len(lines) == 1 else 18 + 16 * number), text, size=12.5, mono=True)
        if place:
            c.line((LEFT + 64, at - STEP + TALL), (LEFT + 64, at), edge="known", arrow=True)
            c.line((RIGHT + 100, at), (RIGHT + 100, at - STEP + TALL), edge="hue-blue", arrow=True)
    for value, at, how in kept():
        start, end = (LEFT + LEFT_WIDE, y[value] + TALL / 2), (RIGHT - 2, y[at] + TALL / 2)
        numbers = how == Kept.NUMBERS
        c.line(start, end, edge="run" if numbers else "soft", dashed=True, arrow=True)
        label = counted(view.values[value].bytes, "byte") if numbers else "shape"
        x, up = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        aside = 0 if value == at else 14  # on a sloping line, the label is to its right
        c.text(x + aside, up - 8, label, size=12.5, anchor="middle")
    c.text(LEFT + LEFT_WIDE / 2, HEIGHT - 20, "the result: %loss", size=13, color="soft", anchor="middle")
    c.text(RIGHT + RIGHT_WIDE / 2, HEIGHT - 20, "starts with 1", size=13, color="soft", anchor="middle")


FIGURE = Figure(
    "gradient", WIDTH, HEIGHT, "A layer and its backward pass",
    """Two columns, row beside row. Forward, downward: dense, bias_add, tanh, subtract, multiply, sum. The
    backward pass, upward: beside sum stand ones, two of expand_dims and broadcast_to_like; beside
    multiply two of multiply; beside subtract add and negative; beside tanh two of multiply and subtract;
    beside bias_add sum; beside dense three of transpose and two of dense. Dashed arrows go from left to
    right: from tanh to its own rule, 12 bytes; from subtract to the rule of multiply, 12 bytes; from
    multiply to the rule of sum, of which only the shape is used.""",
    draw,
)  # fmt: skip
