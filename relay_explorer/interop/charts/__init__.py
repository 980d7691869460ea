"""Draw profiles, rooflines, memory plans, calibration, costs of programs and passes, and tables of numbers
with matplotlib.
"""

from __future__ import annotations

from typing import Any

from ...ir.hooks import provide
from .bars import plot_bars, plot_parts, plot_speedups
from .calibration import plot_calibration
from .costs import plot_costs, plot_passes
from .plans import plot_memory
from .runs import plot_profile, plot_roofline
from .series import plot_repeats, plot_series

_CHARTS = {
    "Profile": plot_profile,
    "Measurement": plot_roofline,
    "StoragePlan": plot_memory,
    "Site": plot_calibration,
}


def _plot(x: object, ax: Any = None, **options: Any) -> Any:
    """Draw the chart of an object: its method `plot`."""
    return _CHARTS[type(x).__name__](x, ax, **options)  # type: ignore[operator]  # each takes its own class


provide("plot", _plot)

__all__ = [
    "plot_bars", "plot_calibration", "plot_costs", "plot_memory", "plot_parts", "plot_passes",
    "plot_profile", "plot_repeats", "plot_roofline", "plot_series", "plot_speedups",
]  # fmt: skip
