"""LeNet-5 as on a napkin, with the shape after each layer."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 312
COLUMN, MIDDLE = 95, 104
IMAGES = ((1, 28), (6, 28), (6, 14), (16, 10), (16, 5))  # channels, and pixels along each axis
LAYERS = (("conv 5 × 5", "padding 2"), ("pool", "2 × 2"), ("conv 5 × 5", "no padding"), ("pool", "2 × 2"))
VECTORS = ((400, 150), (120, 78), (84, 62), (10, 34))


def _image(c: Canvas, x: float, channels: int, pixels: int) -> None:
    side = 6 + pixels * 1.8
    sheets = min(channels, 6) - 1
    for sheet in range(sheets, -1, -1):
        shift = sheet * 2 - sheets
        left, top = x - side / 2 + shift, MIDDLE - side / 2 - shift
        c.box(left, top, side, side, fill="hue-blue-fill", edge="hue-blue", width=1, radius=2)
    c.text(x, 164, f"{channels}×{pixels}×{pixels}", size=13, bold=True, anchor="middle")


def draw(c: Canvas) -> None:
    for column, (channels, pixels) in enumerate(IMAGES):
        x = 48 + column * COLUMN
        _image(c, x, channels, pixels)
        if column:
            name, how = LAYERS[column - 1]
            c.text(x - COLUMN / 2, 22, name, size=13, anchor="middle")
            c.text(x - COLUMN / 2, 39, how, size=13, anchor="middle", color="soft")
            c.line((x - COLUMN / 2, 45), (x - COLUMN / 2, 60), edge="edge")
            gap = (x - COLUMN / 2 - 9, x - COLUMN / 2 + 10)
            c.line((gap[0], MIDDLE), (gap[1], MIDDLE), edge="soft", arrow=True)
    x = 48 + 4 * COLUMN
    c.line((x, 172), (x, 196), (75 + 10, 196), (75 + 10, 226), edge="soft", arrow=True)
    c.text(276, 190, "flatten: 16 × 5 × 5 = 400", size=13.5, bold=True, anchor="middle")
    left = 10.0
    for i, (size, width) in enumerate(VECTORS):
        if i:
            c.line((left + 3, 246), (left + 38, 246), edge="soft", arrow=True)
            c.text(left + 20, 232, "dense", size=13, anchor="middle", color="soft")
            left += 42
        c.box(left, 230, width, 32, fill="hue-orange-fill", edge="hue-orange", radius=4)
        c.text(left + width / 2, 251, str(size), size=14, bold=True, anchor="middle")
        left += width
    c.text(left - 17, 284, "one for", size=13, anchor="middle", color="soft")
    c.text(left - 17, 301, "each digit", size=13, anchor="middle", color="soft")


FIGURE = Figure(
    "lenet_shapes", WIDTH, HEIGHT, "LeNet-5 on a napkin",
    """LeNet-5 with the shape after each layer. The image is 1 by 28 by 28. A 5 by 5 convolution with padding
    2 makes 6 by 28 by 28, pooling makes 6 by 14 by 14, a 5 by 5 convolution without padding makes 16 by 10
    by 10, and pooling makes 16 by 5 by 5. Flattened, these are 400 numbers. Three dense layers make 120, 84
    and 10 of them, one for each digit.""",
    draw,
)  # fmt: skip
