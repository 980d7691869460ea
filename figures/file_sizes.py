"""Where the bytes of the sentiment program are, static and dynamic, as chapter 24 measures them."""

from __future__ import annotations

from matplotlib.axes import Axes

from figures.chart import Chart
from relay_explorer.interop.charts.style import bars, say

WIDTH, HEIGHT = 480, 214
# Kilobytes, as the chapter's cell prints them with GCC 12 and glibc 2.36 of Debian 12.
LIBRARY, WEIGHTS, STATIC, DYNAMIC = 702.3, 47.1, 862.2, 145.9
LEFT = RIGHT = 12


def draw(axes: Axes, colors: dict[str, str]) -> None:
    axes.set_xlim(0, STATIC)
    axes.set_ylim(HEIGHT, 0)  # units of the sheet, downwards
    axes.set_axis_off()
    rest, code = STATIC - LIBRARY - WEIGHTS, DYNAMIC - WEIGHTS
    files = [
        (f"static: {STATIC:.0f} kB", 20, {"grey": LIBRARY, "purple": rest, "blue": WEIGHTS}),
        (f"with the board's own C library: {DYNAMIC:.0f} kB", 94, {"purple": code, "blue": WEIGHTS}),
    ]
    for title, y, parts in files:
        say(axes, title, (0, y), size=14, weight="bold")
        start = 0.0
        for hue, size in parts.items():
            bars(axes, colors, [y + 25], [start], [start + size], f"hue-{hue}", 30)
            words = f"C library, {size:.0f}" if hue == "grey" else f"{size:.0f}"
            say(axes, words, (start + size / 2, y + 25), (0, -4.5), ha="center")
            start += size
    key = (("grey", "C library"), ("purple", "kernels, runtime and program"), ("blue", "weights"))
    for (hue, words), (x, y) in zip(key, ((0, 167), (0, 193), (500, 167))):
        bars(axes, colors, [y], [x], [x + 44], f"hue-{hue}", 18)
        say(axes, words, (x + 44, y), (8, -4.5), size=13.5)


FIGURE = Chart(
    "file_sizes", WIDTH, HEIGHT, "Where the bytes of the program are",
    f"""Two bars. The static file has {STATIC:.0f} kilobytes: {LIBRARY:.0f} of the C library,
    {STATIC - LIBRARY - WEIGHTS:.0f} of kernels, runtime and program, and {WEIGHTS:.0f} of weights. Linked
    with the board's own C library, the file has {DYNAMIC:.0f} kilobytes: {DYNAMIC - WEIGHTS:.0f} of kernels,
    runtime and program, and {WEIGHTS:.0f} of weights.""",
    (LEFT, 0, RIGHT, 0), draw,
)  # fmt: skip
