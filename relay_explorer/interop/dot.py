"""Draw programs with Graphviz, in the colors and shapes of the explorers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from ..ir.errors import RelayError
from ..ir.expr import Expr
from ..ir.module import IRModule
from ..ir.show import counted
from ..transform.fuse_ops.groups import Fusion
from ..typing import Inference
from ..views.families import FAMILIES
from .dataflow import EXIT
from .frames import CLUSTERS, Cluster, folded, frames
from .inline import inline_svg
from .networks import to_networkx
from .palette import PALETTES
from .require import require

LARGEST = 400  # nodes: beyond, `dot` takes minutes, and the drawing cannot be read
LONGEST = 44  # characters of a label's line
MAX_LISTED = 60  # arrows, or frames, in the text alternative of a drawing
INSTALL = (
    "Graphviz's program `dot`, which lays graphs out, is not installed: `apt-get install graphviz`, `brew "
    "install graphviz` or `conda install graphviz`; without it, `.source` is the graph in the DOT language"
)

# The shapes of `frontend/src/graph/shapes.js`, by their names in Graphviz.
_SHAPES: dict[str, dict[str, str]] = {
    "rect": {"shape": "box"},
    "hex": {"shape": "hexagon"},
    "parallelogram": {"shape": "polygon", "sides": "4", "skew": "0.25"},
    "round": {"shape": "box", "style": "filled,rounded"},
    "circle": {"shape": "ellipse"},
    "trapezium": {"shape": "polygon", "sides": "4", "distortion": "-0.2"},
    "diamond": {"shape": "diamond"},
    "bar": {"shape": "box", "height": "0.28"},
}
_KINDS = {
    "dataflow": "data flow", "calls": "call graph", "constraints": "type variables and relations",
    "dominators": "tree of dominators", "post-dominators": "tree of post-dominators",
    "fusion": "data flow and its kernels",
}  # fmt: skip
_DASHED = {"callee", "body"}  # roles of edges from functions, and from their results


def to_graphviz(
    x: IRModule | Expr | Inference | Fusion | Any,
    kind: str | None = None,
    *,
    clusters: str | None = None,
    levels: int | None = None,
    limit: int = LARGEST,
    theme: str = "light",
) -> Any:
    """Draw a program as a `graphviz.Digraph`, which a notebook displays.

    `x` is anything that `to_networkx` takes, or a graph that it returned, or a part of one, such as
    `graph.subgraph(nodes)`. `kind` is one of the kinds of `to_networkx`. In the data flow of a program, a
    variable that a `let` binds and its value are drawn as one node.

    `clusters` says around which nodes to draw frames: "scopes" (functions, branches and clauses; the
    default), "kernels" (the default for a fusion), "blocks" (also the modules of the model, named as in the
    IR explorer, or the repeated parts of functions), or "none". `levels` is the number of levels of frames to
    draw, if not all: each frame of a deeper level is then one node. For example, `clusters="blocks",
    levels=1` draws a frame around each function, and in it one node for each block.

    Colors and shapes show the families of operators, as in the explorers. `theme` is "light" or "dark"; in a
    notebook, a light drawing takes the colors of the dark theme on a page whose color scheme is dark.

    `result.source` is the text in the DOT language, and `result.render("name", format="pdf")` writes a file.
    Graphviz's program `dot` is needed to display the result or to write a file. Raise a RelayError for a
    graph of more than `limit` nodes.
    """
    if clusters not in (None, *CLUSTERS):
        raise RelayError(f"there are no clusters {clusters!r:.60}", help=[f"there are {', '.join(CLUSTERS)}"])
    if theme not in PALETTES:
        raise RelayError(f"there is no theme {theme!r:.60}", help=[f"there are {', '.join(PALETTES)}"])
    if isinstance(x, (IRModule, Expr, Inference, Fusion)):
        wanted = kind or ("fusion" if clusters == "kernels" and not isinstance(x, Inference) else None)
        graph = to_networkx(x, wanted, lets=False)
    else:
        graph = x if hasattr(x, "nodes") and hasattr(x, "edges") else to_networkx(x, kind)
    placed = frames(graph, clusters or ("kernels" if graph.graph.get("kind") == "fusion" else "scopes"))
    if levels is not None:
        graph, placed = folded(graph, placed, levels)
    if len(graph) > limit:
        raise RelayError(
            f"the graph has {counted(len(graph), 'node')}, more than the limit of {limit}",
            help=[
                "draw a part: to_graphviz(graph.subgraph(nodes)), where graph = to_networkx(…)",
                'fold it: to_graphviz(…, clusters="blocks", levels=1)',
                f"or raise the limit: limit={len(graph)}; Graphviz may then take minutes",
                "explore(…) shows programs of any size, folded",
            ],
        )
    return _Drawing(graph, placed, theme).digraph


class _Drawing:
    def __init__(self, graph: Any, placed: Mapping[Any, Cluster], theme: str) -> None:
        self.graph = graph
        self.colors = colors = PALETTES[theme]
        self.kind = graph.graph.get("kind", "dataflow")
        self.ids = {node: f"n{index}" for index, node in enumerate(graph)}
        self.digraph = digraph_class()(
            graph_attr={
                "bgcolor": "transparent", "fontname": "sans-serif", "fontsize": "12", "nodesep": "0.22",
                "ranksep": "0.32", "fontcolor": colors["soft"], "color": colors["edge"],
            },
            node_attr={
                "fontname": "monospace", "fontsize": "11", "style": "filled", "margin": "0.09,0.04",
                "height": "0.32", "width": "0.4", "fontcolor": colors["ink"],
            },
            edge_attr={
                "color": colors["edge"], "fontcolor": colors["soft"], "fontsize": "9", "arrowsize": "0.7",
                "fontname": "sans-serif",
            },
        )  # fmt: skip
        self.hidden = self._hidden()
        self.digraph.theme, self.digraph.words = theme, _described(graph, self.hidden, placed)
        self._draw_clusters(placed)
        for source, target, data in graph.edges(data=True):
            if source not in self.hidden and target not in self.hidden:
                self.digraph.edge(self.ids[source], self.ids[target], **self._edge(source, target, data))

    def _hidden(self) -> set[Any]:
        """Return the nodes that are not drawn: the end of a fusion's data flow, and each function that is the
        frame around its body.
        """
        if self.kind == "fusion":
            return {EXIT} & set(self.graph)
        if self.kind != "dataflow":
            return set()
        return {
            node
            for node, kind in self.graph.nodes(data="kind")
            if kind == "Function" and not self.graph.succ[node] and self.graph.pred[node]
        }

    # -- nodes and edges, in their frames

    def _draw_clusters(self, placed: Mapping[Any, Cluster]) -> None:
        """Draw the nodes, each inside its clusters, without recursion."""
        inside: dict[Cluster, list[Any]] = {(): []}
        children: dict[Cluster, list[Cluster]] = {(): []}
        for node in self.graph:
            if node in self.hidden:
                continue
            cluster = placed[node]
            for depth in range(1, len(cluster) + 1):
                part = cluster[:depth]
                if part not in children:
                    children[part] = []
                    inside[part] = []
                    children[part[:-1]].append(part)
            inside[cluster].append(node)
        numbers = {cluster: index for index, cluster in enumerate(children)}
        bodies = {cluster: digraph_class()() for cluster in children}
        for cluster in sorted(children, key=len, reverse=True):
            body = self.digraph if not cluster else bodies[cluster]
            for node in inside[cluster]:
                body.node(self.ids[node], **self._node(node))
            for child in children[cluster]:
                frame = bodies[child]
                frame.name = f"cluster_{numbers[child]}"
                frame.graph_attr.update(label=_text([child[-1]]), style="rounded", labeljust="l")
                body.subgraph(frame)

    def _node(self, node: Any) -> dict[str, str]:
        data = self.graph.nodes[node]
        family = FAMILIES.get(data.get("family", "other"), FAMILIES["other"])
        hue = f"hue-{family.hue}"
        lines = [_name(data)]
        if data.get("kind") == "variable":
            lines = [str(data.get("name") or ""), str(data.get("type", "unsolved"))]
        elif "short_type" in data:
            lines.append(data["short_type"])
        tip = [lines[0], *(str(data[key]) for key in ("type", "span") if key in data)]
        style = dict(_SHAPES[family.shape])
        users = self.graph.succ[node]
        if users and all(user in self.hidden for user in users) and data.get("kind") != "Var":
            style["peripheries"] = "2"  # a result
        if data.get("solved") is False:
            style["style"] = f"{style.get('style', 'filled')},dashed"
        return {
            **style, "label": _text(lines), "tooltip": _text(tip, 400), "color": self.colors[hue],
            "fillcolor": self.colors[f"{hue}-fill"],
        }  # fmt: skip

    def _edge(self, source: Any, target: Any, data: Mapping[str, Any]) -> dict[str, str]:
        """Return how an edge looks. Operands have numbers where their order cannot be seen otherwise."""
        look: dict[str, str] = {}
        operand = data.get("operand")
        several = len(self.graph.pred[target]) > 1 or self.graph.number_of_edges(source, target) > 1
        role = data.get("role", "")
        if self.kind != "constraints" and several and isinstance(operand, int):
            words = str(operand) if role in ("argument", "field") else role
            look["label"] = _text([data.get("name") or (f"{role} {operand}" if role == "clause" else words)])
        if role in _DASHED or (role != "argument" and self.graph.nodes[target].get("kind") == "Var"):
            look["style"] = "dashed"
        return {key: value for key, value in look.items() if value}


def _described(graph: Any, hidden: set[Any], placed: Mapping[Any, Cluster]) -> tuple[str, str]:
    """Return a title and a text alternative of a drawing: its arrows, and what its frames contain."""
    names = {node: _name(data) for node, data in graph.nodes(data=True) if node not in hidden}
    arrows: list[str] = []
    for node, name in names.items():
        ends = dict.fromkeys([names[end] for end in graph.succ[node] if end in names])
        if ends:
            arrows.append(f"from {name} to {', '.join(ends)}")
    inside: dict[str, list[str]] = {}
    for node, name in names.items():
        if placed[node]:
            inside.setdefault(placed[node][-1], []).append(name)
    kind = _KINDS.get(graph.graph.get("kind", ""), "graph")
    title = f"The {kind}: {counted(len(names), 'node')}"
    if inside:
        title += f", {counted(len(inside), 'frame')}"
    framed = [f"{frame} around {', '.join(members)}" for frame, members in inside.items()]
    parts = [
        f"{what}: {_listed(lines)}." for what, lines in (("Arrows", arrows), ("Frames", framed)) if lines
    ]
    return title, " ".join(parts)


def _listed(lines: Sequence[str]) -> str:
    more = len(lines) - MAX_LISTED
    return "; ".join(lines[:MAX_LISTED]) + (f"; and {more:,} more" if more > 0 else "")


def _name(data: Mapping[str, Any]) -> str:
    return str(data.get("label") or data.get("name") or data.get("kind", ""))


def _text(lines: Sequence[str], longest: int = LONGEST) -> str:
    """Return a label of a few lines. No character of it has a meaning in the DOT language."""
    shown = [_plain(line if len(line) <= longest else f"{line[: longest - 1]}…") for line in lines if line]
    label: str = require("graphviz").nohtml("\\n".join(shown))
    return label


def _plain(line: str) -> str:
    printable = "".join([c if c.isprintable() else " " for c in line])
    return printable.replace("\\", "\\\\").replace("&", "&amp;")


@cache
def digraph_class() -> Any:
    """Return a subclass of `graphviz.Digraph` that a notebook shows with a text alternative, and that says
    how to install `dot` if it is missing.
    """
    graphviz = require("graphviz")

    class Digraph(graphviz.Digraph):  # type: ignore[misc,name-defined]  # graphviz is imported when it is used
        __doc__ = graphviz.Digraph.__doc__
        theme = "light"
        words = ("A graph", "")  # the title and the text alternative

        def pipe(self, *args: Any, **keywords: Any) -> Any:
            return _run(super().pipe, args, keywords)

        def render(self, *args: Any, **keywords: Any) -> Any:
            return _run(super().render, args, keywords)

        def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **_: Any) -> Any:
            try:
                svg = self.pipe("svg", encoding="utf-8")
            except RelayError as error:
                return {"text/plain": str(error)}
            return {"text/html": inline_svg(svg, *self.words, self.theme), "image/svg+xml": svg}

    def _run(method: Callable[..., Any], args: Iterable[Any], keywords: Mapping[str, Any]) -> Any:
        try:
            return method(*args, **keywords)
        except graphviz.ExecutableNotFound:
            raise RelayError(INSTALL) from None

    return Digraph
