"""The style of the charts, which the book's printed figures share: settings, colors, bars, words, units."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from ...ir.errors import RelayError
from ..inline import inline_svg
from ..palette import PALETTES
from ..require import require

# The order in which series take their colors: neighbors differ in lightness or in hue for every kind of
# color blindness, and no chart depends on colors alone.
HUES = ("blue", "orange", "purple", "teal", "olive", "red", "sky", "pink", "brown", "grey")
MARKERS = {
    "circle": "o", "hex": "h", "diamond": "D", "rect": "s", "trapezium": "^", "round": "p",
    "parallelogram": "v", "bar": "X",
}  # fmt: skip


WIDTH, SIZE = 6.2, 11.0  # of a new figure: inches, and the size of its text in points


def look(colors: dict[str, str], size: float = 13, paper: str = "none") -> dict[str, Any]:
    """Return matplotlib's settings: a faint grid, no frame, and text that stays text in SVG files. `size` is
    the size of the text in points, and `paper` is the background color.
    """
    sides = ("left", "right", "top", "bottom")
    axes = {f"axes.spines.{side}": False for side in sides}
    ticks = {
        f"{axis}tick.{name}": value
        for axis in "xy"
        for name, value in {"labelsize": size - 1, "labelcolor": colors["soft"], "major.pad": 6}.items()
    }
    return {
        **axes, **ticks,
        "axes.axisbelow": True, "axes.edgecolor": colors["edge"], "axes.facecolor": "none",
        "axes.labelcolor": colors["soft"], "axes.labelsize": size - 0.5, "axes.titlesize": size,
        "figure.facecolor": paper, "savefig.facecolor": paper, "font.size": size,
        "grid.color": colors["line"], "grid.linewidth": 1, "lines.linewidth": 1.5,
        "lines.solid_capstyle": "round", "path.simplify": False, "svg.fonttype": "none",
        "svg.hashsalt": "relay_explorer", "text.color": colors["ink"], "text.parse_math": False,
        "xtick.bottom": False, "ytick.left": False,
    }  # fmt: skip


def colors_of(theme: str) -> dict[str, str]:
    """Return the colors of a theme by token; raise a RelayError if there is no such theme."""
    if theme not in PALETTES:
        raise RelayError(f"there is no theme {theme!r:.60}", help=[f"there are {', '.join(PALETTES)}"])
    return PALETTES[theme]


@contextmanager
def prepared(ax: Any, theme: str, height: float = 4.0) -> Iterator[tuple[Any, dict[str, str]]]:
    """Provide the Axes to draw into and the colors. If `ax` is None, make new Axes in the book's style."""
    colors = colors_of(theme)
    if ax is not None:
        yield ax, colors
        return
    pyplot, style = require("matplotlib.pyplot"), require("matplotlib.style")
    with style.context(look(colors, SIZE, colors["paper"])):
        size = (WIDTH, height)
        figure, ax = pyplot.subplots(figsize=size, layout="constrained", FigureClass=figure_class())
        figure.theme = theme
        yield ax, colors
        figure.canvas.draw_idle()


@cache
def figure_class() -> Any:
    """Return a subclass of matplotlib's `Figure` that a notebook shows as SVG, with a text alternative."""
    matplotlib = require("matplotlib")

    class Figure(require("matplotlib.figure").Figure):  # type: ignore[misc]  # imported when it is used
        theme = "light"
        description = ""

        def _repr_html_(self) -> str:
            file = io.StringIO()
            with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "relay_explorer"}):
                self.savefig(file, format="svg", metadata={"Date": None})
            titles = [ax.get_title(loc="left") or ax.get_title() for ax in self.axes]
            title = "; ".join(filter(None, titles)) or "A chart"
            return inline_svg(file.getvalue(), title, self.description, self.theme)

    return Figure


def describe(ax: Any, text: str) -> None:
    """Make `text` the text alternative of the figure of an Axes, if `prepared` has made the figure."""
    if isinstance(ax.figure, figure_class()):
        ax.figure.description = text


def listed(rows: Iterable[tuple[str, str]]) -> str:
    """Return names and what is said about each as a sentence for a text alternative."""
    return "; ".join(f"{name}: {words}" for name, words in rows) + "."


def bars(
    axes: Any,
    colors: dict[str, str],
    y: Sequence[float],
    start: Sequence[float],
    end: Sequence[float],
    hue: str,
    size: float,
) -> None:
    """Draw horizontal bars that are `size` high, centered at `y`."""
    widths = [right - left for left, right in zip(start, end)]
    fill, edge = colors[f"{hue}-fill"], colors[hue]
    axes.barh(y, widths, left=start, height=size, color=fill, edgecolor=edge, linewidth=1.2)


def say(
    axes: Any, text: str, at: tuple[float, float], by: tuple[float, float] = (0, 0), **how: object
) -> None:
    """Write `text` at a point of the data, moved `by` points to the right and upwards."""
    axes.annotate(text, at, by, textcoords="offset points", **{"parse_math": False, **how})


def plain_logarithmic(axis: Any) -> None:
    """Label the powers of ten of a logarithmic axis as numbers."""
    ticker = require("matplotlib.ticker")
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_locator(ticker.NullLocator())


def ranking(
    ax: Any, colors: dict[str, str], names: Sequence[str], values: Sequence[float], words: Sequence[str],
    hue: str = "hue-blue",
) -> None:  # fmt: skip
    """Draw one bar for each name, the first at the top, with the words beside it."""
    rows = [float(row) for row in range(len(names))]
    bars(ax, colors, rows, [0.0] * len(rows), values, hue, 0.72)
    ax.set_yticks(rows, [shortened(name) for name in names], family="monospace", parse_math=False)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(0, 1.38 * max([*values, 1e-30]))
    ax.grid(axis="x")
    for row, value, text in zip(rows, values, words):
        say(ax, text, (value, row), (5, 0), color=colors["ink"], va="center_baseline")
    describe(ax, f"Bars. {listed(zip(names, words))}")


def shortened(name: str, longest: int = 34) -> str:
    """Return a name on one line, shortened in the middle if it is too long."""
    flat = "".join([c if c.isprintable() else " " for c in name])
    return flat if len(flat) <= longest else f"{flat[: longest - 12]}…{flat[-11:]}"


def unit(most: float, units: Sequence[tuple[float, str]]) -> tuple[float, str]:
    """Return the size and name of the largest unit in which `most` is at least 1, or of the smallest unit."""
    return next(((size, name) for size, name in units if most >= size), units[-1])


def amount(value: float, units: Sequence[tuple[float, str]]) -> str:
    """Print a value in the largest unit in which it is at least 1."""
    size, name = unit(value, units)
    return f"{value / size:.3g} {name}"


def share(part: float) -> str:
    """Print a part of a whole in percent."""
    return "<1%" if 0 < part < 0.01 else f"{part:.0%}"


SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "bytes"))
FLOPS = ((1e9, "GFLOPs"), (1e6, "MFLOPs"), (1e3, "kFLOPs"), (1.0, "FLOPs"))
