"""Programs and measurements in the libraries that people work with: networkx, Graphviz.

    from relay_explorer import models
    from relay_explorer.interop import to_graphviz, to_networkx

    graph = to_networkx(models.load("lenet"))          # the data flow, a networkx.MultiDiGraph
    to_graphviz(models.load("lenet"), clusters="kernels")   # a graphviz.Digraph, drawn in a notebook

The libraries are imported when a function needs them; a missing one names the command that installs it.
"""

from __future__ import annotations

from .dataflow import ENTRY, EXIT
from .dot import to_graphviz
from .networks import from_networkx, to_networkx

__all__ = ["ENTRY", "EXIT", "from_networkx", "to_graphviz", "to_networkx"]
