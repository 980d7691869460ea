"""How full a vector register is, along the width and along the channels, in the stages of ResNet-18."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 302
LANES, CELL = 16, 11
STAGES = ((56, 64), (28, 128), (14, 256), (7, 512))  # pixels in a row, channels
LEFT, RIGHT, TOP, STEP = 92, 292, 74, 58


def used(pixels: int) -> int:
    """Return the lanes that the last register of a row of pixels uses."""
    return pixels % LANES or LANES


def _register(c: Canvas, x: float, y: float, full: int, says: str) -> None:
    for lane in range(LANES):
        on = lane < full
        c.box(
            x + CELL * lane,
            y,
            CELL,
            22,
            fill="hue-blue-fill" if on else "none",
            edge="hue-blue" if on else "edge",
            width=1.4 if on else 1,
            radius=1,
        )
    c.text(x, y + 38, says, size=13, color="soft")


def draw(c: Canvas) -> None:
    c.text(LEFT, 26, "along the width", size=14.5, bold=True)
    c.text(LEFT, 46, "the last register of a row", size=13, color="soft")
    c.text(RIGHT, 26, "along the channels", size=14.5, bold=True)
    c.text(RIGHT, 46, "any register", size=13, color="soft")
    for row, (pixels, channels) in enumerate(STAGES):
        y = TOP + STEP * row
        c.text(8, y + 9, f"{pixels} × {pixels}", size=14, mono=True)
        c.text(8, y + 27, f"{channels} ch.", size=13, color="soft")
        _register(c, LEFT, y - 6, used(pixels), f"{used(pixels)} of {LANES} lanes used")
        _register(c, RIGHT, y - 6, LANES, f"{LANES} of {LANES}")


FIGURE = Figure(
    "layout_lanes", WIDTH, HEIGHT, "Lanes of a vector register, filled along two axes",
    """Four rows, one for each stage of ResNet-18, with images of 56 by 56, 28 by 28, 14 by 14 and 7 by 7
    pixels and with 64, 128, 256 and 512 channels. On the left stands the last vector register of a row of
    pixels: it uses 8, 12, 14 and 7 of its 16 lanes. On the right stands a register of channels: it always
    uses 16 of 16.""",
    draw,
)  # fmt: skip
