"""Compiled networks against the programs of today: the tables of `benchmarks/networks.py`, `imported.py` and
`recurrent.py`, drawn.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

from matplotlib.axes import Axes

from figures.chart import Chart
from figures.evaluation_data import collected
from relay_explorer.interop.charts.style import say

WIDTH, RIGHT, TOP, BOTTOM, ROW = 480, 14, 74, 8, 26
OURS = ("ours", "aot", "graph", "vm")
NAMES = {
    "char_rnn": "character RNN", "char_rnn_writer": "character RNN, writing", "dqn": "DQN", "gru": "GRU",
    "lstm": "LSTM", "mobilenet": "MobileNet", "resnet18": "ResNet-18", "resnet50": "ResNet-50",
    "rnn": "RNN", "tree_lstm": "TreeLSTM", "vgg16": "VGG-16",
}  # fmt: skip


class Mark(NamedTuple):
    """How a program is drawn: its name, the shape and size of its mark, and its color."""

    name: str
    shape: str
    size: float
    hue: str


MARKS = {
    "eager": Mark("PyTorch eager", "o", 9, "hue-blue"),
    "layer": Mark("PyTorch's layer", "^", 9, "hue-teal"),
    "compile": Mark("torch.compile", "s", 8, "hue-orange"),
    "onnx": Mark("ONNX Runtime", "D", 7.5, "hue-purple"),
}


def speedups(table: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return, by network and other program, how many times as fast our fastest executor is."""
    rows = {}
    for name, times in table.items():
        ours = min(times[program] for program in OURS if program in times)
        rows[NAMES.get(name, name)] = {key: times[key] / ours for key in MARKS if key in times}
    return rows


def draw(axes: Axes, colors: dict[str, str], groups: dict[str, dict[str, dict[str, float]]]) -> None:
    """Draw a row for each network; a group's title, if it has one, takes a row of its own."""
    values = [value for rows in groups.values() for row in rows.values() for value in row.values()]
    low, high = math.floor(math.log2(min(values))), math.ceil(math.log2(max(values)))
    axes.set_xscale("log", base=2)
    axes.set_xlim(2 ** (low - 0.1), 2 ** (high + 0.1))
    length = sum(len(rows) + bool(title) for title, rows in groups.items())
    axes.set_ylim(length, 0)
    axes.minorticks_off()
    ticks = [2.0**power for power in range(low, high + 1)]
    axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axes.xaxis.tick_top()
    axes.tick_params(top=False)
    axes.grid(axis="x")
    axes.axvline(1, color=colors["ink"], linewidth=1.2, zorder=0.6)
    places, names, y = [], [], 0.5
    for title, rows in groups.items():
        if title:
            say(axes, title, (2 ** (low - 0.1), y), (0, -4), size=13, weight="bold", ha="right")
            y += 1
        for name, row in rows.items():
            axes.plot(
                [min(row.values()), max(row.values())], [y, y],
                color=colors["edge"], linewidth=1, zorder=0.8,
            )  # fmt: skip
            for key, value in row.items():
                mark = MARKS[key]
                axes.plot(
                    [value], [y], mark.shape, markersize=mark.size, markeredgewidth=1.4,
                    markerfacecolor=colors[f"{mark.hue}-fill"], markeredgecolor=colors[mark.hue],
                    clip_on=False,
                )  # fmt: skip
            places.append(y)
            names.append(name)
            y += 1
    axes.set_yticks(places, names, size=12.5)
    _legend(
        axes,
        colors,
        [key for key in MARKS if any(key in row for rows in groups.values() for row in rows.values())],
    )


def _legend(axes: Axes, colors: dict[str, str], keys: list[str]) -> None:
    """Draw each program's mark and name above the chart, two in a line."""
    width, height = axes.bbox.width * 72 / axes.figure.dpi, axes.bbox.height * 72 / axes.figure.dpi
    for number, key in enumerate(keys):
        mark = MARKS[key]
        x, y = 4 + 128 * (number % 2), height + TOP - 16 - 19 * (number // 2)
        axes.plot(
            [x / width], [y / height], mark.shape, markersize=mark.size, markeredgewidth=1.4,
            markerfacecolor=colors[f"{mark.hue}-fill"], markeredgecolor=colors[mark.hue],
            clip_on=False, transform=axes.transAxes,
        )  # fmt: skip
        axes.annotate(
            mark.name,
            (x / width, y / height),
            (9, -4.5),
            xycoords="axes fraction",
            textcoords="offset points",
            size=12.5,
        )


def _words(groups: dict[str, dict[str, dict[str, float]]]) -> str:
    return "; ".join(
        f"{name}: " + ", ".join(f"{MARKS[key].name} {value:.2f}" for key, value in row.items())
        for rows in groups.values()
        for name, row in rows.items()
    )


def _chart(name: str, title: str, left: float, groups: dict[str, dict[str, dict[str, float]]]) -> Chart:
    rows = sum(len(each) + bool(heading) for heading, each in groups.items())
    return Chart(
        name, WIDTH, TOP + ROW * rows + BOTTOM, title,
        f"""Marks on a logarithmic scale: how many times as fast as another program the compiled network is;
        left of 1 the other program is faster. {_words(groups)}.""",
        (left, TOP, RIGHT, BOTTOM), partial(draw, groups=groups),
    )  # fmt: skip


def _vision() -> dict[str, dict[str, dict[str, float]]]:
    """Return the networks of two threads; those imported from ONNX follow once they have been measured."""
    tables = collected()
    own = speedups(tables["networks"]["2"])
    if not tables["imported"]:
        return {"": own}
    return {"our own programs": own, "imported from ONNX": speedups(tables["imported"]["2"])}


FIGURES = (
    _chart("networks_compared", "Compiled networks against three programs of today", 158, _vision()),
    _chart(
        "recurrent_compared", "Compiled recurrent networks and trees against PyTorch and ONNX Runtime", 158,
        {"": speedups(collected()["recurrent"]["1"])},
    ),
)  # fmt: skip
