"""A dot product by hand: in real numbers, in 4-bit integers, and requantized for the next layer."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 322
X, W = (1.0, -0.5, 2.1), (0.52, 0.68, -0.31)
X_SCALE, W_SCALE, NEXT_SCALE = 0.3, 0.1, 0.15
CELL_W, CELL_H = 52, 30


def integers() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the data and the weights as integers."""
    return tuple(round(x / X_SCALE) for x in X), tuple(round(w / W_SCALE) for w in W)


def accumulated() -> int:
    """Return the sum of the products of the integers."""
    return sum(x * w for x, w in zip(*integers(), strict=True))


def exact() -> float:
    """Return the dot product of the real numbers."""
    return sum(x * w for x, w in zip(X, W, strict=True))


def requantized() -> int:
    """Return the accumulator in steps of the next layer's scale."""
    return round(accumulated() * X_SCALE * W_SCALE / NEXT_SCALE)


def _text(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def _cells(c: Canvas, x: float, y: float, values: tuple[float, ...], hue: str) -> None:
    for place, value in enumerate(values):
        left = x + CELL_W * place
        c.box(left, y, CELL_W, CELL_H, fill=f"{hue}-fill", edge=hue, radius=3)
        c.text(left + CELL_W / 2, y + 20, _text(value), size=14.5, anchor="middle", mono=True)


def _row(
    c: Canvas, y: float, data: tuple[float, ...], weights: tuple[float, ...], result: str, kind: str
) -> None:
    c.text(10, y - 10, kind, size=14, bold=True)
    _cells(c, 10, y, data, "hue-teal")
    c.text(183, y + 20, "·", size=20, anchor="middle", bold=True)
    _cells(c, 200, y, weights, "hue-blue")
    c.text(374, y + 20, "=", size=17, anchor="middle")
    c.text(392, y + 20, result, size=14.5, mono=True)


def draw(c: Canvas) -> None:
    data, weights = integers()
    _row(c, 34, X, W, _text(round(exact(), 3)), "In real numbers")
    for x, scale in ((10, X_SCALE), (200, W_SCALE)):
        middle = x + 1.5 * CELL_W
        c.line((middle, 68), (middle, 104), edge="soft", arrow=True)
        c.text(middle + 10, 90, f"÷ {scale:g}, rounded", size=13.5)
    _row(c, 132, data, weights, _text(accumulated()), "In integers")
    products = " ".join(
        f"{'+' if x * w >= 0 else '−'} {abs(x * w)}" for x, w in zip(data, weights, strict=True)
    ).removeprefix("+ ")
    c.text(10, 186, f"{products} = {_text(accumulated())}", size=14.5, mono=True)
    c.text(232, 186, "products and sum are exact", size=13.5, color="soft")
    c.line((10, 206), (WIDTH - 10, 206), edge="line")
    c.text(10, 232, "As a real number", size=14, bold=True)
    factor = X_SCALE * W_SCALE
    c.text(10, 256, f"{_text(accumulated())} · {X_SCALE:g} · {W_SCALE:g} = {_text(accumulated() * factor)}",
           size=14.5, mono=True)  # fmt: skip
    c.text(10, 286, "For the next layer, whose scale is 0.15", size=14, bold=True)
    c.text(
        10,
        310,
        f"{_text(accumulated())} · {factor:g} / {NEXT_SCALE:g} = {_text(requantized())}",
        size=14.5,
        mono=True,
    )
    c.text(232, 310, "requantization: one factor, 0.2", size=13.5, color="soft")


FIGURE = Figure(
    "integer_product", WIDTH, HEIGHT, "A dot product in real numbers and in integers",
    """Real numbers: the data 1, minus 0.5, 2.1 times the weights 0.52, 0.68, minus 0.31 is minus 0.471.
    Divided by the scales 0.3 and 0.1 and rounded, the data are 3, minus 2, 7 and the weights 5, 7, minus 3.
    Their products are 15, minus 14 and minus 21, and the sum is minus 20, exactly. As a real number this is
    minus 20 times 0.3 times 0.1, minus 0.6. For the next layer, whose scale is 0.15, it is minus 20 times
    0.03 divided by 0.15, minus 4: requantization.""",
    draw,
)  # fmt: skip
