"""The paper's quantized networks on two ARM boards, drawn from the numbers that its authors published."""

from __future__ import annotations

from matplotlib.axes import Axes

from figures.chart import Chart
from figures.evaluation_data import collected
from relay_explorer.interop import plot_bars
from relay_explorer.interop.charts.bars import rows

WIDTH, LEFT, RIGHT, TOP, ROW = 480, 140, 20, 28, 18
SCHEMES = {"int8/int32": "int32 accumulators", "int8/int16": "int16 accumulators"}
HUES = {"int32 accumulators": "orange", "int16 accumulators": "blue"}

BOARDS: dict[str, dict[str, dict[str, float]]] = {
    board: {
        network: {name: times["float32"] / times[scheme] for scheme, name in SCHEMES.items()}
        for network, times in networks.items()
    }
    for board, networks in collected()["published"]["quantization"]["milliseconds"].items()
}
GROUPS = {f"{network}, {board}": row for board, rows in BOARDS.items() for network, row in rows.items()}
HEIGHT = TOP + ROW * rows(GROUPS)


def draw(axes: Axes, theme: str) -> None:
    plot_bars(GROUPS, axes, unit="×", start=1, hues=HUES, theme=theme)


def _words() -> str:
    return "; ".join(
        f"{name}: " + ", ".join(f"{scheme} {speed:.2f}" for scheme, speed in row.items())
        for name, row in GROUPS.items()
    )


FIGURE = Chart(
    "int8_on_arm", WIDTH, HEIGHT, "Quantized networks on two ARM boards, in 2019",
    f"""Bars: how many times as fast as in float32 a network runs with elements of 8 bits, on two boards.
    {_words()}.""",
    (LEFT, TOP, RIGHT, 0), draw,
)  # fmt: skip
