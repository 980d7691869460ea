"""Compiled networks against the programs of today: the tables of `benchmarks/networks.py`, `imported.py` and
`recurrent.py`, drawn.
"""

from __future__ import annotations

from functools import partial

from matplotlib.axes import Axes

from figures.chart import Chart
from figures.evaluation_data import collected
from relay_explorer.interop import plot_speedups
from relay_explorer.interop.charts.bars import rows

WIDTH, RIGHT, TOP, BOTTOM, ROW = 480, 18, 68, 4, 24
OURS = ("ours", "aot", "graph", "vm")
NAMES = {
    "char_rnn": "character RNN", "char_rnn_writer": "character RNN, writing", "dqn": "DQN", "gru": "GRU",
    "lstm": "LSTM", "mobilenet": "MobileNet", "resnet18": "ResNet-18", "resnet50": "ResNet-50",
    "rnn": "RNN", "tree_lstm": "TreeLSTM", "vgg16": "VGG-16",
}  # fmt: skip


PROGRAMS = {
    "eager": "PyTorch eager", "layer": "PyTorch's layer", "compile": "torch.compile", "onnx": "ONNX Runtime",
}  # fmt: skip


def speedups(table: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return, by network and other program, how many times as fast our fastest executor is."""
    rows = {}
    for name, times in table.items():
        ours = min(times[program] for program in OURS if program in times)
        rows[NAMES.get(name, name)] = {
            name: times[key] / ours for key, name in PROGRAMS.items() if key in times
        }
    return rows


def draw(axes: Axes, theme: str, groups: dict[str, dict[str, dict[str, float]]]) -> None:
    plot_speedups(groups, axes, programs=list(PROGRAMS.values()), theme=theme)


def _words(groups: dict[str, dict[str, dict[str, float]]]) -> str:
    return "; ".join(
        f"{name}: " + ", ".join(f"{key} {value:.2f}" for key, value in row.items())
        for rows in groups.values()
        for name, row in rows.items()
    )


def _chart(name: str, title: str, left: float, groups: dict[str, dict[str, dict[str, float]]]) -> Chart:
    return Chart(
        name, WIDTH, TOP + ROW * rows(groups) + BOTTOM, title,
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
