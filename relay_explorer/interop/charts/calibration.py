"""Charts of calibration: the values that a quantizer saw, and the range that its integers cover."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ir.errors import RelayError
from ...ir.show import counted
from ...ops.numeric import np
from .style import describe, plain_logarithmic, prepared, shortened

if TYPE_CHECKING:
    from ...quantize.scheme import Site

BARS = 160  # drawn: the bins of the statistics are joined


def plot_calibration(site: Site, ax: Any = None, *, theme: str = "light") -> Any:
    """Draw the histogram of the values that calibration saw at a site, on a logarithmic scale, and the range
    that the integers cover. Each of `quantize.trace(…).sites` has this as `site.plot()`.

    Values outside of the range are clipped. Return the Axes. Raise a RelayError if calibration saw no values
    at the site.
    """
    statistics, parameters = site.statistics, site.parameters
    if statistics is None or not statistics.count:
        raise RelayError(
            f"calibration saw no values at {site}",
            help=["quantize.trace(mod, scheme, params, dataset) runs the program on the inputs of a dataset"],
        )
    counts, edges = _joined(statistics.counts, statistics.edges)
    with prepared(ax, theme, 3.4) as (axes, colors):
        axes.set_yscale("log")
        middle = (edges[:-1] + edges[1:]) / 2
        low, high = float(edges[0]), float(edges[-1])
        inside = np.ones(len(counts), bool)
        if parameters is not None:
            low, high = float(parameters.low.min()), float(parameters.high.max())
            inside = (middle >= low) & (middle <= high)
        for part, hue in ((inside, "hue-teal"), (~inside, "hue-orange")):
            axes.bar(
                middle[part], counts[part], np.diff(edges)[part], color=colors[f"{hue}-fill"],
                edgecolor=colors[hue], linewidth=0.8,
            )  # fmt: skip
        plain_logarithmic(axes.yaxis)
        least, greatest = min(low, float(statistics.low.min())), max(high, float(statistics.high.max()))
        margin = 0.04 * (greatest - least) or 0.5
        axes.set_xlim(least - margin, greatest + margin)
        axes.set_ylim(0.6, 6 * max(1, int(counts.max())))
        text = ""
        if parameters is not None:
            orange = colors["hue-orange"]
            for bound in (low, high):
                axes.axvline(bound, color=orange, linestyle=(0, (4, 3)), linewidth=1.2, ymax=0.86)
            clipped = int(counts[~inside].sum())
            text = f"{site.quantizer.bits} bits from {low:.3g} to {high:.3g}"
            text += f", about {counted(clipped, 'value')} clipped" if clipped else ""
            axes.text(0.02, 0.95, text, transform=axes.transAxes, color=orange, va="top", parse_math=False)
        axes.grid(axis="y")
        axes.set_xlabel("value", loc="right")
        axes.set_ylabel(f"occurrences, of {statistics.count:,}")
        axes.set_title(shortened(str(site).replace("`", ""), 64), loc="left", parse_math=False)
        seen = f"{statistics.count:,} values from {statistics.low.min():.3g} to {statistics.high.max():.3g}"
        describe(axes, f"A histogram of {seen}. {text}".rstrip() + ".")
    return axes


def _joined(counts: Any, edges: Any) -> tuple[Any, Any]:
    """Join neighboring bins, so that about BARS remain."""
    step = max(1, -(-len(counts) // BARS))
    starts = np.arange(0, len(counts), step)
    ends = np.append(edges[starts], edges[-1])
    return np.add.reduceat(counts, starts), ends
