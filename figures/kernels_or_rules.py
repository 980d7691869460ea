"""Quantization by kernels, one for each combination, and by rules, whose results the compiler lowers."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 372
OPERATORS = ("dense", "conv2d", "add", "…")
SCHEMES = ("8/32", "8/16", "4")  # bits of operands and accumulators
PLATFORMS = ("x86", "ARM", "GPU")


def kernels() -> int:
    """Return how many kernels three operators, the schemes and the platforms need."""
    return (len(OPERATORS) - 1) * len(SCHEMES) * len(PLATFORMS)


def rules() -> int:
    """Return how many rules three operators and the schemes need."""
    return (len(OPERATORS) - 1) * len(SCHEMES)


def _grid(c: Canvas, x: float, y: float, depth: int, hue: str) -> None:
    """Draw a cell for each operator and scheme, `depth` cells behind one another."""
    for column, scheme in enumerate(SCHEMES):
        c.text(x + column * 50 + 17, y - 16, scheme, size=13, anchor="middle", mono=True)
    for row, operator in enumerate(OPERATORS):
        c.text(x - 8, y + row * 30 + 14, operator, size=13, anchor="end", mono=operator != "…")
        for column in range(len(SCHEMES)):
            for back in reversed(range(depth)):
                left, top = x + column * 50 + back * 5, y + row * 30 - back * 4
                c.box(left, top, 34, 18, fill=f"{hue}-fill", edge=hue, width=1.2, radius=3)


def draw(c: Canvas) -> None:
    c.text(10, 24, "The old way: kernels", size=14.5, bold=True)
    _grid(c, 82, 62, len(PLATFORMS), "hue-orange")
    combinations = f"3 operators × {len(SCHEMES)} schemes × {len(PLATFORMS)}"
    written = ["each written by hand,", "and again for each", "fusion"]
    words = ["each sheet: a platform", "", combinations, f"platforms = {kernels()} kernels,", *written]
    c.lines(10, 206, words, size=13.5)
    c.line((238, 12), (238, HEIGHT - 12), edge="line")
    c.text(254, 24, "Relay's: rules", size=14.5, bold=True)
    _grid(c, 322, 62, 1, "hue-blue")
    for column in range(len(SCHEMES)):
        c.line((339 + column * 50, 176), (339 + column * 50, 192), edge="soft", arrow=True)
    c.box(254, 196, 216, 30, fill="hue-teal-fill", edge="hue-teal")
    c.text(362, 216, "a Relay program, in integers", size=13.5, anchor="middle")
    c.line((362, 228), (362, 244), edge="soft", arrow=True)
    c.box(254, 248, 216, 30, fill="hue-purple-fill", edge="hue-purple")
    c.text(362, 268, "passes, fusion, lowering", size=13.5, anchor="middle")
    for place, platform in enumerate(PLATFORMS):
        x = 290 + place * 72
        c.line((x, 280), (x, 296), edge="soft", arrow=True)
        c.text(x, 314, platform, size=13.5, anchor="middle")
    c.lines(
        254,
        342,
        [f"3 operators × {len(SCHEMES)} schemes", f"= {rules()} rules, for every platform"],
        size=13.5,
    )


FIGURE = Figure(
    "kernels_or_rules", WIDTH, HEIGHT, "The old way of quantizing, and Relay's",
    f"""Left, the old way: a grid of three operators and more by three schemes, and a sheet of it for each of
    three platforms: {kernels()} kernels, each written by hand, and again for each fusion. Right, Relay's way:
    the grid once, with a rule in each cell. Arrows lead from the rules to a Relay program in integers, from
    there to passes, fusion and lowering, and on to x86, ARM and GPU: {rules()} rules, for every platform.""",
    draw,
)  # fmt: skip
