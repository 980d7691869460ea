"""The same kernel again and again: each run's time, from a measurement, and the shortest so far."""

from __future__ import annotations

from itertools import accumulate

from matplotlib.axes import Axes

from figures.chart import Chart
from figures.tuning_data import measured
from relay_explorer.interop.charts.style import say

WIDTH, HEIGHT = 480, 250
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 26, 36
RUNS: list[float] = [seconds * 1e6 for seconds in measured()["noise"]]
BEST = min(RUNS)
CUT = 1.3  # times the best; longer runs are drawn at the edge


def draw(axes: Axes, colors: dict[str, str]) -> None:
    axes.set_xlim(0, len(RUNS))
    axes.set_ylim(0.98, CUT)
    marks = (1.0, 1.1, 1.2, 1.3)
    axes.set_yticks(marks, [f"{mark:.1f}×" for mark in marks])
    axes.set_xticks([])
    axes.grid(axis="y")
    say(axes, "time, relative to the shortest", (0, CUT), (-42, 12), size=12.5, color=colors["soft"])
    axes.set_xlabel(f"{len(RUNS)} runs, one after the other", loc="right", labelpad=10)
    times = [min(micro / BEST, CUT) for micro in RUNS]
    axes.plot(times, "o", color=colors["hue-blue"], markersize=2.4, markeredgewidth=0)
    shortest = list(accumulate(times, min))
    steps = [run for run in range(len(times)) if run == 0 or shortest[run] != shortest[run - 1]]
    ends = [*steps, len(times)]
    axes.plot(
        ends, [shortest[min(end, len(times) - 1)] for end in ends],
        drawstyle="steps-post", color=colors["hue-orange"], linewidth=2,
    )  # fmt: skip


FIGURE = Chart(
    "noise", WIDTH, HEIGHT, "One kernel, run again and again",
    f"""A dot for the time of each of {len(RUNS)} runs of one kernel, against the shortest of them, and a line
    for the shortest so far. Most runs are within a tenth of the shortest, some take much longer, none is much
    shorter; the line comes down in a few steps and stays.""",
    (LEFT, TOP, RIGHT, BOTTOM), draw,
)  # fmt: skip
