"""The three phases of quantization, on a program of two layers."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 440
COLUMNS = ("Program", "Annotate", "Calibrate", "Realize")
COLUMN, GAP, LEFT = 108, 14, 6
BOX, APART = 27, 9
FLOAT, MARK, WHOLE = "hue-teal", "hue-orange", "hue-blue"
STEPS: tuple[tuple[tuple[str, str], ...], ...] = (
    (("x", ""), ("", ""), ("dense", FLOAT), ("relu", FLOAT), ("", ""), ("dense", FLOAT), ("", ""), ("y", "")),
    (("x", ""), ("8 bits?", MARK), ("dense", FLOAT), ("relu", FLOAT), ("8 bits?", MARK), ("dense", FLOAT),
     ("", ""), ("y", "")),
    (("x", ""), ("s = 0.02", MARK), ("dense", FLOAT), ("relu", FLOAT), ("s = 0.05", MARK), ("dense", FLOAT),
     ("", ""), ("y", "")),
    (("x", ""), ("quantize", WHOLE), ("dense", WHOLE), ("relu", WHOLE), ("requantize", WHOLE),
     ("dense", WHOLE), ("dequantize", WHOLE), ("y", "")),
)  # fmt: skip
ABOUT = (
    ("floating", "point"),
    ("marks where", "rounding goes"),
    ("runs on data,", "finds scales"),
    ("the same, in", "integers"),
)


def draw(c: Canvas) -> None:
    for place, (title, steps) in enumerate(zip(COLUMNS, STEPS, strict=True)):
        x = LEFT + place * (COLUMN + GAP)
        middle = x + COLUMN / 2
        c.text(middle, 22, f"{place}. {title}" if place else title, size=14.5, bold=True, anchor="middle")
        c.lines(middle, 42, ABOUT[place], size=13, anchor="middle", color="soft")
        y, last = 84.0, None
        for name, hue in steps:
            if name:
                if last is not None:
                    c.line((middle, last), (middle, y - 1), edge="soft", arrow=True)
                if hue:
                    c.box(
                        x + 4, y, COLUMN - 8, BOX, fill=f"{hue}-fill", edge=hue, dashed=hue == MARK, radius=6
                    )
                c.text(middle, y + 18, name, size=13.5, mono=True, anchor="middle")
                last = y + BOX if hue else y + BOX - 4
            y += BOX + APART + 6
        if place:
            c.line((x - GAP + 1, 17), (x - 1, 17), edge="ink", arrow=True)
    y = HEIGHT - 34
    for place, (hue, words) in enumerate(
        ((FLOAT, "in float32"), (MARK, "simulated rounding"), (WHOLE, "in integers"))
    ):
        x = LEFT + 6 + place * 160
        c.box(x, y, 14, 14, fill=f"{hue}-fill", edge=hue, dashed=hue == MARK, radius=3)
        c.text(x + 21, y + 12, words, size=13)


FIGURE = Figure(
    "quantization_phases", WIDTH, HEIGHT, "Annotate, calibrate, realize",
    """Four versions of a program, side by side. Program: x, dense, relu, dense, y, in floating point.
    Annotate inserts a mark, 8 bits, before each dense: this is where rounding goes. Calibrate runs on data,
    and writes a scale into each mark, 0.02 and 0.05. Realize computes the same in integers: quantize, dense,
    relu, requantize, dense, dequantize.""",
    draw,
)  # fmt: skip
