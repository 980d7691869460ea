"""An image with channels, and the order of its elements in memory in three layouts."""

from __future__ import annotations

from functools import cache

from figures.canvas import Canvas, Figure
from relay_explorer.execute import Interpreter
from relay_explorer.text import parse

WIDTH, HEIGHT = 480, 316
CHANNELS, PIXELS = 4, 4
LAYOUTS = ("NCHW", "NHWC", "NCHW2c")
HUES = ("hue-blue", "hue-orange", "hue-purple", "hue-teal")
CELL, LEFT = 23.5, 92
ROWS, STEP = 166, 50


@cache
def order(layout: str) -> tuple[int, ...]:
    """Return the elements of an image whose NCHW is 0, 1, 2 …, in the order of a layout."""
    changed = "%0" if layout == "NCHW" else f'layout_transform(%0, src_layout="NCHW", dst_layout="{layout}")'
    count = f'arange(0, {CHANNELS * PIXELS}, 1, dtype="int32")'
    module = parse(f"def @main() {{ %0 = reshape({count}, newshape=[1, 4, 2, 2]); {changed} }}")
    return tuple(int(n) for n in Interpreter(module).call("main", []).ravel())


def _cell(c: Canvas, x: float, y: float, number: int) -> None:
    """Draw an element in the color of its channel, with a thick frame if it is in the first pixel."""
    hue, first = HUES[number // PIXELS], number % PIXELS == 0
    c.box(
        x,
        y,
        CELL,
        CELL,
        fill=f"{hue}-fill",
        edge="ink" if first else hue,
        width=2.6 if first else 1,
        radius=3,
    )
    c.text(x + CELL / 2, y + 16.5, str(number), size=12.5, anchor="middle", bold=first, mono=True)


def draw(c: Canvas) -> None:
    c.text(8, 40, "the image", size=14.5, bold=True)
    c.lines(8, 62, ["four channels", "of two by two"], size=12.5, color="soft")
    for channel in range(CHANNELS):
        x = 128 + 88 * channel
        for pixel in range(PIXELS):
            _cell(c, x + CELL * (pixel % 2), 24 + CELL * (pixel // 2), PIXELS * channel + pixel)
        c.text(x + CELL, 92, f"channel {channel}", size=12, anchor="middle", color="soft")
    c.text(8, 134, "memory", size=14.5, bold=True)
    c.line((LEFT, 129), (WIDTH - 12, 129), edge="edge", arrow=True)
    for row, layout in enumerate(LAYOUTS):
        y = ROWS + STEP * row
        c.text(8, y + 6, layout, size=13.5, mono=True)
        for place, number in enumerate(order(layout)):
            _cell(c, LEFT + CELL * place, y - CELL / 2, number)
    c.text(WIDTH / 2, HEIGHT - 8, "Thick frame: the channels of the first pixel", size=13, anchor="middle")


FIGURE = Figure(
    "layouts", WIDTH, HEIGHT, "Three layouts of an image",
    """An image has four channels of two by two pixels: channel 0 holds the elements 0 to 3, channel 1 holds
    4 to 7, and so on. Below are three rows of memory. NCHW: 0 to 15 in order, so the elements 0, 4, 8 and 12
    of the first pixel are four apart. NHWC: 0, 4, 8, 12, then 1, 5, 9, 13, so the first pixel's elements are
    adjacent. NCHW2c: 0, 4, 1, 5, 2, 6, 3, 7, then 8, 12, 9, 13 and so on: the first pixel's elements stand in
    two pairs.""",
    draw,
)  # fmt: skip
