"""`tvm.contrib.relay_viz.dot`: programs as graphs for Graphviz."""

from __future__ import annotations

import shutil
import subprocess
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

from .interface import DefaultVizParser, Plotter, VizEdge, VizGraph, VizNode

Attributes = Mapping[str, str]


class DotVizParser(DefaultVizParser):
    """The parser for Graphviz."""


class DotGraph(VizGraph):
    """One function as a graph in Graphviz's language."""

    def __init__(
        self,
        name: str,
        graph_attr: Attributes | None = None,
        node_attr: Attributes | None = None,
        edge_attr: Attributes | None = None,
        get_node_attr: Callable[[VizNode], Attributes] | None = None,
    ) -> None:
        self._name = name
        self._get_node_attr = get_node_attr or _no_attributes
        self._lines = [f"label={_quoted(name)};"]
        for kind, attributes in (("graph", graph_attr), ("node", node_attr), ("edge", edge_attr)):
            if attributes:
                self._lines.append(f"{kind} [{_list(attributes)}];")

    def node(self, viz_node: VizNode) -> None:
        """Add a node."""
        label = f"{viz_node.type_name}\n{viz_node.detail}".strip()
        attributes = {"label": label, **self._get_node_attr(viz_node)}
        self._lines.append(f"{self._id(viz_node.identity)} [{_list(attributes)}];")

    def edge(self, viz_edge: VizEdge) -> None:
        """Add an edge."""
        self._lines.append(f"{self._id(viz_edge.start)} -> {self._id(viz_edge.end)};")

    def _id(self, identity: str) -> str:
        return _quoted(f"{self._name} {identity}")  # one picture has the nodes of several functions

    def render(self) -> str:
        """Return the graph as part of a picture."""
        body = "\n".join(f"    {line}" for line in self._lines)
        return f"  subgraph {_quoted('cluster_' + self._name)} {{\n{body}\n  }}"


class DotPlotter(Plotter):
    """Draws all functions with Graphviz: `render("picture")` writes `picture.dot`, and, where the program
    `dot` is installed, `picture.pdf`.
    """

    def __init__(
        self,
        graph_attr: Attributes | None = None,
        node_attr: Attributes | None = None,
        edge_attr: Attributes | None = None,
        get_node_attr: Callable[[VizNode], Attributes] | None = None,
    ) -> None:
        self._attributes = (graph_attr, {"shape": "box"} | dict(node_attr or {}), edge_attr, get_node_attr)
        self._graphs: dict[str, DotGraph] = {}

    def create_graph(self, name: str) -> DotGraph:
        """Create the graph of a function."""
        self._graphs[name] = DotGraph(name, *self._attributes)
        return self._graphs[name]

    def render(self, filename: str | None = None) -> None:
        """Write the picture; the name without an extension is `filename`, or "relay_viz"."""
        source = Path(f"{filename or 'relay_viz'}.dot")
        graphs = "\n".join([graph.render() for graph in self._graphs.values()])
        source.write_text(f"digraph {{\n{graphs}\n}}\n", "utf-8")
        program = shutil.which("dot")
        if program is None:
            warnings.warn(
                f"Graphviz, whose program `dot` draws {source}, is not installed; RelayVisualizer(mod), "
                "without a plotter, draws without it",
                stacklevel=3,
            )
            return
        subprocess.run([program, "-Tpdf", f"-o{source.with_suffix('.pdf')}", str(source)], check=True)


def _no_attributes(node: VizNode) -> Attributes:
    return {}


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _list(attributes: Attributes) -> str:
    return ", ".join(f"{name}={_quoted(str(value))}" for name, value in attributes.items())


__all__ = ["DotGraph", "DotPlotter", "DotVizParser"]
