"""Where the bytes of the sentiment program are, static and dynamic, as chapter 24 measures them."""

from __future__ import annotations

from matplotlib.axes import Axes

from figures.chart import Chart
from relay_explorer.interop import plot_parts
from relay_explorer.interop.charts.bars import rows

# Kilobytes, as the chapter's cell prints them with GCC 12 and glibc 2.36 of Debian 12.
LIBRARY, WEIGHTS, STATIC, DYNAMIC = 702.3, 47.1, 862.2, 145.9
PROGRAM = "kernels, runtime and program"
FILES = {
    "static": {"": {"C library": LIBRARY, PROGRAM: STATIC - LIBRARY - WEIGHTS, "weights": WEIGHTS}},
    "with the board's own C library": {"": {PROGRAM: DYNAMIC - WEIGHTS, "weights": WEIGHTS}},
}
HUES = {"C library": "grey", PROGRAM: "purple", "weights": "blue"}
WIDTH, LEFT, RIGHT, TOP, ROW, KEY = 480, 10, 4, 2, 34, 66
HEIGHT = TOP + ROW * rows(FILES) + KEY


def draw(axes: Axes, theme: str) -> None:
    plot_parts(FILES, axes, unit=" kB", hues=HUES, theme=theme)


FIGURE = Chart(
    "file_sizes", WIDTH, HEIGHT, "Where the bytes of the program are",
    f"""Two bars. The static file has {STATIC:.0f} kilobytes: {LIBRARY:.0f} of the C library,
    {STATIC - LIBRARY - WEIGHTS:.0f} of kernels, runtime and program, and {WEIGHTS:.0f} of weights. Linked
    with the board's own C library, the file has {DYNAMIC:.0f} kilobytes: {DYNAMIC - WEIGHTS:.0f} of kernels,
    runtime and program, and {WEIGHTS:.0f} of weights.""",
    (LEFT, TOP, RIGHT, KEY), draw,
)  # fmt: skip
