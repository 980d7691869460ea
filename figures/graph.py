"""Graphs that Graphviz lays out: boxes of text, and arrows along the curves of `dot`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import atan2
from typing import Any

import pygraphviz

from figures.canvas import Canvas, Point, number
from relay_explorer.interop import to_networkx
from relay_explorer.ir.expr import Expr
from relay_explorer.ir.module import IRModule

HEIGHT = 28
INCH = 72  # units of a sheet


@dataclass(frozen=True)
class Box:
    """A node: its label, and how its box looks; without a hue there is only the label.

    A label may have two lines, in a box 40 high; the second line is smaller and never bold. `fill` and
    `ink` are the color tokens of the interior and the text, if not the ones that follow from the rest. A
    mark is a letter or a digit in a circle at the top right corner. A circle's diameter is its width, which
    its height has to equal.
    """

    label: str
    hue: str = "known"
    filled: bool = False
    dashed: bool = False
    width: float = 60
    height: float = HEIGHT
    mark: str = ""
    stroke: float = 1.5
    radius: float = 8
    bold: bool = False
    fill: str = ""
    circle: bool = False
    mono: bool = True
    size: float = 13
    ink: str = ""

    def draw(self, c: Canvas, x: float, y: float) -> None:
        """Draw the box around a center."""
        filled = f"{self.hue}-fill" if self.filled and self.hue.startswith("hue-") else "paper"
        fill = self.fill or filled
        left, top = x - self.width / 2, y - self.height / 2
        if self.circle:
            c.circle(x, y, self.width / 2, fill=fill, edge=self.hue, width=self.stroke)
        elif self.hue != "none":
            c.box(
                left, top, self.width, self.height,
                fill=fill, edge=self.hue, width=self.stroke, dashed=self.dashed, radius=self.radius,
            )  # fmt: skip
        ink = self.ink or ("soft" if self.dashed else "ink")
        first, *second = self.label.split("\n")
        y += 4.5 - (8 if second else 0)
        c.text(x, y, first, size=self.size, mono=self.mono, anchor="middle", color=ink, bold=self.bold)
        for line in second:
            c.text(x, y + 15.5, line, size=self.size - 1, mono=self.mono, anchor="middle", color=ink)
        if self.mark:
            c.circle(left + self.width, top + 1, 8.5, fill="paper", edge=self.hue)
            c.text(left + self.width, top + 5.2, self.mark, size=12, bold=True, anchor="middle")


@dataclass(frozen=True)
class Arrow:
    """An edge, and how its arrow looks. One that does not `constrain` leaves the ranks as they are.

    Without a `head` it is a plain line. The greater the weight, the straighter and shorter the arrow.
    """

    start: str
    end: str
    edge: str = "known"
    dashed: bool = False
    constrain: bool = True
    head: bool = True
    width: float = 1.5
    weight: int = 1


def program_graph(
    program: IRModule | Expr,
    box: Callable[[str, dict[str, Any]], Box | None],
    edge: str = "known",
    *,
    to_operands: bool = False,
) -> tuple[dict[str, Box], list[Arrow]]:
    """Return the boxes and arrows of a program, as `to_networkx` converts it.

    The name of a node is its operator without a namespace, `conv2d`, a construct such as `tuple`, or the
    variable, `x`. A prime distinguishes nodes of one name. `box` makes the box of a node from the name
    without primes and the attributes; a node for which it returns None is left out. Arrows lead from operands
    to their users, or the other way round.
    """
    graph = to_networkx(program, lets=False)
    names: dict[int, str] = {}
    nodes: dict[str, Box] = {}
    for node, data in graph.nodes(data=True):
        if "op" in data:
            plain = data["op"].rpartition(".")[2]
        else:
            plain = data["name" if data["kind"] == "Var" else "label"].rpartition(" = ")[2].lstrip("%")
        shown = box(plain, data)
        if shown is None:
            continue
        while plain in nodes:
            plain += "'"
        names[node], nodes[plain] = plain, shown
    ends = [(start, end) for start, end, _ in graph.edges if start in names and end in names]
    if to_operands:
        ends = [(end, start) for start, end in ends]
    return nodes, [Arrow(names[start], names[end], edge=edge) for start, end in ends]


def only_calls(**look: Any) -> Callable[[str, dict[str, Any]], Box | None]:
    """Return a function for `program_graph` that draws calls of operators, all with one look."""
    return lambda name, data: Box(name, **look) if "op" in data else None


@dataclass(frozen=True)
class Layout:
    """The centers of the boxes, the curves of the arrows, and the size of the whole, from the top left."""

    centers: dict[str, Point]
    curves: list[list[Point]]
    width: float
    height: float

    def moved(self, x: float, y: float) -> Layout:
        """Return the layout with its top left corner at (x, y)."""
        centers = {name: (x + px, y + py) for name, (px, py) in self.centers.items()}
        curves = [[(x + px, y + py) for px, py in curve] for curve in self.curves]
        return Layout(centers, curves, self.width, self.height)


def lay_out(
    nodes: Mapping[str, Box],
    arrows: Iterable[Arrow],
    *,
    direction: str = "TB",
    apart: float = 16,
    ranks_apart: float = 26,
    rows: Iterable[Sequence[str]] = (),
    centered: bool = False,
) -> Layout:
    """Let `dot` place boxes in ranks, `apart` within a rank; `direction` is TB, LR or BT.

    The nodes of a row have one rank, in the order given. If `centered`, a node with two children stands
    midway between them, in the order of their arrows, as suits a binary tree; each row then has to
    be in this order.
    """
    graph = pygraphviz.AGraph(directed=True, strict=False)
    graph.graph_attr.update(rankdir=direction, nodesep=f"{apart / INCH}", ranksep=f"{ranks_apart / INCH}")
    graph.graph_attr.update(pad="0", margin="0")
    graph.node_attr.update(fixedsize="true", label="")
    graph.edge_attr.update(arrowsize="0.75")  # about as long as the head that the canvas draws
    for name, box in nodes.items():
        shape = "circle" if box.circle else "box"
        graph.add_node(name, shape=shape, width=f"{box.width / INCH}", height=f"{box.height / INCH}")
    arrows = list(arrows)
    children: dict[str, list[str]] = {}
    for arrow in arrows:
        children.setdefault(arrow.start, []).append(arrow.end)
    if centered:
        graph.graph_attr["ordering"] = "out"
    for index, arrow in enumerate(arrows):
        constraint = "true" if arrow.constrain else "false"
        heads = "forward" if arrow.head else "none"
        graph.add_edge(
            arrow.start, arrow.end, key=str(index), constraint=constraint, dir=heads, weight=arrow.weight
        )
        if centered and len(ends := children[arrow.start]) == 2 and ends[0] == arrow.end:
            above = arrow.start
            for level in range(1 + min(_levels(end, children) for end in ends)):
                below = f"below {arrow.start} {level}"
                graph.add_node(below, style="invis", width="0.01", height="0.01")
                graph.add_edge(above, below, key="middle", style="invis", weight=100)
                above = below
    for row in rows:
        graph.add_subgraph(row, rank="same")
        for one, other in pairwise(row if not centered else ()):  # arrows order a centered tree
            graph.add_edge(one, other, key="order", style="invis")
    graph.layout(prog="dot")
    _, _, width, height = (float(part) for part in graph.graph_attr["bb"].split(","))

    def point(text: str) -> Point:
        x, y = text.split(",")
        return float(x), height - float(y)

    centers = {name: point(graph.get_node(name).attr["pos"]) for name in nodes}
    curves = []
    for index, arrow in enumerate(arrows):
        points = graph.get_edge(arrow.start, arrow.end, key=str(index)).attr["pos"].split()
        if points[0].startswith("e,"):
            points = [*points[1:], points[0].removeprefix("e,")]
        else:
            points.append(points[-1])
        curves.append([*map(point, points)])
    return Layout(centers, curves, width, height)


def _levels(name: str, children: Mapping[str, Sequence[str]]) -> int:
    return max((1 + _levels(child, children) for child in children.get(name, ())), default=0)


def draw_arrow(c: Canvas, arrow: Arrow, curve: list[Point]) -> None:
    """Draw a curve of Bézier segments, and the head of the arrow at its last point."""
    (x0, y0), *points = curve
    (x1, y1), (x2, y2) = points[-2:]
    steps = " ".join(f"{number(x)} {number(y)}" for x, y in points[:-1])
    c.path(f"M{number(x0)} {number(y0)}C{steps}", edge=arrow.edge, width=arrow.width, dashed=arrow.dashed)
    if arrow.head:
        c.head(x2, y2, atan2(y2 - y1, x2 - x1), arrow.edge)


def draw_layout(c: Canvas, nodes: Mapping[str, Box], arrows: Iterable[Arrow], layout: Layout) -> None:
    """Draw a graph where a layout places it."""
    for arrow, curve in zip(arrows, layout.curves, strict=True):
        draw_arrow(c, arrow, curve)
    for name, box in nodes.items():
        box.draw(c, *layout.centers[name])


def draw_graph(
    c: Canvas,
    nodes: Mapping[str, Box],
    arrows: Iterable[Arrow],
    x: float,
    y: float,
    *,
    direction: str = "TB",
    apart: float = 16,
    ranks_apart: float = 26,
    centered: bool = False,
) -> Layout:
    """Draw a graph whose top is at y and whose middle is at x; return the layout."""
    arrows = list(arrows)
    layout = lay_out(
        nodes, arrows, direction=direction, apart=apart, ranks_apart=ranks_apart, centered=centered
    )
    layout = layout.moved(x - layout.width / 2, y)
    draw_layout(c, nodes, arrows, layout)
    return layout
