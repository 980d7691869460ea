"""The same kernel again and again: each run's time, from a measurement, and the shortest so far."""

from __future__ import annotations

from matplotlib.axes import Axes

from figures.chart import Chart
from figures.tuning_data import measured
from relay_explorer.interop import plot_repeats

WIDTH, HEIGHT = 480, 250
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 26, 36
RUNS: list[float] = measured()["noise"]


def draw(axes: Axes, theme: str) -> None:
    plot_repeats(RUNS, axes, theme=theme)


FIGURE = Chart(
    "noise", WIDTH, HEIGHT, "One kernel, run again and again",
    f"""A dot for the time of each of {len(RUNS)} runs of one kernel, against the shortest of them, and a line
    for the shortest so far. Most runs are within a tenth of the shortest, some take much longer, none is much
    shorter; the line comes down in a few steps and stays.""",
    (LEFT, TOP, RIGHT, BOTTOM), draw,
)  # fmt: skip
