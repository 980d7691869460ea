"""The speedup by each group of passes: the measured table of `benchmarks/layers_of_passes.py`, drawn."""

from __future__ import annotations

import json
import math
from pathlib import Path

from matplotlib.axes import Axes

from figures.chart import Chart
from relay_explorer.interop import plot_bars
from relay_explorer.interop.charts.bars import rows

DATA = Path(__file__).parents[1] / "benchmarks" / "layers_of_passes.json"
WIDTH, LEFT, RIGHT, TOP, ROW = 480, 168, 20, 28, 18


def _speeds() -> dict[str, dict[str, float]]:
    """Return, per network and in the mean, the speedup with each layer of passes over none."""
    data = json.loads(DATA.read_text("utf-8"))
    speeds = {name: [times[0] / t for t in times] for name, times in data["seconds"].items()}
    means = [math.prod(each) ** (1 / len(speeds)) for each in zip(*speeds.values())]
    speeds["geometric mean"] = means
    return {name: dict(zip(data["layers"], each)) for name, each in speeds.items()}


SPEEDS = _speeds()
HEIGHT = TOP + ROW * rows(SPEEDS)


def draw(axes: Axes, theme: str) -> None:
    plot_bars(SPEEDS, axes, unit="×", scale="log2", start=1, theme=theme)


def _words() -> str:
    return "; ".join(
        f"{name}: " + ", ".join(f"{layer} {speed:.2f}" for layer, speed in speeds.items())
        for name, speeds in SPEEDS.items()
    )


FIGURE = Chart(
    "layers_of_passes", WIDTH, HEIGHT, "What each group of passes is worth",
    f"Bars: the speedup of compiled networks over those without passes, on a logarithmic scale. {_words()}.",
    (LEFT, TOP, RIGHT, 0), draw,
)  # fmt: skip
