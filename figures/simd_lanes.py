"""One vector instruction in eight lanes: a broadcast element times a vector, added to a vector."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 262
LANES = 8
LEFT, STEP, TALL = 92, 46.0, 30


def _row(c: Canvas, y: float, name: str, texts: list[str], hue: str) -> None:
    c.text(LEFT - 12, y + 20, name, size=13.5, mono=True, anchor="end")
    for lane, text in enumerate(texts):
        x = LEFT + STEP * lane
        c.box(x, y, STEP - 5, TALL, fill=f"hue-{hue}-fill", edge=f"hue-{hue}", width=1.4, radius=4)
        c.text(x + (STEP - 5) / 2, y + 20, text, size=13.5, anchor="middle", mono=True)


def draw(c: Canvas) -> None:
    c.text(LEFT - 12, 26, "lane", size=13, anchor="end", color="soft")
    for lane in range(LANES):
        middle = LEFT + STEP * lane + (STEP - 5) / 2
        c.text(middle, 26, str(lane), size=13, anchor="middle", color="soft")
        for y, sign in ((88, "×"), (140, "+")):
            c.text(middle, y, sign, size=16, anchor="middle")
        c.line((middle, 186), (middle, 200), edge="soft", arrow=True)
    _row(c, 38, "a[i, k]", ["a"] * LANES, "orange")
    _row(c, 96, "b[k, j:]", [f"b{lane}" for lane in range(LANES)], "blue")
    _row(c, 150, "c[i, j:]", [f"c{lane}" for lane in range(LANES)], "purple")
    _row(c, 204, "c[i, j:]", [f"c{lane}" for lane in range(LANES)], "purple")
    c.text(LEFT - 12, 192, "before", size=13, anchor="end", color="soft")
    c.text(LEFT - 12, 246, "after", size=13, anchor="end", color="soft")


FIGURE = Figure(
    "simd_lanes", WIDTH, HEIGHT, "One multiply-add instruction in eight lanes",
    """Eight lanes side by side. In each lane the same element of a, which has been broadcast, is multiplied
    with its own element of b, b0 to b7, and the product is added to its own element of c, c0 to c7. One
    instruction does all eight. The elements of b and those of c are neighbors in memory.""",
    draw,
)  # fmt: skip
