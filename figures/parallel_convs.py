"""Three convolutions that read the same picture, and the one that replaces them."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 330
CHANNELS = (64, 96, 16)
HUES = ("hue-blue", "hue-teal", "hue-orange")
UNIT, TOP, GAP = 1.1, 70, 26


def _bar(c: Canvas, x: float, y: float, wide: float, index: int) -> float:
    """Draw a weight or a slice; return its height."""
    tall = CHANNELS[index] * UNIT
    c.box(x, y, wide, tall, fill=f"{HUES[index]}-fill", edge=HUES[index], radius=3)
    c.text(x + wide / 2, y + tall / 2 + 5, str(CHANNELS[index]), size=14, anchor="middle", mono=True)
    return tall


def draw(c: Canvas) -> None:
    middle = 196.0
    c.text(112, 26, "three convolutions", size=15, bold=True, anchor="middle")
    c.text(352, 26, "one convolution", size=15, bold=True, anchor="middle")
    c.line((226, 14), (226, HEIGHT - 12), edge="line")
    c.text(80, 56, "weights", size=13, color="soft", anchor="middle")
    c.text(322, 56, "weight", size=13, color="soft", anchor="middle")
    c.text(444, 56, "slices", size=13, color="soft", anchor="middle")
    for x in (8, 240):
        c.box(x, middle - 17, 30, 34, fill="paper", edge="edge", radius=5)
        c.text(x + 15, middle + 5, "x", size=15, mono=True, anchor="middle")
    y = float(TOP)
    stacked = middle - sum(CHANNELS) * UNIT / 2
    c.line((270, middle), (297, middle), edge="known", arrow=True)
    first = stacked
    for index in range(3):
        tall = _bar(c, 54, y, 52, index)
        center = y + tall / 2
        c.line((38, middle), (52, center), edge="known", arrow=True)
        c.line((107, center), (137, center), edge="known", arrow=True)
        c.box(139, center - 15, 54, 30, fill="paper", edge="edge", radius=6)
        c.text(166, center + 5, "relu", size=14, mono=True, anchor="middle")
        y += tall + GAP
        stacked += _bar(c, 298, stacked, 48, index)
    c.text(322, stacked + 20, "176 channels", size=13, color="soft", anchor="middle")
    c.line((347, middle), (361, middle), edge="known", arrow=True)
    c.box(363, middle - 15, 48, 30, fill="paper", edge="edge", radius=6)
    c.text(387, middle + 5, "relu", size=14, mono=True, anchor="middle")
    y = first - 12
    for index in range(3):
        tall = _bar(c, 424, y, 42, index)
        c.line((411, middle), (422, y + tall / 2), edge="known", arrow=True)
        y += tall + 12


FIGURE = Figure(
    "parallel_convs", WIDTH, HEIGHT, "Three convolutions of one picture, and the one that replaces them",
    """On the left a picture x leads to three weights of 64, 96 and 16 channels, each followed by a relu. On
    the right x leads to one weight of 176 channels, a stack of the three, then to one relu, and then to three
    slices of 64, 96 and 16 channels.""",
    draw,
)  # fmt: skip
