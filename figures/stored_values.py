"""When each value of a layer is alive: in the forward pass, and stored for the backward pass; drawn from the
differentiation that `gradient` draws, too.
"""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.gradient import kept, run
from relay_explorer.views.gradient.format import Kept

WIDTH, HEIGHT = 480, 330
LEFT, UNIT, TOP, STEP = 92, 31, 94, 34


def lifetimes() -> list[tuple[str, int, int, int]]:
    """Return each value's name, the step that computes it, and its last use in each pass (0: none)."""
    view = run()
    values = [number for number, value in enumerate(view.values) if not value.given]
    step = {value: number for number, value in enumerate(values, 1)}
    rows = []
    for value in values:
        last = max((step[user] for user in view.values[value].users if user in step), default=step[value])
        uses = [2 * len(values) + 1 - step[at] for v, at, how in kept() if v == value and how == Kept.NUMBERS]
        rows.append((view.values[value].name, step[value], last, max(uses, default=0)))
    return rows


def draw(c: Canvas) -> None:
    rows = lifetimes()
    half = len(rows)
    middle = LEFT + UNIT * half
    right = LEFT + UNIT * 2 * half
    c.text((LEFT + middle) / 2, 26, "forward pass", size=15, bold=True, anchor="middle")
    c.text((middle + right) / 2, 26, "backward pass", size=15, bold=True, anchor="middle")
    names = [run().values[n].label.rpartition(".")[2] for n, v in enumerate(run().values) if not v.given]
    for number in range(2 * half):
        x = LEFT + UNIT * (number + 0.5)
        c.text(x, 52, str(number + 1), size=13, anchor="middle", color="soft")
    c.text(LEFT + 4, 72, f"{names[0]} → {names[-1]}", size=13, color="soft", mono=True)
    c.text(middle + 8, 72, f"{names[-1]} → {names[0]}", size=13, color="soft", mono=True)
    base = TOP + STEP * half
    c.line((middle, 38), (middle, base), edge="edge", dashed=True)
    for row, (name, computed, last, back) in enumerate(rows):
        y = TOP + STEP * row - 8
        c.text(8, y + 16, name, size=14, mono=True)
        start, end = LEFT + UNIT * (computed - 1), LEFT + UNIT * last
        if back:
            stop = LEFT + UNIT * back
            c.box(end, y, stop - end, 22, fill="run-bg", edge="run", dashed=True, radius=4)
            c.text((end + stop) / 2, y + 16, "stored", size=13, anchor="middle", color="run")
        c.box(start + 1, y, end - start - 1, 22, fill="known-bg", edge="known", radius=4)
    c.line((LEFT, base + 2), (right, base + 2), edge="soft", arrow=True)
    c.text(LEFT, base + 22, "time, in steps", size=13, color="soft")


FIGURE = Figure(
    "stored_values", WIDTH, HEIGHT, "When the values of a layer are alive",
    """A time line of twelve steps, six of the forward pass and six of the backward pass, and a bar for each
    value. h is alive in steps 1 and 2, z in 2 and 3, y in 3 and 4 and stored until step 10, e in 4 and 5 and
    stored until step 8, q in 5 and 6, loss in 6.""",
    draw,
)  # fmt: skip
