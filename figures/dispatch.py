"""The time that each executor adds to small kernels: the table of `benchmarks/executors.py`, drawn."""

from __future__ import annotations

import json
import math
from pathlib import Path

from matplotlib.axes import Axes

from figures.chart import Chart
from relay_explorer.interop.charts.style import bars, say

DATA = Path(__file__).parents[1] / "benchmarks" / "executors.json"
WIDTH, LEFT, RIGHT = 480, 118, 62
BAR, GAP, HEAD, TOP, BELOW = 16, 5, 26, 30, 6
NAMES = {"interpreter": "interpreter", "vm": "virtual machine", "graph": "graph", "aot": "ahead of time"}
HUES = {"interpreter": "hue-teal", "vm": "hue-blue", "graph": "hue-orange", "aot": "hue-purple"}


def _steps() -> dict[str, dict[str, float]]:
    """Return the microseconds of a step, by program and executor."""
    data = json.loads(DATA.read_text("utf-8"))
    return {
        name: {executor: seconds * 1e6 / data["steps"][name] for executor, seconds in times.items()}
        for name, times in data["seconds"].items()
    }


STEPS = _steps()
_ALL = [micro for times in STEPS.values() for micro in times.values()]
LOWEST, MOST = 10 ** math.floor(math.log10(min(_ALL))), 10 ** math.ceil(math.log10(max(_ALL)))
HEIGHT = TOP + sum(HEAD + len(times) * (BAR + GAP) for times in STEPS.values()) + BELOW


def draw(axes: Axes, colors: dict[str, str]) -> None:
    axes.set_xscale("log")
    axes.set_xlim(LOWEST, MOST)
    axes.set_ylim(HEIGHT - TOP - BELOW, 0)
    axes.minorticks_off()
    marks = [LOWEST * 10**power for power in range(round(math.log10(MOST / LOWEST)) + 1)]
    axes.set_xticks(marks, [f"{mark:g} µs" for mark in marks])
    axes.xaxis.tick_top()
    axes.tick_params(top=False)
    axes.grid(axis="x")
    y, ticks, names = 0.0, [], []
    for name, times in STEPS.items():
        say(axes, name, (LOWEST, y + 15), (4 - LEFT, 0), size=14, weight="bold")
        y += HEAD
        for executor, micro in times.items():
            middle = y + BAR / 2
            bars(axes, colors, [middle], [LOWEST], [micro], HUES[executor], BAR)
            words = f"{micro:.2g} µs" if micro < 10 else f"{micro:.0f} µs"
            say(axes, words, (micro, middle), (6, -4.5), size=12.5)
            ticks.append(middle)
            names.append(NAMES[executor])
            y += BAR + GAP
    axes.set_yticks(ticks, names, size=12.5)


def _words() -> str:
    return "; ".join(
        f"{name}: " + ", ".join(f"{NAMES[executor]} {micro:.2g} µs" for executor, micro in times.items())
        for name, times in STEPS.items()
    )


FIGURE = Chart(
    "dispatch", WIDTH, HEIGHT, "What a step costs under each executor",
    f"Bars, on a logarithmic scale: the time of a step of three programs of very small kernels. {_words()}.",
    (LEFT, TOP, RIGHT, BELOW), draw,
)  # fmt: skip
