"""Consistency of sizes cannot be chained: 2 is consistent with `?`, and `?` with 3, but not 2 with 3."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 262
Y = 150
AT = {"(2)": 70.0, "(?)": 240.0, "(3)": 410.0}


def draw(c: Canvas) -> None:
    c.path(f"M70 {Y - 24}C90 34 390 34 410 {Y - 24}", edge="bad", width=2, dashed=True)
    c.box(158, 34, 164, 44, fill="bad-bg", edge="bad")
    c.text(240, 61, "not consistent ✗", size=14.5, anchor="middle", color="bad", bold=True)
    for x0, x1 in ((70, 240), (240, 410)):
        c.line((x0 + 38, Y), (x1 - 38, Y), edge="known", width=2)
        c.text((x0 + x1) / 2, Y - 12, "consistent", size=13, anchor="middle", color="known")
    for words, x in AT.items():
        tone = "partial" if words == "(?)" else "known"
        c.box(x - 36, Y - 20, 72, 40, fill=f"{tone}-bg", edge=tone, radius=20, dashed=tone == "partial")
        c.text(x, Y + 6, words, size=16, mono=True, anchor="middle", color=tone)
    for x, words in ((70, "%two"), (240, "@forget(%two)"), (410, "%three")):
        c.text(x, Y + 44, words, size=13.5, mono=True, anchor="middle")
    c.lines(
        240,
        222,
        ("`add(%two, %three)` is a type error.", "`add(@forget(%two), %three)` is not: only neighbors meet."),
        size=13.5,
        anchor="middle",
    )


FIGURE = Figure(
    "consistency", WIDTH, HEIGHT, "Consistency cannot be chained",
    """Three shapes in a row: (2), question mark and (3). The first two are consistent, and so are the last
    two, but (2) and (3) are not. Therefore add of two and three is a type error, but add of forget of two and
    three is not.""",
    draw,
)  # fmt: skip
