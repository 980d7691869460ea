"""LeNet's memory plan: which part of the arena each tensor has, and during which steps."""

from __future__ import annotations

from functools import cache

from matplotlib.axes import Axes

from figures.chart import Chart
from figures.style import palette
from relay_explorer import models, relay
from relay_explorer.analysis.storage import StoragePlan
from relay_explorer.interop import plot_memory
from relay_explorer.interop.charts.style import say

WIDTH, HEIGHT = 480, 380
LEFT, TOP, RIGHT, BOTTOM = 62, 34, 8, 76
KB = 1_000  # the unit of the chart
STEPS = ("conv", "pool", "conv", "pool", "view", "dense", "dense", "dense", "softmax")


@cache
def plan() -> StoragePlan:
    """Return the plan of LeNet after fusion."""
    typed = relay.transform.InferType()(models.load("lenet"))
    fused = relay.transform.InferType()(relay.transform.FuseOps(2)(typed))
    return relay.analysis.plan_memory(fused["main"])


def draw(axes: Axes, theme: str) -> None:
    colors = palette(theme)
    whole = plan()
    soft = colors["soft"]
    plot_memory(whole, axes, theme=theme)
    axes.set_title("", loc="left")
    axes.set_xlabel("")
    axes.set_ylabel("")
    offsets = [buffer.offset for buffer in whole.buffers[:3]]
    labels = [f"{offset:,}" for offset in offsets]
    axes.set_yticks([offset / KB for offset in offsets], labels, size=13, va="top")
    axes.set_xticks([])
    for offset in [*(buffer.offset for buffer in whole.buffers), whole.arena]:
        axes.axhline(offset / KB, color=colors["line"], linewidth=1, zorder=0.5)
    say(axes, "byte", (0, 0), (-6, 16), size=13, color=soft, ha="right")
    for number, name in enumerate(STEPS):
        say(axes, str(number), (number + 0.5, 0), (0, 16), size=13, color=soft, ha="center")
        below = -22 if number < len(STEPS) - 1 else -38  # two lines: the last is long
        say(axes, name, (number + 0.5, whole.arena / KB), (0, below), size=13, color=soft, ha="center")
    words = f"One arena of {whole.arena:,} bytes, four buffers. Time runs to the right."
    say(axes, words, (0, whole.arena / KB), (8 - LEFT, -66), size=13.5)


FIGURE = Chart(
    "arena_time", WIDTH, HEIGHT, "LeNet's arena over time",
    """A chart with LeNet's nine steps from left to right and the bytes of the arena from top to bottom. In
    the first buffer, at byte 0, lie the result of the first convolution, 18,816 bytes, in steps 0 and 1, and
    later that of the second, 6,400 bytes, in steps 2 and 3. In the second buffer, at byte 18,816, lie the
    two pooling results, 4,704 bytes in steps 1 and 2 and 1,600 bytes in steps 3 to 5, and then a dense
    layer's. The dense layers alternate between it and a small third buffer; the softmax has a fourth.""",
    (LEFT, TOP, RIGHT, BOTTOM), draw,
)  # fmt: skip
