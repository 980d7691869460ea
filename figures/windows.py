"""The number of positions of a kernel: two heights of an image give one height of the result."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 316
LEFT, CELL = 46, 39
KERNEL, PADDING, STRIDE = 3, 1, 2


def result(height: int) -> int:
    return (height + 2 * PADDING - KERNEL) // STRIDE + 1


def _image(c: Canvas, top: float, height: int) -> None:
    c.text(
        8,
        top,
        f"height {height}: ({height} + 2 − 3) / 2 = {(height - 1) / 2:g}, rounded down, + 1 is 4",
        size=14,
    )
    y = top + 16
    for i in range(height + 2 * PADDING):
        pad = not PADDING <= i < height + PADDING
        x = LEFT + CELL * i
        c.box(x + 1, y, CELL - 2, 30, fill="none" if pad else "known-bg", edge="known", dashed=pad, radius=4)
        words, ink = ("p", "soft") if pad else (str(i - PADDING), "known")
        c.text(x + CELL / 2, y + 20, words, size=13.5, mono=True, anchor="middle", color=ink)
    for j in range(result(height)):
        x0, at = LEFT + CELL * STRIDE * j + 5, y + 48 + 20 * (j % 2)
        x1 = x0 + CELL * KERNEL - 10
        c.line((x0, at - 8), (x0, at), (x1, at), (x1, at - 8), edge="run", width=2)
        c.box((x0 + x1) / 2 - 9, at - 9, 18, 18, fill="run-bg", edge="run", width=1, radius=9)
        c.text((x0 + x1) / 2, at + 5, str(j), size=13, anchor="middle", color="run")


def draw(c: Canvas) -> None:
    _image(c, 22, 8)
    _image(c, 158, 7)
    c.lines(
        8,
        282,
        (
            "Dashed cells are padding. Each bracket is one position of the kernel,",
            "which gives one element of the result: four for either height.",
        ),
        size=13,
    )


FIGURE = Figure(
    "windows", WIDTH, HEIGHT, "The positions of a kernel",
    """A column of 8 pixels with one cell of padding at each end, and a kernel of 3 that moves by 2. It has
    four positions, and one cell of padding at the end is left over. Below a column of 7 pixels: the kernel
    again has four positions, and nothing is left over. Two heights of the image give one height of the
    result.""",
    draw,
)  # fmt: skip
