"""The time that each executor adds to small kernels: the table of `benchmarks/executors.py`, drawn."""

from __future__ import annotations

import json
from pathlib import Path

from matplotlib.axes import Axes

from figures.chart import Chart
from relay_explorer.interop import plot_bars
from relay_explorer.interop.charts.bars import rows

DATA = Path(__file__).parents[1] / "benchmarks" / "executors.json"
WIDTH, LEFT, RIGHT, TOP, ROW = 480, 118, 24, 28, 21
NAMES = {"interpreter": "interpreter", "vm": "virtual machine", "graph": "graph", "aot": "ahead of time"}
HUES = {"interpreter": "teal", "virtual machine": "blue", "graph": "orange", "ahead of time": "purple"}


def _steps() -> dict[str, dict[str, float]]:
    """Return the microseconds of a step, by program and executor."""
    data = json.loads(DATA.read_text("utf-8"))
    return {
        name: {NAMES[key]: seconds * 1e6 / data["steps"][name] for key, seconds in times.items()}
        for name, times in data["seconds"].items()
    }


STEPS = _steps()
HEIGHT = TOP + ROW * rows(STEPS)


def draw(axes: Axes, theme: str) -> None:
    plot_bars(STEPS, axes, unit=" µs", scale="log10", hues=HUES, theme=theme)


def _words() -> str:
    return "; ".join(
        f"{name}: " + ", ".join(f"{executor} {micro:.2g} µs" for executor, micro in times.items())
        for name, times in STEPS.items()
    )


FIGURE = Chart(
    "dispatch", WIDTH, HEIGHT, "What a step costs under each executor",
    f"Bars, on a logarithmic scale: the time of a step of three programs of very small kernels. {_words()}.",
    (LEFT, TOP, RIGHT, 0), draw,
)  # fmt: skip
