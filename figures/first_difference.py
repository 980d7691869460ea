"""Binary search for the first node of an import whose result differs from the framework's."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 286
NAMES = ("linear", "layer_norm", "gelu", "mean", "linear_1", "flatten", "softmax")
FIRST = 2  # the node whose converter is wrong
LEFT, TOP, TALL, STEP = 12, 34, 26, 32
WIDE = 112
COLUMN, APART = 158, 108


def comparisons() -> list[tuple[int, int, int]]:
    """Return the steps of binary search: the range that is left, and the node that is compared."""
    low, high = 0, len(NAMES)
    result: list[tuple[int, int, int]] = []
    while low < high:
        middle = (low + high) // 2
        result.append((low, high, middle))
        low, high = (low, middle) if middle >= FIRST else (middle + 1, high)
    return result


def draw(c: Canvas) -> None:
    c.text(LEFT + WIDE / 2, 20, "node", size=14, bold=True, anchor="middle")
    for row, name in enumerate(NAMES):
        y = TOP + row * STEP
        c.box(LEFT, y, WIDE, TALL, fill="panel", edge="edge")
        c.text(LEFT + WIDE / 2, y + 18, name, size=13.5, mono=True, anchor="middle")
    for step, (low, high, middle) in enumerate(comparisons()):
        x = COLUMN + step * APART
        c.text(x + 48, 20, f"comparison {step + 1}", size=13.5, anchor="middle")
        top, bottom = TOP + low * STEP, TOP + (high - 1) * STEP + TALL
        c.line((x, top + 1), (x, bottom - 1), edge="soft", width=4)
        differs = middle >= FIRST
        hue = "hue-orange" if differs else "hue-teal"
        y = TOP + middle * STEP
        c.box(x + 10, y, 84, TALL, fill=f"{hue}-fill", edge=hue, width=2)
        c.text(x + 52, y + 18, "differs" if differs else "agrees", size=13.5, anchor="middle")
    c.text(
        LEFT,
        278,
        "The bars mark the nodes that may still be the first: here it is `gelu`.",
        size=13,
        color="soft",
    )


FIGURE = Figure(
    "first_difference", WIDTH, HEIGHT, "The first node that differs",
    """Seven nodes from top to bottom: linear, layer_norm, gelu, mean, linear_1, flatten and softmax. Three
    columns are the comparisons of binary search. The first compares mean, which differs, so the first
    difference is not after it. The second compares layer_norm, which agrees. The third compares gelu, which
    differs, and is the first.""",
    draw,
)  # fmt: skip
