"""Operator fusion in three steps: data flow with patterns, post-dominators, kernels; drawn from a run of the
pass.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from figures.canvas import Canvas, Figure
from relay_explorer.analysis.dataflow_graph import DataflowGraph
from relay_explorer.ir.expr import Call, Function
from relay_explorer.ir.op import Op
from relay_explorer.text import parse
from relay_explorer.transform.fuse_ops.groups import Limits, Partition
from relay_explorer.typing import infer_types
from relay_explorer.views.fusion.sentences import PATTERNS

WIDTH, HEIGHT = 480, 408
PANEL, STEP, TOP, SIDE = 150, 52, 66, 38
PLACES = {
    "conv2d": (0, 0), "relu": (-1, 1), "exp": (-1, 2), "tanh": (1, 1.5), "add": (0, 3), "mean": (0, 4),
    "sqrt": (0, 5),
}  # fmt: skip
HUES = ("hue-blue", "hue-orange", "hue-purple")
PROGRAM = """
def @main(%x: Tensor[(1, 16, 32, 32), float32], %w: Tensor[(32, 16, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);
  %1 = nn.relu(%0);
  %2 = tanh(%0);
  %3 = exp(%1);
  %4 = add(%3, %2);
  %5 = mean(%4, axis=[1]);
  sqrt(%5)
}
"""


class Run(NamedTuple):
    """What the pass found: each operator's pattern, who uses whom, where its uses meet, and the kernels."""

    letters: dict[str, str]
    uses: list[tuple[str, str]]
    meetings: list[tuple[str, str]]
    kernels: list[list[str]]


@cache
def run() -> Run:
    function = infer_types(parse(PROGRAM))["main"]
    assert isinstance(function, Function)
    graph = DataflowGraph(function)
    partition = Partition(graph, Limits())
    assert partition.dominators is not None
    words = {word.number: word.letter for word in PATTERNS}
    names = {
        node.index: node.expr.op.name.rpartition(".")[2]
        for node in graph.nodes
        if isinstance(node.expr, Call) and isinstance(node.expr.op, Op)
    }
    kernels: dict[int, list[str]] = {}
    for index, name in names.items():
        kernels.setdefault(partition.group_of(graph.nodes[index]).root.index, []).append(name)
    parents = partition.dominators.parent
    meetings = [(name, parents[index]) for index, name in names.items()]
    return Run(
        {name: words[graph.nodes[index].pattern] for index, name in names.items()},
        [(names[i], names[user.index]) for i in names for user, _ in graph.nodes[i].uses],
        [(name, names[parent]) for name, parent in meetings if parent is not None],
        list(kernels.values()),
    )


def _at(name: str, middle: float) -> tuple[float, float]:
    column, row = PLACES[name]
    return middle + SIDE * column, TOP + STEP * row


def _panel(c: Canvas, number: int, name: str, foot: str) -> float:
    x = 7 + (PANEL + 8) * number
    c.box(x, 8, PANEL, 392, fill="panel", edge="edge")
    c.text(x + PANEL / 2, 32, name, size=15, bold=True, anchor="middle")
    c.text(x + PANEL / 2, 386, foot, size=13, colour="soft", anchor="middle")
    return x + PANEL / 2


def _arrows(c: Canvas, middle: float, pairs: list[tuple[str, str]], edge: str) -> None:
    for start, end in pairs:
        (x, y), (to, below) = _at(start, middle), _at(end, middle)
        lean = 0 if x == to else (12 if to > x else -12)
        c.line((x + lean, y + 14), (to - lean, below - 15), edge=edge, arrow=True)


def _nodes(c: Canvas, middle: float, hues: dict[str, str], letters: dict[str, str]) -> None:
    for name in PLACES:
        x, y = _at(name, middle)
        hue = hues.get(name, "known")
        c.box(x - 29, y - 14, 58, 28, fill="paper", edge=hue)
        c.text(x, y + 4.5, name, size=12.5, mono=True, anchor="middle")
        if letters:
            c.circle(x + 29, y - 13, 8.5, fill="paper", edge=hue)
            c.text(x + 29, y - 8.8, letters[name], size=12, bold=True, anchor="middle")


def draw(c: Canvas) -> None:
    found = run()
    middle = _panel(c, 0, "Data flow", "who uses what")
    _arrows(c, middle, found.uses, "known")
    _nodes(c, middle, {}, found.letters)

    middle = _panel(c, 1, "Meetings", "post-dominators")
    _arrows(c, middle, found.meetings, "hue-teal")
    _nodes(c, middle, {}, {})

    middle = _panel(c, 2, "Kernels", f"{len(found.kernels)} launches")
    hues: dict[str, str] = {}
    for hue, kernel in zip(HUES, found.kernels, strict=True):
        places = [_at(name, middle) for name in kernel]
        left, right = min(x for x, _ in places) - 34, max(x for x, _ in places) + 34
        top, bottom = min(y for _, y in places) - 20, max(y for _, y in places) + 20
        c.box(left, top, right - left, bottom - top, fill=f"{hue}-fill", edge=hue, dashed=True, radius=12)
        hues |= dict.fromkeys(kernel, hue)
    _arrows(c, middle, found.uses, "ink")
    _nodes(c, middle, hues, {})


FIGURE = Figure(
    "fusion", WIDTH, HEIGHT, "Operator fusion: data flow, post-dominators, kernels",
    """One program in three panels. Data flow: conv2d, marked C, is used by relu and tanh, both marked E; relu
    by exp, also E; exp and tanh by add, marked B; add by mean, marked R; mean by sqrt, marked E. Meetings: an
    arrow leads from each operator to its immediate post-dominator. From conv2d it leads to add, past both
    branches; from relu to exp, from exp and tanh to add, from add to mean, from mean to sqrt. Kernels: a
    dashed line is around conv2d, relu, exp, tanh and add together, one around mean, and one around
    sqrt.""",
    draw,
)  # fmt: skip
