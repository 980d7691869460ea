"""The speed of a product of matrices after each step of its schedule, as `benchmarks/schedule_steps.py` has
measured it.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, ROW = 150, 452, 30, 38
LEAST, MOST = 0.5, 1000.0  # thousand million operations a second, at the ends of the axis
DATA = Path(__file__).parents[1] / "benchmarks" / "schedule_steps.json"


def measured() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DATA.read_text("utf-8"))
    return found


def _x(speed: float) -> float:
    """The place of a speed on the axis, which is logarithmic."""
    share = math.log(speed / LEAST) / math.log(MOST / LEAST)
    return LEFT + (RIGHT - LEFT) * min(1.0, max(0.0, share))


def _number(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def draw(c: Canvas) -> None:
    found = measured()
    work = 2 * found["size"] ** 3
    bottom = TOP + ROW * len(found["seconds"]) + 2
    for mark in (1, 10, 100, 1000):
        c.line((_x(mark), TOP - 6), (_x(mark), bottom), edge="edge", width=0.8)
        c.text(_x(mark), bottom + 16, f"{mark:,}", size=12, anchor="middle", colour="soft")
    for number, (name, seconds) in enumerate(found["seconds"].items()):
        y, speed = TOP + ROW * number, work / seconds / 1e9
        c.text(LEFT - 8, y + 19, name, size=13, anchor="end")
        c.box(
            LEFT,
            y + 3,
            _x(speed) - LEFT,
            ROW - 14,
            fill="hue-blue-fill",
            edge="hue-blue",
            width=1.4,
            radius=3,
        )
        label = _number(speed)
        inside = _x(speed) - LEFT > 60
        c.text(
            _x(speed) + (-7 if inside else 7),
            y + 20,
            label,
            size=13,
            anchor="end" if inside else "start",
            bold=True,
        )
    peak = found["flops"] / 1e9
    c.line((_x(peak), TOP - 10), (_x(peak), bottom), edge="hue-orange", width=2, dashed=True)
    many = "one core" if found["threads"] == 1 else f"{found['threads']} cores"
    most = f"most that {many} do: {peak:.0f}"
    c.text(RIGHT + 20, TOP - 15, most, size=12.5, anchor="end", colour="hue-orange")
    middle = (LEFT + RIGHT) / 2
    c.text(middle, bottom + 35, "thousand million operations a second", size=12.5, anchor="middle")


FIGURE = Figure(
    "schedule_steps", WIDTH, HEIGHT, "A product of matrices after each step of its schedule",
    """Six bars on a logarithmic axis of operations a second, one for each step: as the formula says, a row in
    vectors, in tiles, sums in registers, b is packed, on all cores. Each is longer than the one before. The
    first is near one thousand million operations a second; the last nearly reaches a dashed line, the most
    that the cores of the machine can do, as measured.""",
    draw,
)  # fmt: skip
