"""`tvm.contrib.relay_viz`: pictures of programs, for which this package's explorers are used; with a plotter,
text or Graphviz.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...explorer import Explorer, explore
from ...ir.expr import Function
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.walk import post_order
from .interface import DefaultVizParser, Plotter, VizParser


class RelayVisualizer:
    """Shows a module. In a notebook it is drawn as the last expression of a cell; `render` saves it.

    `relay_param` are the values of parameters by name. With a plotter, `parser` turns each expression into a
    node, and the plotter draws the nodes: `TermPlotter()` as text, `DotPlotter()` with Graphviz. Without one,
    the explorer of programs draws, where weights are variables in any case.
    """

    def __init__(
        self,
        relay_mod: IRModule | Function,
        relay_param: Mapping[str, Any] | None = None,
        plotter: Plotter | None = None,
        parser: VizParser | None = None,
    ) -> None:
        self._module = IRModule.from_expr(relay_mod)
        self._params = relay_param or {}
        self._plotter = plotter
        self._parser = parser or DefaultVizParser()
        self._explorer: Explorer | None = None
        if plotter is not None:
            for var in sorted(self._module.get_global_vars(), key=lambda var: var.name_hint != "main"):
                self._add(plotter, var.name_hint, self._module[var])
        elif parser is not None:
            raise TypeError("a parser needs a plotter: RelayVisualizer(mod, {}, TermPlotter(), parser)")

    def _add(self, plotter: Plotter, name: str, function: Any) -> None:
        graph = plotter.create_graph(name)
        nodes = [node for node in post_order(function) if not isinstance(node, Op)]
        identities = {node: str(number) for number, node in enumerate(nodes)}
        edges = []
        for node in nodes:
            viz_node, its_edges = self._parser.get_node_edges(node, self._params, identities)
            if viz_node is not None:
                graph.node(viz_node)
                edges += its_edges
        for edge in edges:
            graph.edge(edge)

    @property
    def explorer(self) -> Explorer:
        """The explorer of the module."""
        if self._explorer is None:
            self._explorer = explore(self._module)
        return self._explorer

    def render(self, filename: str | os.PathLike[str] | None = None, format: str = "html") -> Path | None:
        """Save the picture and return its path: a self-contained HTML page, or with `format="svg"` a static
        picture. A name without an extension gets the format's. Raise a ValueError for other formats.

        With a plotter, let it draw.
        """
        if self._plotter is not None:
            self._plotter.render(filename)  # type: ignore[arg-type]  # None means the plotter's own choice
            return None
        filename = filename or "relay_viz"
        if format == "html":
            return self.explorer.save(filename)
        if format != "svg":
            raise ValueError(
                f"relay_viz saves html and svg here, not {format}: print the page from a browser"
            )
        from ...views import picture

        target = Path(filename)
        if not target.suffix:
            target = target.with_suffix(".svg")
        target.write_text(picture.svg(self.explorer.view), "utf-8", newline="\n")
        return target

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return self.explorer._repr_mimebundle_(include, exclude)


__all__ = ["RelayVisualizer"]
