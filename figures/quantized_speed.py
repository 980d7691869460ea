"""The speedup by 8-bit integers: the measured table of `benchmarks/quantized.py`, one thread, drawn."""

from __future__ import annotations

import json
import math
from pathlib import Path

from matplotlib.axes import Axes

from figures.chart import Chart
from relay_explorer.interop.charts.style import bars, say

DATA = Path(__file__).parents[1] / "benchmarks" / "quantized.json"
WIDTH, LEFT, RIGHT = 480, 116, 40
BAR, GAP, HEAD, TOP, BELOW = 14, 4, 24, 30, 8
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
        network: {program: times["float"] / times[program] for program in PROGRAMS}
        for network, times in seconds.items()
    }
    means = {
        program: math.prod(each[program] for each in speedups.values()) ** (1 / len(speedups))
        for program in PROGRAMS
    }
    return speedups | {"geometric mean": means}


SPEEDUPS = _speedups()
GROUP = HEAD + len(PROGRAMS) * (BAR + GAP)
HEIGHT = TOP + len(SPEEDUPS) * GROUP + BELOW
MOST = math.ceil(max(max(each.values()) for each in SPEEDUPS.values()))


def draw(axes: Axes, colors: dict[str, str]) -> None:
    axes.set_xlim(0, MOST)
    axes.set_ylim(HEIGHT - TOP - BELOW, 0)
    axes.set_xticks(range(MOST + 1), [f"{mark}×" for mark in range(MOST + 1)])
    axes.xaxis.tick_top()
    axes.tick_params(top=False)
    axes.grid(axis="x")
    axes.axvline(1, color=colors["edge"], linewidth=1, zorder=0.6)
    ticks, labels = [], []
    for number, (network, speedups) in enumerate(SPEEDUPS.items()):
        y = number * GROUP
        say(axes, network, (0, y + 15), (4 - LEFT, 0), size=14, weight="bold")
        for index, (program, speedup) in enumerate(speedups.items()):
            middle = y + HEAD + index * (BAR + GAP) + BAR / 2
            label, hue = PROGRAMS[program]
            bars(axes, colors, [middle], [0], [speedup], f"hue-{hue}", BAR)
            say(axes, f"{speedup:.2f}", (speedup, middle), (5, -4.5), size=12)
            ticks.append(middle)
            labels.append(label)
    axes.set_yticks(ticks, labels)


def _words() -> str:
    return "; ".join(
        f"{network}: "
        + ", ".join(f"{PROGRAMS[program][0]} {speedup:.2f}" for program, speedup in speedups.items())
        for network, speedups in SPEEDUPS.items()
    )


FIGURE = Chart(
    "quantized_speed", WIDTH, HEIGHT, "Networks in 8-bit integers, over this compiler's float32",
    f"Bars: the speedup of networks in 8-bit integers over the same networks in float32, both on one thread. "
    f"{_words()}.",
    (LEFT, TOP, RIGHT, BELOW), draw,
)  # fmt: skip
