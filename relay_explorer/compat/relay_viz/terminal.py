"""`tvm.contrib.relay_viz.terminal`: programs as trees of text."""

from __future__ import annotations

from pathlib import Path

from .interface import DefaultVizParser, Plotter, VizEdge, VizGraph, VizNode

_DETAILS = 60  # characters of a node's details in its line


class TermVizParser(DefaultVizParser):
    """The parser for the terminal."""


class TermNode:
    """A line of the tree, with the lines of its operands below it."""

    def __init__(self, viz_node: VizNode) -> None:
        self.type = viz_node.type_name
        self.other_info = viz_node.detail.replace("\n", ", ")
        self.children: list[str] = []

    def __str__(self) -> str:
        info = self.other_info
        info = info if len(info) <= _DETAILS else info[: _DETAILS - 1] + "…"
        return f"{self.type} {info}".rstrip()


class TermGraph(VizGraph):
    """The tree of one function. An expression that is used several times is shown once in full."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: dict[str, TermNode] = {}
        self._used: set[str] = set()

    def node(self, viz_node: VizNode) -> None:
        """Add a node; one that is there already is left as it is."""
        self._nodes.setdefault(viz_node.identity, TermNode(viz_node))

    def edge(self, viz_edge: VizEdge) -> None:
        """Put the start of an edge below its end."""
        if viz_edge.start in self._nodes and viz_edge.end in self._nodes:
            self._nodes[viz_edge.end].children.append(viz_edge.start)
            self._used.add(viz_edge.start)

    def render(self) -> str:
        """Return the tree as text."""
        lines = [f"@{self._name}"]
        shown: set[str] = set()
        roots = [identity for identity in self._nodes if identity not in self._used]
        pending = [(identity, "", index == 0) for index, identity in enumerate(reversed(roots))]
        while pending:
            identity, indent, last = pending.pop()
            node = self._nodes[identity]
            again = identity in shown and bool(node.children)
            lines.append(f"{indent}{'`--' if last else '|--'}{node}{' (shown above)' if again else ''}")
            if identity not in shown:
                shown.add(identity)
                below = indent + ("   " if last else "|  ")
                children = list(reversed(node.children))
                pending += [(child, below, index == 0) for index, child in enumerate(children)]
        return "\n".join(lines)


class TermPlotter(Plotter):
    """Prints the trees of all functions, or writes them to a file."""

    def __init__(self) -> None:
        self._name_to_graph: dict[str, VizGraph] = {}

    def create_graph(self, name: str) -> VizGraph:
        """Create the tree of a function."""
        self._name_to_graph[name] = TermGraph(name)
        return self._name_to_graph[name]

    def render(self, filename: str | None = None) -> None:
        """Print the trees; with `filename`, write them to that file."""
        text = "\n".join([graph.render() for graph in self._name_to_graph.values()])
        if filename is None:
            print(text)
        else:
            Path(filename).write_text(text + "\n", "utf-8")


__all__ = ["TermGraph", "TermNode", "TermPlotter", "TermVizParser"]
