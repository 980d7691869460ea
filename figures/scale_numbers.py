"""One pixel through a 1×1 convolution: scaled after it, and with the scale in its weight."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 306
PIXEL = (3, 1)
WEIGHT = ((2, 1), (1, 4))
SCALE = (2, 10)
CELL_W, CELL_H = 42, 32


def convolved(weight: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Return the output channels of the pixel."""
    return tuple(sum(w * x for w, x in zip(row, PIXEL, strict=True)) for row in weight)


def scaled() -> tuple[tuple[int, ...], ...]:
    """Return the weight, each row multiplied by its scale."""
    return tuple(tuple(s * w for w in row) for s, row in zip(SCALE, WEIGHT, strict=True))


def _cells(c: Canvas, x: float, y: float, rows: tuple[tuple[int, ...], ...], hue: str) -> None:
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            left, top = x + CELL_W * j, y + CELL_H * i
            c.box(left, top, CELL_W, CELL_H, fill=f"{hue}-fill", edge=hue, radius=3)
            c.text(left + CELL_W / 2, top + 21, str(value), size=15, anchor="middle", mono=True)


def _column(values: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple((value,) for value in values)


def _row(c: Canvas, y: float, title: str, weight: tuple[tuple[int, ...], ...], times: bool) -> None:
    c.text(10, y, title, size=15, bold=True)
    top = y + 40
    c.text(10 + CELL_W, top - 10, "weight", size=13, color="soft", anchor="middle")
    _cells(c, 10, top, weight, "hue-blue" if times else "hue-orange")
    c.text(110, top + 37, "×", size=17, anchor="middle")
    c.text(124 + CELL_W / 2, top - 10, "pixel", size=13, color="soft", anchor="middle")
    _cells(c, 124, top, _column(PIXEL), "hue-teal")
    c.text(183, top + 37, "=", size=17, anchor="middle")
    result = convolved(weight)
    c.text(200 + CELL_W / 2, top - 10, "result", size=13, color="soft", anchor="middle")
    _cells(c, 200, top, _column(result), "hue-blue" if times else "hue-purple")
    if times:
        c.text(259, top + 37, "·", size=22, anchor="middle", bold=True)
        c.text(276 + CELL_W / 2, top - 10, "scale", size=13, color="soft", anchor="middle")
        _cells(c, 276, top, _column(SCALE), "hue-orange")
        c.text(335, top + 37, "=", size=17, anchor="middle")
        _cells(c, 352, top, _column(tuple(r * s for r, s in zip(result, SCALE, strict=True))), "hue-purple")
        c.lines(406, top + 28, ["for each", "image"], size=13.5, color="soft")
    else:
        c.lines(262, top + 20, ["rows times 2 and 10,", "computed once, at", "compile time"], size=13.5)


def draw(c: Canvas) -> None:
    _row(c, 26, "Scale the result", WEIGHT, times=True)
    c.line((10, 151), (WIDTH - 10, 151), edge="line")
    _row(c, 182, "Scale the weight", scaled(), times=False)


FIGURE = Figure(
    "scale_numbers", WIDTH, HEIGHT, "A scale behind a convolution, and in its weight",
    """Two rows. Scale the result: the weight with the rows 2, 1 and 1, 4 times the pixel 3, 1 is 7, 7; times
    the scale 2, 10 it is 14, 70; this happens for each image. Scale the weight: the weight with the rows
    4, 2 and 10, 40, computed once at compile time, times the pixel 3, 1 is 14, 70 at once.""",
    draw,
)  # fmt: skip
