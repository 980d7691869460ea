"""What a model file contains, and what an importer makes of it."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, TALL, STEP = 12, 268, 44, 66, 78
WIDE_LEFT, WIDE_RIGHT = 206, 200
PARTS = (
    (
        "nodes",
        ("`Gemm(words, W, b)`", "`Erf(x)`"),
        "calls",
        ("`nn.dense(%words, …)`", "`erf(%3)`"),
        "hue-blue",
    ),
    (
        "weights",
        ("`word.weight`: 6 × 4", "`word.bias`: 6"),
        "parameters",
        ("`%word.weight`", "or constants"),
        "hue-orange",
    ),
    (
        "names",
        ("node `/norm/Layer…`", "module `norm`"),
        "spans",
        ("each expression refers", "to its node"),
        "hue-purple",
    ),
)


def draw(c: Canvas) -> None:
    c.text(LEFT + WIDE_LEFT / 2, 24, "a model file", size=15, bold=True, anchor="middle")
    c.text(RIGHT + WIDE_RIGHT / 2, 24, "a Relay module", size=15, bold=True, anchor="middle")
    for row, (part, examples, result, results, hue) in enumerate(PARTS):
        y = TOP + row * STEP
        for x, wide, title, lines in (
            (LEFT, WIDE_LEFT, part, examples),
            (RIGHT, WIDE_RIGHT, result, results),
        ):
            c.box(x, y, wide, TALL, fill=f"{hue}-fill", edge=hue)
            c.text(x + 12, y + 20, title, size=14.5, bold=True, color=hue)
            c.lines(x + 12, y + 40, lines, size=13)
        c.line(
            (LEFT + WIDE_LEFT + 4, y + TALL / 2), (RIGHT - 5, y + TALL / 2), edge="soft", arrow=True, width=2
        )
    c.text(LEFT, 292, "The importer has one converter for each operator.", size=13, color="soft")


FIGURE = Figure(
    "model_file", WIDTH, HEIGHT, "The parts of a model file",
    """Left, a model file with three parts. Nodes, such as Gemm of words, W and b, become calls, such as
    nn.dense. Weights, arrays such as word.weight with 6 by 4 elements, become parameters or constants.
    Names of nodes and modules become spans: each expression refers to its node. The importer has one
    converter for each operator.""",
    draw,
)  # fmt: skip
