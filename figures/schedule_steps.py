"""The speed of a product of matrices after each step of its schedule, as `benchmarks/schedule_steps.py` has
measured it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from figures.chart import Chart
from relay_explorer.interop.charts.style import bars, say

WIDTH, HEIGHT = 480, 300
LEFT, TOP, RIGHT, BOTTOM = 150, 26, 28, 46
LEAST, MOST = 0.5, 1000.0  # GFLOP/s, at the ends of the axis
DATA = Path(__file__).parents[1] / "benchmarks" / "schedule_steps.json"


def measured() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(DATA.read_text("utf-8"))
    return table


def _number(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def draw(axes: Axes, colors: dict[str, str]) -> None:
    times = measured()
    peak = times["flops"] / 1e9
    speeds = [2 * times["size"] ** 3 / seconds / 1e9 for seconds in times["seconds"].values()]
    rows = [float(row) for row in range(len(speeds))]
    axes.set_xscale("log")
    axes.set_xlim(LEAST, MOST)
    axes.set_ylim(len(speeds) - 0.4, -0.6)
    axes.minorticks_off()
    marks = (1, 10, 100, 1000)
    axes.set_xticks(marks, [f"{mark:,}" for mark in marks])
    axes.set_yticks(rows, list(times["seconds"]), size=13, color=colors["ink"])
    axes.grid(axis="x")
    axes.set_xlabel("GFLOP/s, on a logarithmic axis", color=colors["ink"], labelpad=6)
    bars(axes, colors, rows, [LEAST] * len(rows), speeds, "hue-blue", 0.63)
    for row, speed in zip(rows, speeds):
        inside = speed > 2
        by, side = (-7, "right") if inside else (7, "left")
        say(axes, _number(speed), (speed, row), (by, -4.5), weight="bold", ha=side)
    axes.axvline(peak, color=colors["hue-orange"], linewidth=2, linestyle=(0, (4, 3)))
    many = "one core" if times["threads"] == 1 else f"{times['threads']} cores"
    words = f"peak of {many}: {peak:.0f}"
    say(axes, words, (MOST, -0.6), (20, 7), size=12.5, color=colors["hue-orange"], ha="right")


FIGURE = Chart(
    "schedule_steps", WIDTH, HEIGHT, "A product of matrices after each step of its schedule",
    """Six bars on a logarithmic axis of GFLOP/s, one for each step: naive, vectorized, tiled, in registers, b
    packed, on all cores. Each is longer than the one before. The first is near 1 GFLOP/s; the last nearly
    reaches a dashed line, the measured peak of the machine's cores.""",
    (LEFT, TOP, RIGHT, BOTTOM), draw,
)  # fmt: skip
