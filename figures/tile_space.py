"""The speed of one layer in every tile, from a measurement: it rises with the tile, until the registers are
used up.
"""

from __future__ import annotations

import math

from matplotlib.axes import Axes

from figures.chart import Chart
from figures.tuning_data import measured
from relay_explorer.interop.charts.style import say

WIDTH, HEIGHT = 480, 330
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 46, 52
REGISTERS = 32
HUES = {1: "hue-blue", 2: "hue-orange", 4: "hue-purple"}
MARKS = {1: ("o", 9), 2: ("s", 8), 4: ("^", 10)}
LEAST, MOST = 1, 112


def _speeds() -> dict[int, list[tuple[int, float]]]:
    """Return the accumulators of each tile and its GFLOP/s, by the channels of the tile."""
    data = measured()
    points: dict[int, list[tuple[int, float]]] = {}
    for one in data["space"]:
        sums = one["channels"] * one["columns"]
        points.setdefault(one["channels"], []).append((sums, data["flops"] / one["seconds"] / 1e9))
    return points


SPEEDS = _speeds()
HIGHEST = 50 * math.ceil(max(speed for row in SPEEDS.values() for _, speed in row) / 50)


def draw(axes: Axes, colors: dict[str, str]) -> None:
    axes.set_xscale("log")
    axes.set_xlim(LEAST, MOST)
    axes.set_ylim(0, HIGHEST)
    axes.minorticks_off()
    ticks = (1, 2, 4, 8, 16, 32, 64)
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_yticks(range(0, HIGHEST + 1, 50))
    axes.grid(axis="y")
    say(axes, "GFLOP/s", (LEAST, HIGHEST), (-48, 28), size=12.5, color=colors["soft"])
    axes.set_xlabel("accumulators (vectors)", loc="right", labelpad=9)
    axes.plot([REGISTERS] * 2, [0, HIGHEST + 8], color=colors["bad"], linestyle=(0, (4, 3)))
    say(axes, "32 registers", (REGISTERS, HIGHEST), (-6, 14), size=12.5, color=colors["bad"], ha="right")
    for number, (channels, row) in enumerate(SPEEDS.items()):
        hue, (marker, size) = colors[HUES[channels]], MARKS[channels]
        how = {"color": hue, "marker": marker, "markersize": size, "markeredgewidth": 1.5}
        how["markerfacecolor"] = colors["paper"] if channels == 1 else hue
        axes.plot([sums for sums, _ in row], [speed for _, speed in row], **how)  # type: ignore[arg-type]
        key = axes.transAxes
        x = ((10, 122, 196)[number] - LEFT) / (WIDTH - LEFT - RIGHT)
        y = (16 - BOTTOM) / (HEIGHT - TOP - BOTTOM)
        axes.plot([x], [y], transform=key, **how)  # type: ignore[arg-type]
        words = f"{channels} wide" if number else "1 vector wide"
        say(axes, words, (x, y), (10, -4), xycoords="axes fraction", size=12.5)


FIGURE = Chart(
    "tile_space", WIDTH, HEIGHT, "The speed of one layer in every tile",
    "Speed in GFLOP/s against the number of vectors of accumulators in a tile, for tiles of one, two and "
    "four vectors of channels. It rises with the tile and falls again where the accumulators approach the "
    "number of registers. "
    + "; ".join(
        f"{channels} wide: " + ", ".join(f"{sums} accumulators {speed:.0f}" for sums, speed in row)
        for channels, row in SPEEDS.items()
    )
    + ".",
    (LEFT, TOP, RIGHT, BOTTOM), draw,
)  # fmt: skip
