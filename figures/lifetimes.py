"""Lifetimes of the same eight values in two orders of evaluation."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 396
LEFT, COLUMN, ROW = 92, 41, 25
VECTORS = ("exp", "tanh", "sqrt", "sigmoid")
LAST = 8  # the step that adds the four sums
LATE = tuple(range(4)), tuple(range(4, 8))
EARLY = tuple(range(0, 8, 2)), tuple(range(1, 8, 2))


def _bar(c: Canvas, y: float, first: int, last: int, label: str, height: float = 19) -> None:
    x = LEFT + COLUMN * first + 2
    width = COLUMN * (last + 1 - first) - 4
    c.box(x, y, width, height, fill="run-bg", edge="run", radius=5)
    c.text(x + width / 2, y + 14.5, label, size=13, anchor="middle", mono=True, color="run")


def _panel(c: Canvas, y: float, title: str, steps: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    vectors, sums = steps
    c.text(8, y, title, size=14.5, bold=True)
    top = y + 16
    for row, name in enumerate(VECTORS):
        c.text(LEFT - 8, top + ROW * row + 15, name, size=13, mono=True, anchor="end")
        _bar(c, top + ROW * row, vectors[row], sums[row], f"%v{row}")
    base = top + ROW * len(VECTORS) + 6
    c.line((LEFT, base), (LEFT + COLUMN * (LAST + 1), base), edge="soft", arrow=True)
    c.text(LEFT - 8, base + 19, "live vectors", size=13, color="soft", anchor="end")
    for step in range(LAST + 1):
        live = sum(v <= step <= s for v, s in zip(vectors, sums, strict=True))
        c.text(LEFT + COLUMN * (step + 0.5), base + 19, str(live), size=13.5, anchor="middle", bold=live == 4)


def draw(c: Canvas) -> None:
    _panel(c, 22, "All vectors first: at most 16,004 bytes", LATE)
    c.line((8, 186), (472, 186), edge="line")
    _panel(c, 212, "Each sum early: at most 4,016 bytes", EARLY)
    c.text(WIDTH / 2, HEIGHT - 10, "Time runs from left to right, one column per step.", size=13,
           anchor="middle", color="soft")  # fmt: skip


FIGURE = Figure(
    "lifetimes", WIDTH, HEIGHT, "Lifetimes in two orders of evaluation",
    """Two charts of nine steps each, with one bar for each of four vectors, from the step that computes it to
    the step that sums it up. Above, all vectors are computed first: each bar is five steps long, and four
    bars overlap in the middle, so four vectors are live at once. Below, each vector is summed up right after
    it was computed: each bar is two steps long, none overlap, and one vector is live at a time.""",
    draw,
)  # fmt: skip
