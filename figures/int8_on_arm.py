"""The paper's quantized networks on two ARM boards, drawn from the numbers that its authors published."""

from __future__ import annotations

from matplotlib.axes import Axes

from figures.chart import Chart
from figures.evaluation_data import collected
from relay_explorer.interop.charts.style import bars, say

WIDTH, LEFT, RIGHT, TOP, BELOW = 480, 140, 46, 30, 6
BAR, GAP, HEAD = 14, 4, 25
SCHEMES = {
    "int8/int32": ("int32 accumulators", "hue-orange"),
    "int8/int16": ("int16 accumulators", "hue-blue"),
}
MOST = 4.0

BOARDS: dict[str, dict[str, dict[str, float]]] = {
    board: {
        network: {scheme: times["float32"] / times[scheme] for scheme in SCHEMES}
        for network, times in networks.items()
    }
    for board, networks in collected()["published"]["quantization"]["milliseconds"].items()
}
GROUPS = {f"{network}, {board}": row for board, rows in BOARDS.items() for network, row in rows.items()}
GROUP = HEAD + len(SCHEMES) * (BAR + GAP)
HEIGHT = TOP + len(GROUPS) * GROUP + BELOW


def draw(axes: Axes, colors: dict[str, str]) -> None:
    axes.set_xlim(0, MOST)
    axes.set_ylim(HEIGHT - TOP - BELOW, 0)
    axes.set_xticks([0, 1, 2, 3, 4], ["0", "1×", "2×", "3×", "4×"])
    axes.xaxis.tick_top()
    axes.tick_params(top=False)
    axes.grid(axis="x")
    axes.axvline(1, color=colors["ink"], linewidth=1.2, zorder=0.6)
    ticks: list[float] = []
    for number, (name, row) in enumerate(GROUPS.items()):
        y = number * GROUP
        say(axes, name, (0, y + 16), (4 - LEFT, 0), size=13.5, weight="bold")
        for index, (scheme, speed) in enumerate(row.items()):
            middle = y + HEAD + index * (BAR + GAP) + BAR / 2
            bars(axes, colors, [middle], [0], [speed], SCHEMES[scheme][1], BAR)
            say(axes, f"{speed:.2f}", (max(speed, 1), middle), (5, -4.5), size=12)
            ticks.append(middle)
    axes.set_yticks(ticks, [name for name, _ in SCHEMES.values()] * len(GROUPS))


def _words() -> str:
    return "; ".join(
        f"{name}: " + ", ".join(f"{SCHEMES[scheme][0]} {speed:.2f}" for scheme, speed in row.items())
        for name, row in GROUPS.items()
    )


FIGURE = Chart(
    "int8_on_arm", WIDTH, HEIGHT, "Quantized networks on two ARM boards, in 2019",
    f"""Bars: how many times as fast as in float32 a network runs with elements of 8 bits, on two boards.
    {_words()}.""",
    (LEFT, TOP, RIGHT, BELOW), draw,
)  # fmt: skip
