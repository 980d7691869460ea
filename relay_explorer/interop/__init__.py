"""Convert programs to graphs of networkx, and draw programs and measurements with Graphviz and matplotlib.

    from relay_explorer import analysis, models, relay
    from relay_explorer.interop import plot_costs, to_graphviz, to_networkx

    lenet = models.load("lenet")
    to_networkx(lenet)                        # the data flow, a networkx.MultiDiGraph
    to_graphviz(lenet, clusters="kernels")    # a graphviz.Digraph, which a notebook displays
    plot_costs(lenet)                         # the Axes of a matplotlib chart

Some objects have a method `plot` that draws their chart: the results of `exe.profile(…)` and
`exe.measure(…)`, a memory plan, and a site of a quantization. `plot_bars`, `plot_parts`, `plot_speedups`,
`plot_series` and `plot_repeats` draw tables of numbers, such as your own measurements; the book's charts of
measurements use them.

A chart is drawn into the Axes `ax`. Without `ax`, it gets new Axes in the book's style, whose `theme` is
"light" or "dark". A notebook shows their figure with a text alternative, `figure.description`, and on a page
whose color scheme is dark with the dark colors.

A library is imported when a function first needs it. If it is missing, the function raises an ImportError
that names the command to install it.
"""

from __future__ import annotations

from .charts import (
    plot_bars,
    plot_calibration,
    plot_costs,
    plot_memory,
    plot_parts,
    plot_passes,
    plot_profile,
    plot_repeats,
    plot_roofline,
    plot_series,
    plot_speedups,
)
from .dataflow import ENTRY, EXIT
from .dot import to_graphviz
from .networks import from_networkx, to_networkx

__all__ = [
    "ENTRY", "EXIT", "from_networkx", "plot_bars", "plot_calibration", "plot_costs", "plot_memory",
    "plot_parts", "plot_passes", "plot_profile", "plot_repeats", "plot_roofline", "plot_series",
    "plot_speedups", "to_graphviz", "to_networkx",
]  # fmt: skip
