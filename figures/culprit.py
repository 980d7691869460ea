"""Which pass changed the answer: the values of chapter 14's program after each pass, from a run."""

from __future__ import annotations

from functools import cache

import numpy as np

from figures.canvas import Canvas, Figure
from relay_explorer import relay

WIDTH, HEIGHT = 480, 234
ROW, TOP = 40, 56
PASSES = ("as given", "NoOnes", "OneRelu", "NoRoots")
PROGRAMS = (
    "nn.relu(nn.relu(sqrt(%0 * %0) * 1f))",
    "nn.relu(nn.relu(sqrt(%0 * %0)))",
    "nn.relu(sqrt(%0 * %0))",
    "nn.relu(%0)",
)


@cache
def values() -> tuple[tuple[str, ...], ...]:
    """Return what the program computes, as given and after each pass."""
    data = np.array([-2, -1, 1, 2], "float32")
    rows = []
    for body in PROGRAMS:
        module = relay.parse(f"def @main(%x: Tensor[(4), float32]) {{ %0 = tanh(%x); {body} }}")
        result = relay.create_executor(mod=module).evaluate()(data).numpy()
        rows.append(tuple(f"{element:.2f}" for element in result))
    return tuple(rows)


def draw(c: Canvas) -> None:
    c.text(16, 28, "after", size=14, bold=True)
    c.text(150, 28, "`main([-2, -1, 1, 2])` gives", size=14, bold=True)
    for row, (name, elements) in enumerate(zip(PASSES, values(), strict=True)):
        y = TOP + ROW * row
        changed = row > 0 and elements != values()[row - 1]
        hue = "bad" if changed else "known"
        c.box(12, y - 13, 104, 30, fill="bad-bg" if changed else "panel", edge="bad" if changed else "edge")
        c.text(64, y + 7, name, size=13.5, anchor="middle", mono=row > 0, bold=changed)
        if row:
            c.line((64, y - 23), (64, y - 15), edge="ink", arrow=True)
        for column, element in enumerate(elements):
            x = 152 + 52 * column
            differs = row > 0 and element != values()[row - 1][column]
            c.box(
                x, y - 13, 48, 30,
                fill="bad-bg" if differs else "known-bg", edge="bad" if differs else "known", radius=4,
            )  # fmt: skip
            c.text(
                x + 24,
                y + 7,
                element,
                size=13,
                mono=True,
                anchor="middle",
                color=hue if differs else "known",
            )
        if row:
            words = "changed" if changed else "same"
            c.text(370, y + 7, words, size=13.5, bold=changed, color="bad" if changed else "soft")
    c.text(
        12, HEIGHT - 14, "The first row that differs from the one above it names the faulty pass.", size=13
    )


FIGURE = Figure(
    "culprit", WIDTH, HEIGHT, "Finding the pass that changed an answer",
    """Four rows of four elements each: the program's result as given, after NoOnes, after OneRelu and after
    NoRoots. The first three rows are the same: 0.96, 0.76, 0.76, 0.96. In the last row the first two elements
    have become 0.00, and the row is marked as changed: NoRoots is the faulty pass.""",
    draw,
)  # fmt: skip
