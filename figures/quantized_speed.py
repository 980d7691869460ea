"""The speedup by 8-bit integers: the measured table of `benchmarks/quantized.py`, one thread, drawn."""

from __future__ import annotations

import json
import math
from pathlib import Path

from matplotlib.axes import Axes

from figures.chart import Chart
from relay_explorer.interop import plot_bars
from relay_explorer.interop.charts.bars import rows

DATA = Path(__file__).parents[1] / "benchmarks" / "quantized.json"
WIDTH, LEFT, RIGHT, TOP, ROW = 480, 116, 20, 28, 18
PROGRAMS = {
    "ours": ("this compiler", "blue"),
    "onnx": ("ONNX Runtime", "orange"),
    "torch": ("PyTorch", "purple"),
}


def _speedups() -> dict[str, dict[str, float]]:
    """Return how many times faster than our float32 each program in 8-bit integers is, by network and in the
    geometric mean.
    """
    seconds = json.loads(DATA.read_text("utf-8"))["1"]
    speedups = {
        network: {name: times["float"] / times[program] for program, (name, _) in PROGRAMS.items()}
        for network, times in seconds.items()
    }
    means = {
        name: math.prod(each[name] for each in speedups.values()) ** (1 / len(speedups))
        for name, _ in PROGRAMS.values()
    }
    return speedups | {"geometric mean": means}


SPEEDUPS = _speedups()
HEIGHT = TOP + ROW * rows(SPEEDUPS)


def draw(axes: Axes, theme: str) -> None:
    plot_bars(SPEEDUPS, axes, unit="×", start=1, hues=dict(PROGRAMS.values()), theme=theme)


def _words() -> str:
    return "; ".join(
        f"{network}: " + ", ".join(f"{program} {speedup:.2f}" for program, speedup in speedups.items())
        for network, speedups in SPEEDUPS.items()
    )


FIGURE = Chart(
    "quantized_speed", WIDTH, HEIGHT, "Networks in 8-bit integers, over this compiler's float32",
    f"Bars: the speedup of networks in 8-bit integers over the same networks in float32, both on one thread. "
    f"{_words()}.",
    (LEFT, TOP, RIGHT, 0), draw,
)  # fmt: skip
