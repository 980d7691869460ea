"""The experiments of the Relay paper's evaluation, and what stands beside each of them today."""

from __future__ import annotations

from typing import NamedTuple

from figures.canvas import Canvas, Figure

WIDTH, TOP, ROW, TALL = 480, 40, 56, 48
LEFT, MIDDLE, RIGHT = 4, 96, 294


class Row(NamedTuple):
    """An experiment: its name, the paper's device and baselines, ours, and whether we repeat it; in lines."""

    name: tuple[str, ...]
    paper: tuple[str, ...]
    today: tuple[str, ...]
    repeated: bool = True


ROWS = (
    Row(
        ("groups of", "passes"),
        ("CPU, GPU:", "Relay without passes"),
        ("CPU:", "our compiler without them"),
    ),
    Row(
        ("vision", "networks"),
        ("GPU: TensorFlow, XLA,", "PyTorch, MXNet, NNVM"),
        ("CPU: PyTorch (eager and", "compiled), ONNX Runtime"),
    ),
    Row(
        ("recurrent", "nets, trees"),
        ("CPU: MXNet (RNN, GRU,", "LSTM), PyTorch (others)"),
        ("CPU: PyTorch (eager and", "compiled), ONNX Runtime"),
    ),
    Row(
        ("expressivity",),
        ("nine models,", "one language for all"),
        ("the same nine models,", "and their programs"),
    ),
    Row(
        ("quantization",),
        ("two ARM boards:", "the same in float32"),
        ("not in this edition", "(chapter 20)"),
        repeated=False,
    ),
    Row(
        ("accelerators",),
        ("designs on an FPGA:", "the same without it"),
        ("not in this edition", "(chapter 27)"),
        repeated=False,
    ),
)
HEIGHT = TOP + ROW * len(ROWS)


def _words(c: Canvas, x: float, y: float, lines: tuple[str, ...], **how: bool | str) -> None:
    """Write the lines, centered in a row of the table."""
    first = y + TALL / 2 + 5 - 8.5 * (len(lines) - 1)
    c.lines(x, first, lines, size=12.5, leading=17 / 12.5, **how)


def draw(c: Canvas) -> None:
    for x, title in ((MIDDLE, "in the paper, 2019"), (RIGHT, "in this chapter")):
        c.text(x + 10, 26, title, size=14, bold=True)
    for number, row in enumerate(ROWS):
        y = TOP + ROW * number
        _words(c, LEFT, y, row.name, bold=True)
        c.box(MIDDLE, y, RIGHT - MIDDLE - 22, TALL, fill="hue-grey-fill", edge="hue-grey")
        _words(c, MIDDLE + 10, y, row.paper)
        c.line((RIGHT - 20, y + TALL / 2), (RIGHT - 3, y + TALL / 2), edge="soft", arrow=True)
        if row.repeated:
            c.box(RIGHT, y, WIDTH - RIGHT - 4, TALL, fill="hue-blue-fill", edge="hue-blue")
        else:
            c.box(RIGHT, y, WIDTH - RIGHT - 4, TALL, edge="soft", dashed=True)
        _words(c, RIGHT + 10, y, row.today, color="ink" if row.repeated else "soft")


FIGURE = Figure(
    "evaluation_map", WIDTH, HEIGHT, "The paper's experiments and ours",
    """Six rows: an experiment, the device and the baselines in the paper of 2019, and those in this chapter.
    Groups of passes: in the paper on a CPU and a GPU against Relay without passes; here on a CPU against our
    compiler without passes. Vision networks: in the paper on a GPU against TensorFlow, XLA, PyTorch, MXNet
    and NNVM; here on a CPU against PyTorch, eager and compiled, and ONNX Runtime. Recurrent networks and
    trees: in the paper on a CPU, the RNN, GRU and LSTM against MXNet, the others against PyTorch; here
    against PyTorch, eager and compiled, and ONNX Runtime. Expressivity: nine models in one language, in both.
    Quantization on two ARM boards and designs of accelerators on an FPGA: not in this edition.""",
    draw,
)  # fmt: skip
