"""Which dimensions of data and weight `nn.dense` compares, for a weight that fits and one that does not."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 356
LONG, SHORT = 236, 92  # 784 and 256 on the sheet, not to scale
X = 96


def _rows(c: Canvas, y: float, w: float, h: float, rows: int, tone: str) -> None:
    """Draw a matrix whose first row is filled."""
    step = h / rows
    c.box(X, y, w, h, edge=tone, radius=3)
    c.box(X, y, w, step, fill=f"{tone}-bg", edge=tone, radius=3)
    for i in range(1, rows):
        c.line((X, y + step * i), (X + w, y + step * i), edge="line")


def _measure(c: Canvas, y: float, w: float, words: str, tone: str) -> None:
    c.line((X, y), (X + w, y), edge=tone)
    for x in (X, X + w):
        c.line((x, y - 5), (x, y + 5), edge=tone)
    c.text(X + w / 2, y - 7, words, size=13.5, anchor="middle", color=tone)


def draw(c: Canvas) -> None:
    c.text(8, 52, "data", size=14, bold=True)
    _measure(c, 26, LONG, "784", "known")
    _rows(c, 36, LONG, 24, 1, "known")
    c.text(X + LONG + 14, 53, "(1, 784)", size=13.5, mono=True)

    c.text(8, 112, "weight", size=14, bold=True)
    _measure(c, 86, LONG, "784 = 784", "known")
    _rows(c, 96, LONG, 84, 6, "known")
    c.text(X + LONG + 14, 112, "(256, 784) ✓", size=13.5, mono=True)
    c.lines(X + LONG + 14, 134, ("one row for", "each of the", "256 units"), size=13)

    c.text(8, 236, "weight", size=14, bold=True)
    _measure(c, 210, SHORT, "784 ≠ 256", "bad")
    _rows(c, 220, SHORT, 126, 9, "bad")
    c.text(X + SHORT + 20, 240, "(784, 256) ✗", size=13.5, mono=True, color="bad")
    c.lines(
        X + SHORT + 20,
        266,
        (
            "Its rows have 256 elements,",
            "those of the data 784:",
            "the rows cannot be multiplied",
            "element by element.",
        ),
        size=13,
    )


FIGURE = Figure(
    "dense_weight", WIDTH, HEIGHT, "What nn.dense compares",
    """nn.dense multiplies a row of the data by each row of the weight. The data has one row of 784 elements.
    A weight of shape (256, 784) has rows of 784 elements too, one for each of 256 units, and fits. A weight
    of shape (784, 256) has rows of 256 elements, and does not fit.""",
    draw,
)  # fmt: skip
