"""The speedup by each group of passes: the measured table of `benchmarks/layers_of_passes.py`, drawn."""

from __future__ import annotations

import json
import math
from pathlib import Path

from matplotlib.axes import Axes

from figures.chart import Chart
from relay_explorer.interop.charts.style import bars, say

DATA = Path(__file__).parents[1] / "benchmarks" / "layers_of_passes.json"
WIDTH, LEFT, RIGHT = 480, 168, 44
BAR, GAP, HEAD, TOP, BELOW = 14, 4, 24, 30, 8
LOWEST = 0.5


def _speeds() -> tuple[list[str], dict[str, list[float]]]:
    """Return the names of the layers and, per network and in the mean, the speedup with each over none."""
    data = json.loads(DATA.read_text("utf-8"))
    speeds = {name: [times[0] / t for t in times] for name, times in data["seconds"].items()}
    means = [math.prod(each) ** (1 / len(speeds)) for each in zip(*speeds.values())]
    return data["layers"], speeds | {"geometric mean": means}


LAYERS, SPEEDS = _speeds()
GROUP = HEAD + len(LAYERS) * (BAR + GAP)
HEIGHT = TOP + len(SPEEDS) * GROUP + BELOW
MOST = 2 ** math.ceil(math.log2(max(max(each) for each in SPEEDS.values())))


def draw(axes: Axes, colors: dict[str, str]) -> None:
    axes.set_xscale("log")
    axes.set_xlim(LOWEST, MOST)
    axes.set_ylim(HEIGHT - TOP - BELOW, 0)
    axes.minorticks_off()
    marks = [LOWEST * 2**power for power in range(round(math.log2(MOST / LOWEST)) + 1)]
    axes.set_xticks(marks, [f"{mark:g}×" for mark in marks])
    axes.xaxis.tick_top()
    axes.tick_params(top=False)
    axes.grid(axis="x")
    axes.axvline(1, color=colors["edge"], linewidth=1, zorder=0.6)
    ticks = []
    for number, (name, speeds) in enumerate(SPEEDS.items()):
        y = number * GROUP
        say(axes, name, (LOWEST, y + 15), (4 - LEFT, 0), size=14, weight="bold")
        for index, speed in enumerate(speeds):
            middle = y + HEAD + index * (BAR + GAP) + BAR / 2
            start, end = sorted((1, speed))
            bars(axes, colors, [middle], [start], [end], "hue-blue" if index else "hue-grey", BAR)
            say(axes, f"{speed:.2f}", (end, middle), (5, -4.5), size=12)
            ticks.append(middle)
    axes.set_yticks(ticks, LAYERS * len(SPEEDS))


def _words() -> str:
    return "; ".join(
        f"{name}: " + ", ".join(f"{layer} {speed:.2f}" for layer, speed in zip(LAYERS, speeds))
        for name, speeds in SPEEDS.items()
    )


FIGURE = Chart(
    "layers_of_passes", WIDTH, HEIGHT, "What each group of passes is worth",
    f"Bars: the speedup of compiled networks over those without passes, on a logarithmic scale. {_words()}.",
    (LEFT, TOP, RIGHT, BELOW), draw,
)  # fmt: skip
