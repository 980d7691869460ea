"""Operator fusion in three steps: data flow with patterns, post-dominators, kernels; drawn from a run of the
pass.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, Layout, draw_arrow, lay_out
from relay_explorer.interop import EXIT, to_networkx
from relay_explorer.ir.op import OpPattern
from relay_explorer.text import parse
from relay_explorer.views.fusion.sentences import PATTERNS

WIDTH, HEIGHT = 480, 408
PANEL = 150
HUES = ("hue-blue", "hue-orange", "hue-purple")
PROGRAM = """
def @main(%x: Tensor[(1, 16, 32, 32), float32], %w: Tensor[(32, 16, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);
  %1 = nn.relu(%0);
  %2 = exp(%1);
  %3 = tanh(%0);
  %4 = add(%2, %3);
  %5 = mean(%4, axis=[1]);
  sqrt(%5)
}
"""


class Run(NamedTuple):
    """What the pass computes: each operator's pattern, its users, where its uses meet, and the kernels."""

    letters: dict[str, str]
    uses: list[tuple[str, str]]
    meetings: list[tuple[str, str]]
    kernels: list[list[str]]


@cache
def run() -> Run:
    flow = to_networkx(parse(PROGRAM), "fusion")
    words = {word.number: word.letter for word in PATTERNS}
    names = {node: op.rpartition(".")[2] for node, op in flow.nodes(data="op") if op is not None}
    kernels: dict[int, list[str]] = {}
    for node, name in names.items():
        kernels.setdefault(flow.nodes[node]["group"], []).append(name)
    meetings = [(name, flow.nodes[node]["post_dominator"]) for node, name in names.items()]
    return Run(
        {name: words[OpPattern[flow.nodes[node]["pattern"]]] for node, name in names.items()},
        [(names[node], names[user]) for node in names for user in flow.successors(node) if user != EXIT],
        [(name, names[end]) for name, end in meetings if end != EXIT],
        list(kernels.values()),
    )


def _boxes(hues: dict[str, str], letters: dict[str, str]) -> dict[str, Box]:
    return {
        name: Box(name, hues.get(name, "known"), width=54, mark=letters.get(name, ""))
        for name in run().letters
    }


@cache
def _layout() -> tuple[list[tuple[str, str]], Layout]:
    """Lay out the uses and the post-dominators together, so that all panels agree; return the edges too.

    The arrow to the one post-dominator that is not a user leads through a gap between the branches.
    """
    result = run()
    ((start, end),) = set(result.meetings) - set(result.uses)
    arrows = [Arrow(*use) for use in result.uses]
    arrows += [Arrow(start, "gap", head=False, weight=20), Arrow("gap", end, weight=20)]
    boxes = _boxes({}, {}) | {"gap": Box("", width=2)}
    layout = lay_out(boxes, arrows, apart=7, ranks_apart=24, rows=[("exp", "gap", "tanh")])
    *curves, above, below = layout.curves
    past = [*above, below[0], *below]
    return [*result.uses, (start, end)], replace(layout, curves=[*curves, past])


def _panel(c: Canvas, number: int, name: str, foot: str) -> float:
    x = 7 + (PANEL + 8) * number
    c.box(x, 8, PANEL, 392, fill="panel", edge="edge")
    c.text(x + PANEL / 2, 32, name, size=15, bold=True, anchor="middle")
    c.text(x + PANEL / 2, 386, foot, size=13, color="soft", anchor="middle")
    return x + PANEL / 2


def _graph(c: Canvas, layout: Layout, boxes: dict[str, Box], pairs: list[tuple[str, str]], edge: str) -> None:
    """Draw the boxes, and those of the layout's arrows that are among the pairs."""
    edges, _ = _layout()
    for (start, end), curve in zip(edges, layout.curves, strict=True):
        if (start, end) in pairs:
            draw_arrow(c, Arrow(start, end, edge), curve)
    for name, box in boxes.items():
        box.draw(c, *layout.centers[name])


def draw(c: Canvas) -> None:
    result = run()
    _, layout = _layout()
    layout = layout.moved(-layout.width / 2, 54)
    middle = _panel(c, 0, "Data flow", "values and their uses")
    _graph(c, layout.moved(middle, 0), _boxes({}, result.letters), result.uses, "known")

    middle = _panel(c, 1, "Post-dominators", "where all paths meet")
    _graph(c, layout.moved(middle, 0), _boxes({}, {}), result.meetings, "hue-teal")

    middle = _panel(c, 2, "Kernels", f"{len(result.kernels)} launches")
    layout = layout.moved(middle, 0)
    hues: dict[str, str] = {}
    for hue, kernel in zip(HUES, result.kernels, strict=True):
        places = [layout.centers[name] for name in kernel]
        left, right = min(x for x, _ in places) - 33, max(x for x, _ in places) + 33
        top, bottom = min(y for _, y in places) - 19, max(y for _, y in places) + 19
        c.box(left, top, right - left, bottom - top, fill=f"{hue}-fill", edge=hue, dashed=True, radius=12)
        hues |= dict.fromkeys(kernel, hue)
    _graph(c, layout, _boxes(hues, {}), result.uses, "ink")


FIGURE = Figure(
    "fusion", WIDTH, HEIGHT, "Operator fusion: data flow, post-dominators, kernels",
    """One program in three panels. Data flow: conv2d, marked C, is used by relu and tanh, both marked
    E; relu by exp, also E; exp and tanh by add, marked B; add by mean, marked R; mean by sqrt, marked
    E. Post-dominators: an arrow leads from each operator to its immediate post-dominator. From conv2d
    it leads to add, past both branches; from relu to exp, from exp and tanh to add, from add to mean,
    from mean to sqrt. Kernels: a dashed line is around conv2d, relu, exp, tanh and add together, one
    around mean, and one around sqrt.""",
    draw,
)  # fmt: skip
