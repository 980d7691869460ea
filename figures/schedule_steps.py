"""The speed of a product of matrices after each step of its schedule, as `benchmarks/schedule_steps.py` has
measured it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from figures.chart import Chart
from figures.style import palette
from relay_explorer.interop import plot_bars
from relay_explorer.interop.charts.style import say

WIDTH, HEIGHT = 480, 258
LEFT, TOP, RIGHT, BOTTOM = 132, 50, 26, 32
DATA = Path(__file__).parents[1] / "benchmarks" / "schedule_steps.json"


def measured() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(DATA.read_text("utf-8"))
    return table


def draw(axes: Axes, theme: str) -> None:
    times, colors = measured(), palette(theme)
    peak = times["flops"] / 1e9
    speeds = {name: 2 * times["size"] ** 3 / s / 1e9 for name, s in times["seconds"].items()}
    plot_bars({"": speeds}, axes, scale="log10", theme=theme)
    axes.set_xlabel("GFLOP/s, on a logarithmic axis", loc="right", color=colors["ink"], labelpad=8)
    axes.axvline(peak, color=colors["hue-orange"], linewidth=2, linestyle=(0, (4, 3)))
    many = "one core" if times["threads"] == 1 else f"{times['threads']} cores"
    words = f"peak of {many}: {peak:.0f}"
    say(axes, words, (peak, 0), (24, 27), size=12.5, color=colors["hue-orange"], ha="right")


FIGURE = Chart(
    "schedule_steps", WIDTH, HEIGHT, "A product of matrices after each step of its schedule",
    """Six bars on a logarithmic axis of GFLOP/s, one for each step: naive, vectorized, tiled, in registers, b
    packed, on all cores. Each is longer than the one before. The first is near 1 GFLOP/s; the last nearly
    reaches a dashed line, the measured peak of the machine's cores.""",
    (LEFT, TOP, RIGHT, BOTTOM), draw,
)  # fmt: skip
