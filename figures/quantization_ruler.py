"""Four-bit integers as ticks of a ruler over the real numbers: rounding and clipping."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 246
SCALE, MOST = 0.3, 7
UNIT, MIDDLE = 84.0, 240.0  # units of the sheet for 1, and the place of 0
VALUES = (1.0, -0.62, 2.5)
REAL_Y, TICK_Y = 74, 160


def rounded(value: float) -> int:
    """Return the integer of a real number: the nearest tick, or the last one."""
    return max(-MOST, min(MOST, round(value / SCALE)))


def _x(value: float) -> float:
    return MIDDLE + value * UNIT


def _signed(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


def draw(c: Canvas) -> None:
    c.text(10, 24, "real numbers", size=14, bold=True)
    c.line((8, REAL_Y), (WIDTH - 8, REAL_Y), edge="edge")
    for whole in range(-2, 3):
        c.line((_x(whole), REAL_Y - 5), (_x(whole), REAL_Y + 5), edge="edge")
        if whole != 1:
            c.text(_x(whole), REAL_Y + 20, _signed(whole, 0), size=12.5, anchor="middle", color="soft")
    c.box(_x(-MOST * SCALE - 0.15), TICK_Y - 16, (2 * MOST * SCALE + 0.3) * UNIT, 32, fill="hue-blue-fill",
          edge="hue-blue", radius=4)  # fmt: skip
    for tick in range(-MOST, MOST + 1):
        x = _x(tick * SCALE)
        c.line((x, TICK_Y - 16), (x, TICK_Y - 7), edge="hue-blue")
        c.text(x, TICK_Y + 10, str(tick).replace("-", "−"), size=12.5, anchor="middle", mono=True)
    for value in VALUES:
        tick = rounded(value)
        clipped = abs(value) > MOST * SCALE
        color = "hue-orange" if clipped else "known"
        c.circle(_x(value), REAL_Y, 5, fill=color, edge=color)
        c.text(_x(value), REAL_Y - 14, _signed(value, 2), size=14, anchor="middle", mono=True)
        c.line(
            (_x(value), REAL_Y + 8), (_x(tick * SCALE), TICK_Y - 20), edge=color, arrow=True, dashed=clipped
        )
        c.text(_x(tick * SCALE), TICK_Y + 38, _signed(tick * SCALE, 1), size=14, anchor="middle", mono=True)
    c.text(_x(VALUES[2]) - 26, REAL_Y + 46, "clipped", size=13.5, anchor="end", color="hue-orange")
    c.text(10, TICK_Y + 38, "stands for", size=13.5, color="soft")
    c.line((_x(-0.3), TICK_Y + 54), (_x(0), TICK_Y + 54), edge="ink")
    for x in (_x(-0.3), _x(0)):
        c.line((x, TICK_Y + 49), (x, TICK_Y + 59), edge="ink")
    c.text(_x(0) + 10, TICK_Y + 59, "one step: the scale, 0.3", size=13.5)


FIGURE = Figure(
    "quantization_ruler", WIDTH, HEIGHT, "A ruler of 4-bit integers over the real numbers",
    """Two lines. Above, the real numbers with three points; below, a ruler with the integers from minus 7 to
    7, 0.3 apart. An arrow leads from 1.00 to the tick 3, which stands for 0.9; from minus 0.62 to minus 2,
    which stands for minus 0.6; and a dashed one from 2.50, which lies beyond the ruler, to its last tick 7,
    which stands for 2.1: it is clipped.""",
    draw,
)  # fmt: skip
