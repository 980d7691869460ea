"""A roofline with two kernels of ResNet-18, from the stored measurement."""

from __future__ import annotations

from matplotlib.axes import Axes

from figures.chart import Chart
from figures.style import palette
from relay_explorer.interop import plot_roofline
from relay_explorer.interop.charts.style import say
from relay_explorer.lower.profiling.measurement import stored

WIDTH, HEIGHT = 480, 330
LEFT, RIGHT, TOP, BOTTOM = 74, 18, 12, 58
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
    plot_roofline(RUN, axes, kernels=dict(SHOWN), theme=theme)
    axes.set_title("", loc="left")
    axes.spines["bottom"].set(visible=True, linewidth=1.5)
    soft = colors["soft"]
    axes.set_xlabel("operations per byte", loc="right", size=13, labelpad=10)
    say(axes, f"ridge: {RIDGE:.1f}", (RIDGE, axes.get_ylim()[0]), (8, 10), size=13.5)
    say(axes, "limited by bandwidth", (RIDGE, axes.get_ylim()[0]), (-8, 10), color=soft, ha="right")


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
