"""A roofline with two kernels of ResNet-18, from the stored measurement."""

from __future__ import annotations

from matplotlib.axes import Axes

from figures.chart import Chart
from figures.style import palette
from relay_explorer.interop.charts.runs import draw_roof
from relay_explorer.interop.charts.style import say
from relay_explorer.lower.profiling.measurement import stored

WIDTH, HEIGHT = 480, 330
LEFT, RIGHT, TOP, BOTTOM = 56, 18, 40, 58
LEAST_X, MOST_X = 0.1, 100.0  # operations per byte
LEAST_Y, MOST_Y = 4.0, 1000.0  # GFLOP/s
# Kernels of the run: the beginning of the name, and the label in the drawing.
SHOWN = (
    ("fused_nn_contrib_dense", "a dense layer"),
    ("fused_nn_contrib_conv2d_NCHWc_add_nn_relu_3", "a convolution"),
)


RUN = stored("resnet18")
PEAK, BANDWIDTH, RIDGE = RUN.limits.flops / 1e9, RUN.limits.bandwidth / 1e9, RUN.limits.ridge


def _kernel(start: str) -> tuple[float, float]:
    """Return the intensity and the speed of the kernel in the run whose name begins with that text."""
    (number,) = [n for n, kernel in enumerate(RUN.kernels) if kernel.name.startswith(start)]
    kernel = RUN.kernels[number]
    spent = min(launch.ns for launch in RUN.launches if launch.kernel == number)
    return kernel.flops / kernel.traffic, kernel.flops / spent


def draw(axes: Axes, theme: str) -> None:
    colors = palette(theme)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(LEAST_X, MOST_X)
    axes.set_ylim(LEAST_Y, MOST_Y)
    axes.minorticks_off()
    axes.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"], size=13)
    axes.set_yticks([10, 100, 1000], ["10", "100", "1,000"], size=13)
    axes.grid(axis="y")
    axes.spines["bottom"].set(visible=True, linewidth=1.5)
    soft, blue, orange = (colors[token] for token in ("soft", "hue-blue", "hue-orange"))
    say(axes, "GFLOP/s", (LEAST_X, MOST_Y), (4 - LEFT, 22), color=soft)
    axes.set_xlabel("operations per byte", loc="right", size=13, labelpad=10)
    draw_roof(axes, RUN.limits, LEAST_X, MOST_X, colors)
    say(axes, f"peak: {PEAK:.0f} GFLOP/s", (MOST_X, PEAK), (0, 9), size=13.5, color=blue, ha="right")
    say(axes, f"bandwidth: {BANDWIDTH:.0f} GB/s", (LEAST_X, 150), (12, 0), size=13.5, color=blue)
    say(axes, f"ridge: {RIDGE:.1f}", (RIDGE, LEAST_Y), (8, 10), size=13.5)
    say(axes, "limited by bandwidth", (RIDGE, LEAST_Y), (-8, 10), color=soft, ha="right")
    for start, label in SHOWN:
        reached = _kernel(start)
        axes.plot(*reached, "o", color=colors["hue-orange-fill"], markeredgecolor=orange, markersize=12,
                  markeredgewidth=2)  # fmt: skip
        by, side = ((0, -24), "center") if reached[0] > RIDGE else ((14, -5), "left")
        say(axes, label, reached, by, size=13.5, color=orange, ha=side)


FIGURE = Chart(
    "roofline", WIDTH, HEIGHT, "The roofline of a machine, and two kernels",
    "Speed in GFLOP/s against operations per byte, both axes logarithmic. "
    f"A slope, the memory's bandwidth of {BANDWIDTH:.0f} GB/s, rises to the ridge at {RIDGE:.1f} operations "
    f"per byte; from there on the roof is flat at the peak of {PEAK:.0f} GFLOP/s. Of two kernels, "
    + "; ".join(
        "the {} has {:.1f} operations per byte and reaches {:.0f} GFLOP/s".format(
            label.removeprefix("a "), *_kernel(start)
        )
        for start, label in SHOWN
    )
    + ".",
    (LEFT, TOP, RIGHT, BOTTOM), draw,
)  # fmt: skip
