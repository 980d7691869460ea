"""Instructions per sentence on ARM, in float32 and in int8, as `benchmarks.quantized_on_arm` counts them."""

from __future__ import annotations

import json
from pathlib import Path

from matplotlib.axes import Axes

from figures.chart import Chart
from relay_explorer.interop.charts.style import bars, say

DATA = Path(__file__).parents[1] / "benchmarks" / "quantized_on_arm.json"
WIDTH, LEFT, RIGHT = 480, 112, 64
BAR, GAP, HEAD, TOP, KEY = 20, 6, 28, 4, 62
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
HEIGHT = TOP + sum(HEAD + len(rows) * (BAR + GAP) + 10 for rows in ROWS.values()) + KEY


def total(parts: dict[str, float]) -> float:
    return sum(parts.values())


def draw(axes: Axes, colors: dict[str, str]) -> None:
    axes.set_xlim(0, 1)  # each network's float32 is 1
    axes.set_ylim(HEIGHT, 0)
    axes.set_axis_off()
    y = float(TOP)
    for title, rows in ROWS.items():
        say(axes, title, (0, y + 16), (8 - LEFT, 0), size=14, weight="bold")
        y += HEAD
        for name, parts in rows.items():
            middle, start = y + BAR / 2, 0.0
            say(axes, name, (0, middle), (-8, -4.5), size=13.5, ha="right")
            for part, count in parts.items():
                end = start + count / total(rows["float32"])
                bars(axes, colors, [middle], [start], [end], f"hue-{PARTS[part][0]}", BAR)
                start = end
            say(axes, f"{total(parts):,.0f}", (start, middle), (8, -4.5), size=13.5)
            y += BAR + GAP
        y += 10
    for (hue, words), (x, down) in zip(PARTS.values(), ((0.0, 14), (0.67, 14), (0.0, 40))):
        bars(axes, colors, [y + down], [x], [x + 0.09], f"hue-{hue}", 16)
        say(axes, words, (x + 0.09, y + down), (8, -4.5), size=13.5)


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
    (LEFT, 0, RIGHT, 0), draw,
)  # fmt: skip
