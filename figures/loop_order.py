"""One row of a result under two primitives: split keeps the order, vectorize takes eight elements at once."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 318
ELEMENTS, LANES = 32, 8
LEFT, STEP, TALL = 18, 14.0, 26
GAP = 6  # between groups


def _title(c: Canvas, y: float, code: str, says: str) -> None:
    c.text(LEFT, y, code, size=13.5, mono=True, bold=True)
    c.text(LEFT + ELEMENTS * STEP, y, says, size=13, anchor="end", color="soft")


def _cells(c: Canvas, y: float, groups: bool) -> None:
    for element in range(ELEMENTS):
        x = LEFT + STEP * element + (GAP * (element // LANES) - 9 if groups else 0)
        hue = ("blue", "orange")[element // LANES % 2] if groups else "grey"
        c.box(x, y, STEP, TALL, fill=f"hue-{hue}-fill", edge=f"hue-{hue}", width=1, radius=2)


def draw(c: Canvas) -> None:
    end = LEFT + ELEMENTS * STEP
    _title(c, 22, "for j < 32", "32 iterations")
    _cells(c, 34, groups=False)
    c.line((LEFT + 6, 74), (end - 4, 74), edge="ink", arrow=True)
    _title(c, 124, "for j_0 < 4: for j_1 < 8", "4 × 8 iterations, same order")
    _cells(c, 136, groups=True)
    for group in range(ELEMENTS // LANES):
        x = LEFT - 9 + (STEP * LANES + GAP) * group
        c.line((x + 6, 176), (x + STEP * LANES - 4, 176), edge="ink", arrow=True)
    _title(c, 226, "for j_0 < 4: 8 lanes", "4 iterations")
    for group in range(ELEMENTS // LANES):
        x = LEFT - 9 + (STEP * LANES + GAP) * group
        hue = ("blue", "orange")[group % 2]
        c.box(x, 238, STEP * LANES, TALL, fill=f"hue-{hue}-fill", edge=f"hue-{hue}", width=2.4, radius=6)
        c.text(x + STEP * LANES / 2, 256, "one vector", size=13, anchor="middle")
        if group:
            c.line((x - STEP * LANES / 2 + 8, 278), (x + STEP * LANES / 2 - 12, 278), edge="ink", arrow=True)
    c.text(LEFT, 306, "Between the first and the second: `split`. Before the third: `vectorize`.", size=13)


FIGURE = Figure(
    "loop_order", WIDTH, HEIGHT, "A row of elements under split and vectorize",
    """A row of 32 elements, three times. First a single loop, j below 32, computes them from left to right in
    32 iterations. Second, after split, a loop j_0 below 4 contains a loop j_1 below 8: the elements form four
    groups of eight and are computed in the same order. Third, after vectorize, each group is one vector, and
    there are 4 iterations that compute eight elements each.""",
    draw,
)  # fmt: skip
