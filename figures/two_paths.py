"""A program with two branches: a run checks the one that it takes, the type checker checks both."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 330
BOX = 34


def _tensor(c: Canvas, x: float, y: float, w: float, words: str, *, tone: str = "known") -> None:
    c.box(x, y - BOX / 2, w, BOX, fill=f"{tone}-bg", edge=tone, radius=BOX / 2)
    c.text(x + w / 2, y + 5, words, size=13.5, mono=True, anchor="middle", color=tone)


def _product(c: Canvas, y: float, rows: str, weight: str, fits: bool) -> None:
    tone = "known" if fits else "bad"
    _tensor(c, 208, y, 92, rows, tone=tone)
    c.text(312, y + 6, "@", size=17, anchor="middle", mono=True)
    _tensor(c, 324, y, 112, weight, tone=tone)
    sign = "✓" if fits else "✗"
    c.text(456, y + 6, sign, size=18, anchor="middle", bold=True, color=tone)


def draw(c: Canvas) -> None:
    c.text(8, 22, "short sentence", size=14.5, bold=True)
    c.text(8, 44, "the mean of its rows", size=13.5, color="soft")
    _tensor(c, 20, 80, 112, "mean (300)")
    c.line((136, 80), (202, 80), edge="soft", arrow=True)
    _product(c, 80, "(300)", "(300, 5)", fits=True)
    c.line((8, 116), (472, 116), edge="line")

    c.text(8, 142, "long sentence", size=14.5, bold=True)
    c.text(8, 164, "its first and last row, joined", size=13.5, color="soft")
    _tensor(c, 20, 198, 112, "first (300)")
    _tensor(c, 20, 242, 112, "last (300)")
    c.curve((132, 198), (198, 214), edge="soft")
    c.curve((132, 242), (198, 226), edge="soft")
    c.head(204, 214, 0, "soft")
    c.head(204, 226, 0, "soft")
    _product(c, 220, "(600)", "(300, 5)", fits=False)
    c.line((8, 276), (472, 276), edge="line")
    c.lines(
        8,
        298,
        (
            "A test that uses short sentences never reaches the second path.",
            "The type checker checks both, because either may be taken.",
        ),
        size=13.5,
    )


FIGURE = Figure(
    "two_paths", WIDTH, HEIGHT, "Two paths, one of them wrong",
    """A program with two paths. A short sentence becomes a mean of 300 numbers, which is multiplied by a
    matrix of 300 by 5: this fits. Of a long sentence the first and the last row, 300 numbers each, are joined
    to 600, which are multiplied by a matrix of 300 by 5 as well: this does not fit. A test with short
    sentences never reaches the second path; the type checker checks both.""",
    draw,
)  # fmt: skip
