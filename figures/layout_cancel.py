"""Two convolutions with layout transforms around them, and how most of the transforms disappear."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 440
COLUMN, WIDE, TALL, STEP, TOP = 156, 126, 30, 48, 78
INTO, OUT = "to NHWC", "to NCHW"
# A row of None leaves a gap; "!" marks a transform that cancels.
PANELS = (
    ("1  around each", (INTO, "conv", OUT, "relu", INTO, "conv", OUT)),
    ("2  moved", (INTO, "conv", "relu", f"{OUT} !", f"{INTO} !", "conv", OUT)),
    ("3  canceled", (INTO, "conv", "relu", None, None, "conv", OUT)),
)


def _box(c: Canvas, x: float, y: float, text: str) -> None:
    cancels = text.endswith("!")
    words = text.removesuffix(" !")
    moves = words in (INTO, OUT)
    edge, fill = ("hue-orange", "hue-orange-fill") if moves else ("edge", "paper")
    c.box(x - WIDE / 2, y, WIDE, TALL, fill=fill, edge=edge, dashed=cancels, radius=7)
    c.text(x, y + 20, words, size=14, mono=not moves, anchor="middle")
    if cancels:
        c.line((x - 46, y + TALL - 6), (x + 46, y + 6), edge="bad", width=2.4)


def draw(c: Canvas) -> None:
    for column, (title, rows) in enumerate(PANELS):
        x = 8 + COLUMN * column + COLUMN / 2 - 2
        c.text(x, 28, title, size=15, bold=True, anchor="middle")
        c.text(x, 52, "image in NCHW", size=13, color="soft", anchor="middle")
        last = 58.0
        for row, text in enumerate(rows):
            if text is None:
                continue
            y = TOP + STEP * row
            c.line((x, last), (x, y - 1), edge="known", arrow=True)
            _box(c, x, y, text)
            last = y + TALL
        c.line((x, last), (x, HEIGHT - 27), edge="known", arrow=True)
        c.text(x, HEIGHT - 10, "result in NCHW", size=13, color="soft", anchor="middle")


FIGURE = Figure(
    "layout_cancel", WIDTH, HEIGHT, "Layout transforms move past a ReLU and cancel",
    """Three columns, each a chain from top to bottom. Around each: to NHWC, conv, to NCHW, relu, to NHWC,
    conv, to NCHW. Moved: to NHWC, conv, relu, then to NCHW and to NHWC, both crossed out, conv, to NCHW.
    Canceled: to NHWC, conv, relu, conv, to NCHW. The image comes in NCHW and the result leaves in NCHW.""",
    draw,
)  # fmt: skip
