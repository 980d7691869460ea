"""The speed of one layer in every tile, from a measurement: it rises with the tile, until the registers are
used up.
"""

from __future__ import annotations

from matplotlib.axes import Axes

from figures.chart import Chart
from figures.style import palette
from figures.tuning_data import measured
from relay_explorer.interop import plot_series
from relay_explorer.interop.charts.style import say

WIDTH, HEIGHT = 480, 330
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 50, 46
REGISTERS = 32


def _speeds() -> dict[int, list[tuple[int, float]]]:
    """Return the accumulators of each tile and its GFLOP/s, by the channels of the tile."""
    data = measured()
    points: dict[int, list[tuple[int, float]]] = {}
    for one in data["space"]:
        sums = one["channels"] * one["columns"]
        points.setdefault(one["channels"], []).append((sums, data["flops"] / one["seconds"] / 1e9))
    return points


SPEEDS = _speeds()


def draw(axes: Axes, theme: str) -> None:
    red = palette(theme)["bad"]
    series = {
        f"{channels} wide" if channels > 1 else "1 vector wide": row for channels, row in SPEEDS.items()
    }
    plot_series(series, axes, x="accumulators (vectors)", y="GFLOP/s", theme=theme)
    axes.axvline(REGISTERS, color=red, linestyle=(0, (4, 3)))
    say(axes, f"{REGISTERS} registers", (REGISTERS, 0), (-6, 8), size=12.5, color=red, ha="right")


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
