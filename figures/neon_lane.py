"""Multiplying four weights by one element on AArch64: by a lane, or by a replicated element."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 392
LEFT, STEP, TALL, LANES = 110, 60.0, 28, 4


def _row(c: Canvas, y: float, name: str, texts: list[str], hue: str) -> None:
    c.text(LEFT - 12, y + 19, name, size=13.5, mono=True, anchor="end")
    for lane, text in enumerate(texts):
        x = LEFT + STEP * lane
        empty = not text
        c.box(
            x, y, STEP - 6, TALL,
            fill="none" if empty else f"hue-{hue}-fill",
            edge="edge" if empty else f"hue-{hue}",
            width=1.4, radius=4, dashed=empty,
        )  # fmt: skip
        c.text(x + (STEP - 6) / 2, y + 19, text, size=13.5, anchor="middle", mono=True)


def _middle(lane: int) -> float:
    return LEFT + STEP * lane + (STEP - 6) / 2


def draw(c: Canvas) -> None:
    c.text(8, 20, "by one lane (12 of the 16 multiply-adds)", size=14, bold=True)
    c.text(8, 42, "ldr  s24, [x18, #1024]", size=13, mono=True)
    c.text(8, 60, "fmla v19.4s, v25.4s, v24.s[0]", size=13, mono=True)
    _row(c, 72, "v24", ["x", "", "", ""], "orange")
    for lane in range(LANES):
        start, end = (_middle(0), 72.0 + TALL), (_middle(lane), 121.0)
        c.line(start, end, edge="hue-orange", width=1.3, arrow=True)
    _row(c, 124, "× v25", [f"w{lane}" for lane in range(LANES)], "blue")
    _row(c, 160, "v19 +=", [f"x·w{lane}" for lane in range(LANES)], "purple")

    c.text(8, 222, "by a replicated element (4 of 16)", size=14, bold=True)
    c.text(8, 244, "ld1r { v24.4s }, [x0], #4", size=13, mono=True)
    c.text(8, 262, "fmla v22.4s, v25.4s, v24.4s", size=13, mono=True)
    _row(c, 274, "v24", ["x"] * LANES, "orange")
    for lane in range(LANES):
        c.line((_middle(lane), 274 + TALL), (_middle(lane), 323), edge="hue-orange", width=1.3, arrow=True)
    _row(c, 326, "× v25", [f"w{lane}" for lane in range(LANES)], "blue")
    _row(c, 360, "v22 +=", [f"x·w{lane}" for lane in range(LANES)], "purple")
    for y, note in ((90, "one element"), (290, "copied while"), (306, "it is loaded")):
        c.text(LEFT + STEP * LANES + 8, y, note, size=13, color="soft")


FIGURE = Figure(
    "neon_lane", WIDTH, HEIGHT, "Multiplying a vector by one element on AArch64",
    """Two forms of the multiply-add fmla on vectors of four lanes. In the first, ldr puts one element x into
    lane 0 of v24, the other lanes are unused, and fmla multiplies lane 0 with each of the four weights w0 to
    w3 in v25 and adds the products to v19. In the second, ld1r loads x and copies it to all four lanes of
    v24, and fmla multiplies lane by lane and adds to v22. Both do the same arithmetic.""",
    draw,
)  # fmt: skip
