"""Broadcasting by hand: two shapes under each other, aligned at their last dimensions."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.directions import answers

WIDTH, HEIGHT = 480, 250
LEFT, CELL, GAP = 118, 74, 12
FIRST, SECOND = (8, 1, 6, 1), (7, 1, 5)


def draw(c: Canvas) -> None:
    result = [int(part) for part in answers("add", (FIRST, SECOND, None), {})[-1][0].strip("()").split(",")]
    rows = (("first", FIRST, 20), ("second", SECOND, 72), ("result", tuple(result), 148))
    for name, shape, y in rows:
        c.text(8, y + 26, name, size=14, bold=True)
        for i in range(4):
            at = i - (4 - len(shape))
            if at < 0:
                continue
            last = name == "result"
            one = shape[at] == 1 and not last
            x = LEFT + i * (CELL + GAP)
            tone = "run" if one else "known"
            c.box(x, y, CELL, 40, fill=f"{tone}-bg", edge=tone, dashed=one)
            c.text(x + CELL / 2, y + 26, str(shape[at]), size=16, mono=True, anchor="middle", color=tone)
    c.line((LEFT, 130), (LEFT + 4 * CELL + 3 * GAP, 130), edge="soft")
    for i, words in enumerate(("missing", "1 repeats", "1 repeats", "1 repeats")):
        c.text(LEFT + i * (CELL + GAP) + CELL / 2, 208, words, size=13, anchor="middle", color="soft")
    c.text(8, 238, "A dimension of 1 (dashed), or none at all, adapts to the other one.", size=13.5)


FIGURE = Figure(
    "broadcast_columns", WIDTH, HEIGHT, "Broadcasting, column by column",
    """The shapes (8, 1, 6, 1) and (7, 1, 5) under each other, aligned at their last dimensions. In the first
    column stands 8 alone; in the others 1 and 7, 6 and 1, 1 and 5. A dimension of 1, or a missing one, adapts
    to the other. The result is (8, 7, 6, 5).""",
    draw,
)  # fmt: skip
