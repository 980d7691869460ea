"""Programs and measurements in the libraries that people work with: networkx, Graphviz and matplotlib.

    from relay_explorer import analysis, models, relay
    from relay_explorer.interop import plot_costs, to_graphviz, to_networkx

    lenet = models.load("lenet")
    to_networkx(lenet)                        # the data flow, a networkx.MultiDiGraph
    to_graphviz(lenet, clusters="kernels")    # a graphviz.Digraph, which a notebook displays
    plot_costs(lenet)                         # the Axes of a matplotlib chart

What has a chart of its own also has a method `plot`: the result of `exe.profile(…)`, that of
`exe.measure(…)`, a memory plan, and a site of a quantization. Each chart draws into the Axes `ax`, or into
new ones in the book's style, whose `theme` is "light" or "dark".

The libraries are imported when a function needs them; a missing one names the command that installs it.
"""

from __future__ import annotations

from .charts import plot_calibration, plot_costs, plot_memory, plot_passes, plot_profile, plot_roofline
from .dataflow import ENTRY, EXIT
from .dot import to_graphviz
from .networks import from_networkx, to_networkx

__all__ = [
    "ENTRY", "EXIT", "from_networkx", "plot_calibration", "plot_costs", "plot_memory", "plot_passes",
    "plot_profile", "plot_roofline", "to_graphviz", "to_networkx",
]  # fmt: skip
