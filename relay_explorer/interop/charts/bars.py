"""Charts of measurements in groups: a bar for each number, bars of several parts, marks beside each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil, floor, log
from typing import Any, NamedTuple

from ...ir.errors import RelayError
from ..require import require
from .style import HUES, MARKERS, bars, describe, listed, prepared, say

HEADING, BETWEEN = 1.3, 0.4  # the heights of a group's heading and of the space below a group, in rows
LEGEND_LINE = 17  # points
LONG_NAME = 26  # characters
THICK = 0.78  # of a bar, in rows
INSIDE = 0.08  # of the chart's width: a part this wide has its number inside
BASES = {"linear": 0.0, "log2": 2.0, "log10": 10.0}

Numbers = Mapping[str, float]


def plot_bars(
    groups: Mapping[str, Numbers],
    ax: Any = None,
    *,
    unit: str = "",
    scale: str = "linear",
    start: float | None = None,
    hues: Mapping[str, str] | None = None,
    title: str = "",
    theme: str = "light",
) -> Any:
    """Draw a bar for each number of a table, in groups: `{"ResNet-18": {"ours": 3.1, "theirs": 2.8}, …}`. The
    heading of a group may be "".

    `unit` follows each number ("×", " ms"). `scale` is "linear", "log2" or "log10". The bars begin at
    `start`: by default at 0, or on a logarithmic scale at a power below the least number; at 1, they show
    what is faster and slower. `hues` maps the names of bars to colors ("blue", "orange", … of HUES); the
    others are blue. Return the Axes.
    """
    values = [value for row in groups.values() for value in row.values()]
    low, high, ticks = _axis(values, scale, start)
    origin = low if start is None else start
    with prepared(ax, theme, 0.7 + 0.28 * rows(groups)) as (axes, colors):
        _prepare(axes, scale, low, high, ticks, unit)
        for place in _laid_out(axes, colors, groups, ticks, start):
            value = groups[place.group][place.name]
            left, right = sorted((origin, value))
            hue = f"hue-{(hues or {}).get(place.name, 'blue')}"
            bars(axes, colors, [place.y], [left], [right], hue, THICK)
            _say_number(axes, colors, f"{number(value)}{unit}", right, place.y)
        axes.set_title(title, loc="left")
        describe(axes, f"Bars. {listed_rows(groups, lambda value: number(value) + unit)}")
    return axes


def plot_parts(
    groups: Mapping[str, Mapping[str, Numbers]],
    ax: Any = None,
    *,
    unit: str = "",
    relative: bool = False,
    hues: Mapping[str, str] | None = None,
    title: str = "",
    theme: str = "light",
) -> Any:
    """Draw bars that are divided into parts: `{"": {"static": {"library": 702, "weights": 47}, …}}` is one
    group without a heading. The number beside a bar is its sum.

    `unit` follows the sums. With `relative=True`, the bars of a group are as long as they are in comparison
    with its first bar. `hues` maps the names of parts to colors, which otherwise follow HUES. Return the
    Axes.
    """
    parts = list(dict.fromkeys(p for group in groups.values() for bar in group.values() for p in bar))
    shown = {part: f"hue-{(hues or {}).get(part, HUES[n % len(HUES)])}" for n, part in enumerate(parts)}
    sums = {
        title: {name: sum(bar.values()) for name, bar in group.items()} for title, group in groups.items()
    }
    most = max(value for group in sums.values() for value in group.values())
    with prepared(ax, theme, 0.9 + 0.3 * rows(groups)) as (axes, colors):
        wide = 1.22
        axes.set_xlim(0, wide)
        axes.set_xticks([])
        for place in _laid_out(axes, colors, groups):
            whole = next(iter(sums[place.group].values())) if relative else most
            left = 0.0
            for part, value in groups[place.group][place.name].items():
                width = value / whole
                bars(axes, colors, [place.y], [left], [left + width], shown[part], THICK)
                if width >= INSIDE * wide:
                    middle = (left + width / 2, place.y)
                    say(axes, number(value), middle, ha="center", va="center_baseline", color=colors["ink"])
                left += width
            total = sums[place.group][place.name]
            _say_number(axes, colors, f"{number(total)}{unit}", left, place.y)
        legend(axes, colors, [(part, "s", hue) for part, hue in shown.items()], up=-6, size=12)
        axes.set_title(title, loc="left")
        words = listed_rows(
            groups, lambda bar: ", ".join(f"{part} {number(value)}" for part, value in bar.items())
        )
        describe(axes, f"Bars of several parts. {words}")
    return axes


def plot_speedups(
    groups: Mapping[str, Mapping[str, Numbers]],
    ax: Any = None,
    *,
    programs: Sequence[str] = (),
    title: str = "",
    theme: str = "light",
) -> Any:
    """Draw how many times as fast one program is as others, on a logarithmic scale: a row for each network, a
    mark for each other program. `{"": {"ResNet-18": {"PyTorch": 1.9, "ONNX Runtime": 0.9}, …}}` is one group
    without a heading. Left of 1, the other program is faster. Marks follow the order of `programs`, and then
    that of the table. Return the Axes.
    """
    table = [row for group in groups.values() for row in group.values()]
    present = dict.fromkeys(program for row in table for program in row)
    order = dict.fromkeys([*programs, *present])
    marks = {program: mark_of(index) for index, program in enumerate(order) if program in present}
    low, _, ticks = _axis([value for row in table for value in row.values()], "log2", 1.0)
    with prepared(ax, theme, 0.9 + 0.28 * rows(groups)) as (axes, colors):
        _prepare(axes, "log2", low / 1.08, ticks[-1] * 1.08, ticks, "×")
        for place in _laid_out(axes, colors, groups, ticks, 1.0):
            row = groups[place.group][place.name]
            ends = [min(row.values()), max(row.values())]
            axes.plot(ends, [place.y, place.y], color=colors["edge"], linewidth=1, zorder=0.8)
            for program, value in row.items():
                axes.plot([value], [place.y], **_look(colors, *marks[program]))
        legend(axes, colors, [(program, *mark) for program, mark in marks.items()], up=25)
        axes.set_title(title, loc="left", pad=12 + LEGEND_LINE * ceil(len(marks) / 2))
        describe(axes, f"Marks, on a logarithmic scale. {listed_rows(groups, _pairs)}")
    return axes


def mark_of(index: int) -> tuple[str, str]:
    """Return the shape and the color of the marks of a series."""
    shapes = list(MARKERS.values())
    return shapes[index % len(shapes)], f"hue-{HUES[index % len(HUES)]}"


class _Place(NamedTuple):
    """A row of a chart: its group, its name, and its middle."""

    group: str
    name: str
    y: float


def rows(groups: Mapping[str, Mapping[str, Any]]) -> float:
    """Return the height of the rows of a chart, in rows."""
    return sum(len(group) + (HEADING if title else 0) + BETWEEN for title, group in groups.items())


def number(value: float) -> str:
    """Print a number in three digits, or more where it is large."""
    if value and abs(value) < 0.1:
        return f"{value:.2g}"
    return f"{value:,.{max(0, 2 - floor(log(max(abs(value), 1), 10) + 1e-9))}f}"


def _axis(values: Sequence[float], scale: str, start: float | None) -> tuple[float, float, Sequence[float]]:
    """Return the ends of an axis for bars, and its ticks."""
    if scale not in BASES:
        raise RelayError(f"there is no scale {scale!r:.60}", help=[f"there are {', '.join(BASES)}"])
    base, least, most = BASES[scale], min(values), max(values)
    if not base:
        ticks = require("matplotlib.ticker").MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(0, most)
        return 0.0, 1.18 * most, [tick for tick in ticks.tolist() if 0 <= tick <= 1.1 * most]
    if least <= 0:
        raise RelayError("a logarithmic scale has no place for zero or a negative number")
    lowest = floor(log(min(least, start or least), base) + 1e-9)
    low, high = base**lowest, most * (most / base**lowest) ** 0.16
    last = max(lowest + 1, ceil(log(most, base) - 1e-9))
    return low, max(high, low * base), [base**power for power in range(lowest, last + 1)]


def _prepare(ax: Any, scale: str, low: float, high: float, ticks: Sequence[float], unit: str) -> None:
    if scale != "linear":
        ax.set_xscale("log", base=BASES[scale])
        high = max(high, ticks[-1])
    ax.set_xlim(low, high)
    ax.minorticks_off()
    ax.set_xticks(ticks, [f"{tick:,g}{unit}" for tick in ticks])
    ax.xaxis.tick_top()
    ax.tick_params(top=False)


def _laid_out(
    ax: Any, colors: dict[str, str], groups: Mapping[str, Mapping[str, Any]], ticks: Sequence[float] = (),
    start: float | None = None,
) -> Iterator[_Place]:  # fmt: skip
    """Draw the headings, the names and the grid of each group, with a line at `start`, and yield its rows."""
    places: list[_Place] = []
    y = 0.0
    left = ax.get_xlim()[0]
    for title, group in groups.items():
        if title:
            say(ax, title, (left, y + HEADING / 2), weight="bold", color=colors["ink"], va="center_baseline")
            y += HEADING
        ax.vlines(ticks, y, y + len(group), color=colors["line"], linewidth=1, zorder=0.5)
        if start:
            ax.vlines([start], y, y + len(group), color=colors["ink"], linewidth=1.2, zorder=0.6)
        for name in group:
            places.append(_Place(title, name, y + 0.5))
            y += 1
        y += BETWEEN
    ax.set_ylim(y - BETWEEN + 0.1, 0)
    names = [place.name for place in places]
    ax.set_yticks([place.y for place in places], names, color=colors["ink"], parse_math=False)
    yield from places


def _say_number(ax: Any, colors: dict[str, str], text: str, x: float, y: float) -> None:
    say(ax, text, (x, y), (5, 0), color=colors["ink"], va="center_baseline")


def _look(colors: dict[str, str], marker: str, hue: str) -> dict[str, Any]:
    return {
        "marker": marker, "markersize": 8, "markeredgewidth": 1.4, "markerfacecolor": colors[f"{hue}-fill"],
        "markeredgecolor": colors[hue], "linestyle": "none",
    }  # fmt: skip


def legend(
    ax: Any, colors: dict[str, str], entries: Sequence[tuple[str, str, str]], up: float, size: float = 8
) -> None:
    """Draw the marks and names of series in two columns, or in one where a name is long: `up` points above
    the chart, or below it.
    """
    columns = 1 if max(len(name) for name, _, _ in entries) > LONG_NAME else 2
    line = require("matplotlib.lines").Line2D
    handles = [
        line([], [], label=name, **(_look(colors, marker, hue) | {"markersize": size}))
        for name, marker, hue in entries
    ]
    above = require("matplotlib.transforms").ScaledTranslation(0, up / 72, ax.figure.dpi_scale_trans)
    ax.legend(
        handles=handles, loc="lower left" if up > 0 else "upper left", bbox_to_anchor=(0, int(up > 0)),
        bbox_transform=ax.transAxes + above, ncols=columns, frameon=False, labelcolor=colors["ink"],
        borderpad=0, borderaxespad=0, handlelength=1.2, handletextpad=0.5, columnspacing=1.2,
    )  # fmt: skip


def _pairs(row: Numbers) -> str:
    return ", ".join([f"{name} {number(value)}" for name, value in row.items()])


def listed_rows(groups: Mapping[str, Mapping[str, Any]], words: Callable[[Any], str]) -> str:
    """Return what `words` says about each row of a table, as a sentence for a text alternative."""
    lines = [
        (f"{title}, {name}" if title and name else title or name, words(value))
        for title, group in groups.items() for name, value in group.items()
    ]  # fmt: skip
    return listed(lines)
