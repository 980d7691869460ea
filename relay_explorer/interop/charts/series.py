"""Charts of measurements in order: values against a size, and the times of repeated runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import ceil
from typing import Any

from .bars import LEGEND_LINE, legend, mark_of, number
from .style import describe, listed, prepared


def plot_series(
    series: Mapping[str, Sequence[tuple[float, float]]],
    ax: Any = None,
    *,
    x: str = "",
    y: str = "",
    title: str = "",
    theme: str = "light",
) -> Any:
    """Draw points (size, value) joined by a line for each series: `{"1 wide": [(1, 13.0), (2, 25.1)], …}`.

    The axis of sizes is logarithmic, with a tick at each power of two; the axis of values begins at 0. `x`
    and `y` are their labels. Return the Axes.
    """
    sizes = [size for points in series.values() for size, _ in points]
    with prepared(ax, theme, 4.0) as (axes, colors):
        axes.set_xscale("log", base=2)
        axes.minorticks_off()
        ticks = [2.0**power for power in range(-20, 60) if min(sizes) <= 2.0**power <= max(sizes)]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.grid(axis="y")
        entries = []
        for index, (name, points) in enumerate(series.items()):
            marker, hue = mark_of(index)
            axes.plot(
                [size for size, _ in points], [value for _, value in points], marker=marker, markersize=8,
                color=colors[hue], markerfacecolor=colors[f"{hue}-fill"], markeredgewidth=1.4,
            )  # fmt: skip
            entries.append((name, marker, hue))
        axes.set_ylim(bottom=0)
        axes.set_xlabel(x, loc="right")
        axes.set_ylabel(y)
        axes.set_title(title, loc="left", pad=10 + LEGEND_LINE * ceil(len(entries) / 2))
        legend(axes, colors, entries, up=6)
        lines = [
            (name, ", ".join([f"{number(value)} at {size:g}" for size, value in points]))
            for name, points in series.items()
        ]
        describe(axes, f"Lines of {y or 'values'} against {x or 'sizes'}. {listed(lines)}")
    return axes


def plot_repeats(
    seconds: Sequence[float], ax: Any = None, *, cut: float = 1.3, title: str = "", theme: str = "light"
) -> Any:
    """Draw the times of repeated runs, relative to the shortest, and a line for the shortest time so far.

    Runs that take more than `cut` times as long as the shortest are drawn at the edge. Return the Axes.
    """
    best = min(seconds)
    times = [min(each / best, cut) for each in seconds]
    with prepared(ax, theme, 3.2) as (axes, colors):
        axes.set_xlim(0, len(times))
        axes.set_ylim(1 - (cut - 1) / 15, cut)
        ticks = [1 + (cut - 1) * part / 3 for part in range(4)]
        axes.set_yticks(ticks, [f"{tick:.2g}×" for tick in ticks])
        axes.set_xticks([])
        axes.grid(axis="y")
        axes.plot(times, "o", color=colors["hue-blue"], markersize=2.4, markeredgewidth=0)
        shortest = list(accumulate(times, min))
        steps = [run for run in range(len(times)) if run == 0 or shortest[run] != shortest[run - 1]]
        ends = [*steps, len(times)]
        axes.plot(
            ends, [shortest[min(end, len(times) - 1)] for end in ends],
            drawstyle="steps-post", color=colors["hue-orange"], linewidth=2,
        )  # fmt: skip
        axes.set_xlabel(f"{len(seconds)} runs, one after the other", loc="right")
        axes.set_title(title or "Time, relative to the shortest", loc="left")
        close = sum(each <= 1.1 * best for each in seconds)
        describe(
            axes,
            f"A dot for each of {len(seconds)} runs, of which {close} take at most 1.1 times as long as the "
            f"shortest, and a line for the shortest so far, which falls {len(steps) - 1} times.",
        )
    return axes
