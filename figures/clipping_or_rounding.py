"""A histogram with a few outliers, and two rulers for it: one that covers everything, and one that clips."""

from __future__ import annotations

from math import exp

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 330
BINS, WIDEST = 32, 8.0  # bins, and the greatest magnitude that occurs
STEPS = 7  # of a signed integer of 4 bits
THRESHOLD = 2.0
LEFT, BASE, UNIT = 24.0, 150, 54.0  # the place of 0, and units of the sheet for 1
OUTLIERS = {26: 3, 31: 2}  # how often, by bin


def counts() -> list[int]:
    """Return how many magnitudes lie in each bin: 10,000 or so of a normal distribution, and outliers."""
    bin_width = WIDEST / BINS
    density = [exp(-(((place + 0.5) * bin_width) ** 2) / (2 * 0.62**2)) for place in range(BINS)]
    total = sum(density)
    return [round(10_000 * d / total) + OUTLIERS.get(place, 0) for place, d in enumerate(density)]


def step(threshold: float) -> float:
    """Return the distance between two neighbouring integers of a ruler that ends at a threshold."""
    return threshold / STEPS


def _ruler(c: Canvas, y: float, threshold: float, hue: str, title: str, about: list[str]) -> None:
    c.text(LEFT - 14, y - 14, title, size=14, bold=True)
    c.box(LEFT, y, threshold * UNIT, 16, fill=f"{hue}-fill", edge=hue, radius=3)
    for tick in range(STEPS + 1):
        x = LEFT + tick * step(threshold) * UNIT
        c.line((x, y), (x, y + 16), edge=hue)
    left = LEFT - 14 if threshold == WIDEST else LEFT + threshold * UNIT + 16
    top = y + 36 if threshold == WIDEST else y + 4
    c.lines(left, top, about, size=13.5)


def draw(c: Canvas) -> None:
    c.text(LEFT - 14, 24, "How often each magnitude occurs", size=14, bold=True)
    most = max(counts())
    width = WIDEST / BINS * UNIT
    for place, count in enumerate(counts()):
        if not count:
            continue
        x, clipped = LEFT + place * width, place * WIDEST / BINS >= THRESHOLD
        tall = max(3.0, 108 * count / most)
        hue = "hue-orange" if clipped else "hue-teal"
        c.box(x, BASE - tall, width - 1.5, tall, fill=f"{hue}-fill", edge=hue, width=1.2, radius=1)
    c.line((LEFT, BASE), (LEFT + WIDEST * UNIT, BASE), edge="edge")
    for whole in range(0, 9, 2):
        c.text(LEFT + whole * UNIT, BASE + 18, str(whole), size=12.5, anchor="middle", color="soft")
    x = LEFT + THRESHOLD * UNIT
    c.line((x, 44), (x, BASE), edge="hue-orange", dashed=True)
    c.text(x + 8, 56, "threshold 2", size=13.5, color="hue-orange")
    few = sum(count for place, count in enumerate(counts()) if place * WIDEST / BINS >= THRESHOLD)
    c.text(x + 8, 76, f"clips {few} of {sum(counts()):,} values", size=13.5, color="hue-orange")
    _ruler(c, 210, WIDEST, "hue-blue", "Clip nothing",
           [f"a step of {step(WIDEST):.2f}: nearly all values round to 0 or ±1"])  # fmt: skip
    _ruler(c, 292, THRESHOLD, "hue-purple", "Clip at 2",
           [f"a step of {step(THRESHOLD):.2f}: small errors for nearly all",
            "values, large ones for a few"])  # fmt: skip


FIGURE = Figure(
    "clipping_or_rounding", WIDTH, HEIGHT, "Two rulers for the same values",
    f"""A histogram of magnitudes: nearly all lie between 0 and 2, and a few far out, near 7 and 8. A dashed
    line marks the threshold 2. Below, two rulers of 4-bit integers. The first reaches to 8 and clips nothing,
    but its step is {step(WIDEST):.2f}, so nearly all values round to 0 or 1. The second reaches to 2, with
    steps of {step(THRESHOLD):.2f}: nearly all values have small errors, and the few beyond it have large
    ones.""",
    draw,
)  # fmt: skip
