"""The size of each intermediate result of LeNet, and the pair of neighbors that needs most memory."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import prod

from matplotlib.axes import Axes

from figures.chart import Chart
from figures.style import palette
from relay_explorer import models, relay
from relay_explorer.interop.charts.style import bars, say
from relay_explorer.ir.narrow import as_call, as_op, as_tensor_type

WIDTH, HEIGHT = 480, 456
LEFT, TOP, RIGHT, BOTTOM = 140, 34, 10, 30
UNIT = 180 / 18_816  # width of a byte


@cache
def _results() -> list[tuple[str, int]]:
    """Return each operator of LeNet with the size of its result in bytes."""
    typed = relay.transform.InferType()(models.load("lenet"))
    return [
        (as_op(as_call(call).op).name, 4 * prod(as_tensor_type(call.checked_type).concrete_shape))
        for call in relay.analysis.costs(typed)
    ]


def draw(axes: Axes, theme: str) -> None:
    colors = palette(theme)
    results = _results()
    sizes = [float(size) for _, size in results]
    rows = [float(row) for row in range(len(results))]
    axes.set_xlim(0, (WIDTH - LEFT - RIGHT) / UNIT)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xticks([])
    names = [name for name, _ in results]
    axes.set_yticks(rows, names, size=13, color=colors["ink"], family="monospace")
    how = {"size": 13, "weight": "bold"}
    say(axes, "bytes of the result", (0, -0.5), (0, 10), color=colors["soft"], **how)
    bars(axes, colors, rows, [0.0] * len(rows), sizes, "hue-blue", 0.77)
    for row, size in zip(rows, sizes):
        say(axes, f"{size:,.0f}", (size, row), (8, -4.5))
    pairs = [one + other for one, other in pairwise(sizes)]
    peak = pairs.index(max(pairs))
    x, step = 246 / UNIT, 8 / UNIT
    bracket = [x, x + step, x + step, x], [peak - 0.35, peak - 0.35, peak + 1.35, peak + 1.35]
    axes.plot(*bracket, color=colors["hue-orange"], linewidth=2)
    say(axes, "the peak:", (x, peak + 0.5), (16, 3), **how)
    say(axes, f"{max(pairs):,.0f}", (x, peak + 0.5), (16, -14), **how)
    total = f"All results together: {sum(sizes):,.0f} bytes."
    say(axes, total, (0, len(rows) - 0.5), (10 - LEFT, -20), size=13.5)


FIGURE = Chart(
    "lenet_memory", WIDTH, HEIGHT, "The sizes of LeNet's intermediate results",
    """Bars for the 18 operators of LeNet in order. The first convolution, bias and ReLU produce 18,816 bytes
    each, the first pooling 4,704, the second convolution, bias and ReLU 6,400 each, pooling and flatten
    1,600 each, and the dense layers 480, 336 and 40. Two of the first three neighbors together are the
    peak, 37,632 bytes; all results together are 86,120 bytes.""",
    (LEFT, TOP, RIGHT, BOTTOM), draw,
)  # fmt: skip
