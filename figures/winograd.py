"""Winograd's algorithm on one example: two outputs of a filter with three weights, by four products."""

from __future__ import annotations

import numpy as np

from figures.canvas import Canvas, Figure
from relay_explorer.ops.nn.convolution.winograd_matrices import matrices

WIDTH, HEIGHT = 480, 366
WEIGHT, DATA = (2.0, 7.0, 1.0), (3.0, 1.0, 4.0, 1.0)
LEFT, STEP, TALL = 152, 62.0, 30

TO_DATA, TO_WEIGHT, TO_RESULT = (np.array(part, "float64") for part in matrices(2, 3))
FROM_WEIGHT, FROM_DATA = TO_WEIGHT @ WEIGHT, TO_DATA @ DATA
PRODUCTS = FROM_WEIGHT * FROM_DATA
OUTPUTS = TO_RESULT @ PRODUCTS


def _row(c: Canvas, y: float, name: str, values: object, hue: str, first: int = 0) -> None:
    c.text(LEFT - 14, y + 20, name, size=13.5, anchor="end")
    for place, value in enumerate(np.asarray(values)):
        x = LEFT + STEP * (place + first)
        c.box(x, y, STEP - 8, TALL, fill=f"hue-{hue}-fill", edge=f"hue-{hue}", width=1.4, radius=4)
        text = f"{value:g}".replace("-", "−")
        c.text(x + (STEP - 8) / 2, y + 20, text, size=14.5, anchor="middle", mono=True)


def _sign(c: Canvas, y: float, sign: str) -> None:
    for place in range(4):
        c.text(LEFT + STEP * place + (STEP - 8) / 2, y, sign, size=16, anchor="middle")


def _step(c: Canvas, y: float, says: str) -> None:
    middle = LEFT + STEP * 2 - 4
    c.line((middle, y), (middle, y + 18), edge="soft", arrow=True)
    c.text(middle + 12, y + 14, says, size=13, color="soft")


def draw(c: Canvas) -> None:
    _row(c, 8, "weight", WEIGHT, "orange")
    _step(c, 42, "transform, at compile time")
    _row(c, 64, "transformed", FROM_WEIGHT, "orange")
    _sign(c, 111, "×")
    _row(c, 118, "transformed", FROM_DATA, "blue")
    middle = LEFT + STEP * 2 - 4
    c.line((middle, 172), (middle, 154), edge="soft", arrow=True)
    c.text(middle + 12, 168, "transform", size=13, color="soft")
    _row(c, 176, "data", DATA, "blue")
    c.line((8, 222), (WIDTH - 8, 222), edge="edge", dashed=True)
    _row(c, 236, "4 products", PRODUCTS, "purple")
    _step(c, 270, "transform")
    _row(c, 292, "outputs", OUTPUTS, "purple", first=1)
    pairs = [" + ".join(f"{w:g} · {d:g}" for w, d in zip(WEIGHT, DATA[at:])) for at in range(2)]
    c.text(WIDTH / 2, 350, "directly: " + " and ".join(pairs), size=13.5, anchor="middle")


def _words(values: object) -> str:
    return ", ".join(f"{value:g}".replace("-", "minus ") for value in np.asarray(values))


FIGURE = Figure(
    "winograd", WIDTH, HEIGHT, "Winograd's algorithm, one example",
    f"The weight {_words(WEIGHT)} is transformed at compile time to {_words(FROM_WEIGHT)}; the data "
    f"{_words(DATA)} to {_words(FROM_DATA)}. Multiplied element by element, they give four products, "
    f"{_words(PRODUCTS)}, which are transformed to the two outputs {_words(OUTPUTS)}. Directly, the outputs "
    "are two sums of three products each.",
    draw,
)  # fmt: skip
