"""Charts of measured runs: the time of each kernel, and the kernels under the machine's limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...ir.errors import RelayError
from .style import (
    MARKERS,
    SECONDS,
    amount,
    describe,
    listed,
    plain_logarithmic,
    prepared,
    ranking,
    say,
    share,
    shortened,
    unit,
)

if TYPE_CHECKING:
    from ...lower.profiling.measurement import Measurement
    from ...lower.profiling.peak import Limits
    from ...lower.profiling.profile import Profile

LISTED = 4  # kernels of a roofline that are listed by name: those that take most of the time


def plot_profile(profile: Profile, ax: Any = None, *, most: int = 12, theme: str = "light") -> Any:
    """Draw how long each kernel of a run takes, in all its calls together, the slowest first. The result of
    `exe.profile(…)` has this as `profile.plot()`.

    At most `most` kernels have a bar of their own; one more stands for the others. Return the Axes.
    """
    rows = profile.by_kernel()
    if most < 1:
        raise RelayError(f"a chart has at least one bar, not {most}")
    total = sum(seconds for _, seconds, _ in rows) or 1.0
    shown = []
    for kernel, seconds, count in rows[:most]:
        name = kernel.name.removeprefix("fused_")
        shown.append((f"{name} ×{count}" if count > 1 else name, seconds))
    if len(rows) > most:
        others = len(rows) - most
        name = f"{others} other kernel{'s' * (others != 1)}"
        shown.append((name, sum(seconds for _, seconds, _ in rows[most:])))
    size, name = unit(max((s for _, s in shown), default=1.0), SECONDS)
    with prepared(ax, theme, 1.2 + 0.3 * len(shown)) as (axes, colors):
        ranking(
            axes, colors, [name for name, _ in shown], [s / size for _, s in shown],
            [f"{amount(s, SECONDS)}, {share(s / total)}" for _, s in shown],
        )  # fmt: skip
        axes.set_xlabel(f"{name} in a run of {profile.seconds * 1e3:.3g} ms", loc="right")
        axes.set_title("Time of each kernel", loc="left")
    return axes


def draw_roof(
    ax: Any, limits: Limits, low: float, high: float, colors: dict[str, str], hue: str = "hue-blue"
) -> None:
    """Draw the limits of a machine from `low` to `high` operations per byte, in GFLOP/s, and the ridge."""
    peak, slope, ridge = limits.flops / 1e9, limits.bandwidth / 1e9, limits.ridge
    xs = [low, min(max(ridge, low), high), high]
    ax.plot(xs, [min(peak, slope * x) for x in xs], color=colors[hue], linewidth=2.6)
    bottom = ax.get_ylim()[0]
    ax.plot([ridge, ridge], [bottom, peak], color=colors["soft"], linestyle=(0, (4, 3)), zorder=1.5)


def plot_roofline(
    run: Measurement,
    ax: Any = None,
    *,
    kernels: Sequence[str] | Mapping[str, str] | None = None,
    theme: str = "light",
) -> Any:
    """Draw the kernels of a measured run under the limits of the machine: speed against operations per byte.
    The result of `exe.measure(…)` has this as `measurement.plot()`.

    A mark is a kernel at the speed of its fastest call; its area grows with the time of all calls, and its
    shape and color stand for the schedule, as in the explorer of runs. A kernel above the roof reads data
    that is still in a cache, or saves operations by Winograd's algorithm. `kernels` selects kernels by
    prefixes of their names; if it maps these to labels, the labels are written beside the marks. Kernels
    without floating-point operations are left out. Return the Axes.
    """
    points = _points(run, kernels)
    low = 10 ** _floor_log([p.intensity for p in points] + [run.limits.ridge / 4])
    high = max([p.intensity for p in points] + [run.limits.ridge * 8]) * 1.6
    with prepared(ax, theme, 4.6) as (axes, colors):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(low, high)
        least = min([p.speed for p in points] + [run.limits.flops / 1e11])
        above = 2 if isinstance(kernels, Mapping) else 9  # room for the list of kernels
        axes.set_ylim(least / 2, max([p.speed for p in points] + [run.limits.flops / 1e9]) * above)
        axes.grid()
        plain_logarithmic(axes.xaxis)
        plain_logarithmic(axes.yaxis)
        draw_roof(axes, run.limits, low, high, colors)
        peak, slope = run.limits.flops / 1e9, run.limits.bandwidth / 1e9
        blue = colors["hue-blue"]
        say(axes, f"peak: {peak:.0f} GFLOP/s", (max(run.limits.ridge, low), peak), (4, 9), color=blue)
        say(axes, f"bandwidth: {slope:.0f} GB/s", (low, slope * low), (36, 4), color=blue)
        if isinstance(kernels, Mapping):
            _draw_labelled(axes, colors, points, kernels, run.limits.ridge)
        else:
            _draw_points(axes, colors, points)
        axes.set_xlabel("FLOPs per byte of arguments and results", loc="right")
        axes.set_ylabel("GFLOP/s")
        axes.set_title(shortened(f"{run.program} on {run.machine}", 64), loc="left", parse_math=False)
        describe(
            axes,
            f"A slope of {slope:.0f} GB/s rises to the ridge at {run.limits.ridge:.1f} FLOPs per byte; from "
            f"there on the roof is flat, at {peak:.0f} GFLOP/s. Marks, FLOPs per byte and GFLOP/s: "
            + listed((p.name, f"{p.intensity:.2g}, {p.speed:.3g}") for p in points),
        )
    return axes


class _Point:
    """A kernel in the chart."""

    def __init__(self, run: Measurement, number: int) -> None:
        kernel, calls = run.kernels[number], run.calls(number)
        self.name, self.rule = kernel.name, kernel.rule
        self.intensity = kernel.flops / max(kernel.traffic, 1)
        self.speed = kernel.flops / min(call.ns for call in calls)
        self.ns = sum(call.ns for call in calls)


def _points(run: Measurement, kernels: Sequence[str] | Mapping[str, str] | None) -> list[_Point]:
    starts = tuple(kernels) if kernels is not None else ("",)
    ran = {launch.kernel for launch in run.launches}
    points = [
        _Point(run, n) for n, k in enumerate(run.kernels)
        if n in ran and k.flops and k.name.startswith(starts)
    ]  # fmt: skip
    if not points:
        names = ", ".join([k.name for k in run.kernels[:4]])
        raise RelayError(
            "no kernel of this run computes with floating-point numbers",
            help=[f"the kernels are {names} …"],
        )
    return sorted(points, key=lambda point: -point.ns)


def _draw_labelled(
    ax: Any, colors: dict[str, str], points: Sequence[_Point], labels: Mapping[str, str], ridge: float
) -> None:
    """Draw the marks of few kernels, and write the label of each beside it, away from the roof."""
    orange = colors["hue-orange"]
    for point in points:
        at = (point.intensity, point.speed)
        ax.plot(
            *at,
            "o",
            color=colors["hue-orange-fill"],
            markeredgecolor=orange,
            markersize=12,
            markeredgewidth=2,
        )
        label = next(label for start, label in labels.items() if point.name.startswith(start))
        by, side = ((0, -22), "center") if point.intensity > ridge else ((12, -2), "left")
        say(ax, label, at, by, color=orange, ha=side, va="center_baseline")


def _draw_points(ax: Any, colors: dict[str, str], points: Sequence[_Point]) -> None:
    """Draw the marks, by rule, with a legend, and list the kernels that take most of the time."""
    from ...views.run.view import RULES

    drawn = {rule.name: rule for rule in RULES}
    total = sum(point.ns for point in points)
    for rule in dict.fromkeys(point.rule for point in points):
        own = [point for point in points if point.rule == rule]
        mark = drawn.get(rule)
        hue = f"hue-{mark.hue}" if mark is not None else "hue-grey"
        ax.scatter(
            [p.intensity for p in own], [p.speed for p in own], s=[40 + 800 * p.ns / total for p in own],
            marker=MARKERS[mark.shape if mark is not None else "bar"], color=colors[f"{hue}-fill"],
            edgecolor=colors[hue], linewidth=1.3, label=rule, zorder=3,
        )  # fmt: skip
    lines = []
    for number, point in enumerate(points[:LISTED], 1):
        lines.append(
            f"{number}  {shortened(point.name.removeprefix('fused_'), 40)}, {share(point.ns / total)}"
        )
        at = (point.intensity, point.speed)
        say(ax, str(number), at, color=colors["ink"], ha="center", va="center", size="small", zorder=4)
    ax.text(
        0.02, 0.98, "\n".join(lines), transform=ax.transAxes, va="top", size="small", color=colors["ink"],
        parse_math=False,
    )  # fmt: skip
    legend = ax.legend(title="schedule", loc="lower right", frameon=False, labelcolor=colors["ink"])
    for handle in legend.legend_handles:
        handle.set_sizes([40])


def _floor_log(values: Sequence[float]) -> int:
    from math import floor, log10

    return floor(log10(min(value for value in values if value > 0)))
