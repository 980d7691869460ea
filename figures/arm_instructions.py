"""Instructions per sentence on ARM, in float32 and in int8, as `benchmarks.quantized_on_arm` counts them."""

from __future__ import annotations

import json
from pathlib import Path

from matplotlib.axes import Axes

from figures.chart import Chart
from relay_explorer.interop import plot_parts
from relay_explorer.interop.charts.bars import rows

DATA = Path(__file__).parents[1] / "benchmarks" / "quantized_on_arm.json"
WIDTH, LEFT, RIGHT, TOP, ROW, KEY = 480, 112, 4, 2, 25, 66
TITLES = ("words of 16, states of 32 (ours)", "words of 300, states of 150 (the paper's)")
PARTS = {
    "products": ("purple", "products with weights"),
    "kernels": ("blue", "other kernels"),
    "rest": ("grey", "checks, runtime, reading, printing"),
}


def _rows() -> dict[str, dict[str, dict[str, float]]]:
    """Return thousands of instructions per sentence, by network, bar and part. The boards execute almost the
    same instructions in float32, so one bar stands for both.
    """
    networks = json.loads(DATA.read_text("utf-8"))
    rows = {}
    for title, boards in zip(TITLES, networks.values()):
        bars_ = {"float32": boards["Pi 5"]["float32"]}
        bars_ |= {f"int8, {board}": numbers["int8"] for board, numbers in boards.items()}
        rows[title] = {
            name: {part: count / 1000 for part, count in result["instructions"].items()}
            for name, result in bars_.items()
        }
    return rows


ROWS = _rows()
HEIGHT = TOP + ROW * rows(ROWS) + KEY


def total(parts: dict[str, float]) -> float:
    return sum(parts.values())


def draw(axes: Axes, theme: str) -> None:
    hues = {words: hue for hue, words in PARTS.values()}
    named = {
        title: {
            name: {PARTS[part][1]: count for part, count in parts.items()} for name, parts in each.items()
        }
        for title, each in ROWS.items()
    }
    plot_parts(named, axes, relative=True, hues=hues, theme=theme)


def _words() -> str:
    return "; ".join(
        f"{title}: "
        + ", ".join(
            f"{name} {total(parts):,.0f}, of which products with weights {parts['products']:,.0f}"
            for name, parts in rows.items()
        )
        for title, rows in ROWS.items()
    )


FIGURE = Chart(
    "arm_instructions", WIDTH, HEIGHT, "Instructions per sentence, in thousands",
    f"""Bars for two TreeLSTMs: thousands of instructions that the program executes for a sentence, in float32
    and with 8-bit integers on two boards, divided into products with weights, other kernels, and the rest.
    {_words()}.""",
    (LEFT, TOP, RIGHT, KEY), draw,
)  # fmt: skip
