"""A row that its tile doesn't divide: the last tile begins earlier and computes some elements again."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 172
SIZE, TILE = 241, 64
LEFT, RIGHT = 20, 464
BEGINS = [min(start, SIZE - TILE) for start in range(0, SIZE, TILE)]


def _x(element: int) -> float:
    return LEFT + (RIGHT - LEFT) * element / SIZE


def draw(c: Canvas) -> None:
    twice = BEGINS[-2] + TILE - BEGINS[-1]
    c.text(LEFT, 22, f"a row of {SIZE} elements", size=14, bold=True)
    for number, start in enumerate(BEGINS):
        last = number == len(BEGINS) - 1
        y = 74 if last else 38
        hue = "orange" if last else "blue"
        c.box(_x(start), y, _x(start + TILE) - _x(start), 30, fill=f"hue-{hue}-fill", edge=f"hue-{hue}",
              width=1.8, radius=3)  # fmt: skip
        shift = twice // 2 if last else -(twice // 2) if number == len(BEGINS) - 2 else 0
        c.text(
            _x(start + TILE // 2 + shift), y + 20, f"{start} … {start + TILE - 1}", size=13.5, anchor="middle"
        )
    left, right = _x(BEGINS[-1]), _x(BEGINS[-2] + TILE)
    for x in (left, right):
        c.line((x, 34), (x, 118), edge="bad", dashed=True)
    c.text((left + right) / 2, 136, f"{twice} elements", size=13.5, anchor="middle", color="bad")
    c.text((left + right) / 2, 154, "are computed twice", size=13.5, anchor="middle", color="bad")


FIGURE = Figure(
    "last_tile", WIDTH, HEIGHT, "The last tile begins earlier",
    """A row of 241 elements. Three tiles of 64 elements cover elements 0 to 63, 64 to 127 and 128 to 191. The
    last tile, one line lower, covers elements 177 to 240: it begins before the third one ends, and the 15
    elements in the overlap are computed twice.""",
    draw,
)  # fmt: skip
