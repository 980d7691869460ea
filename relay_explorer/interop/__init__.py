"""Programs and measurements in the libraries that people work with: networkx.

    from relay_explorer import models
    from relay_explorer.interop import to_networkx

    graph = to_networkx(models.load("lenet"))          # the data flow, a networkx.MultiDiGraph

The libraries are imported when a function needs them; a missing one names the command that installs it.
"""

from __future__ import annotations

from .dataflow import ENTRY, EXIT
from .networks import from_networkx, to_networkx

__all__ = ["ENTRY", "EXIT", "from_networkx", "to_networkx"]
