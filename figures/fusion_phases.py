"""The three phases of fusion on one program: the kernels after each phase, from a run of the pass."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from figures.canvas import Canvas, Figure, Point
from figures.graph import Arrow, Box, draw_layout, lay_out, program_graph
from relay_explorer.analysis.dataflow_graph import DataflowGraph
from relay_explorer.ir.expr import Call, Function, Tuple
from relay_explorer.ir.op import Op
from relay_explorer.ir.recorder import Recorder
from relay_explorer.text import parse
from relay_explorer.transform.fuse_ops.groups import Decision, Limits, Partition
from relay_explorer.typing import infer_types

WIDTH, HEIGHT = 480, 386
PANEL = 150
WIDTHS = {"conv2d": 54, "transpose": 74, "add": 44, "relu": 44, "exp": 40, "tuple": 50, "concat": 58}
FEET = (
    ("1: the convolution", "fuses with add, relu"),
    ("2: the tuple is fused", "into concatenate"),
    ("3: exp is fused", "into the same kernel"),
)
PROGRAM = """
def @main(%x: Tensor[(1, 8, 9, 9), float32], %w: Tensor[(8, 8, 1, 1), float32],
          %y: Tensor[(1, 9, 9, 8), float32], %z: Tensor[(1, 8, 9, 9), float32]) {
  %0 = nn.conv2d(%x, %w);
  %1 = transpose(%y, axes=[0, 3, 1, 2]);
  %2 = nn.relu(add(%0, %1));
  concatenate((%2, exp(%z)), axis=1)
}
"""


def _box(name: str, data: dict[str, Any]) -> Box | None:
    return None if data["kind"] in ("Var", "Function") else Box(name)


@cache
def phases() -> tuple[tuple[tuple[str, str], ...], tuple[tuple[frozenset[str], ...], ...]]:
    """Return the edges between operators, and the kernels after each phase."""
    function = infer_types(parse(PROGRAM))["main"]
    assert isinstance(function, Function)
    graph = DataflowGraph(function)
    names: dict[int, str] = {}
    for node in graph.nodes:
        if isinstance(node.expr, Call) and isinstance(node.expr.op, Op):
            names[node.index] = node.expr.op.name.removeprefix("nn.").replace("concatenate", "concat")
        elif isinstance(node.expr, Tuple):
            names[node.index] = "tuple"
    _, arrows = program_graph(parse(PROGRAM)["main"], _box)
    edges = tuple((arrow.start.replace("enate", ""), arrow.end.replace("enate", "")) for arrow in arrows)
    with Recorder(Decision) as recorder:
        Partition(graph, Limits())
    kernels = {name: {name} for name in names.values()}
    states = []
    for phase in range(3):
        for decision in recorder.events:
            if decision.phase == phase and decision.target is not None:
                into = kernels[names[decision.target]]
                for index in decision.merged:
                    into |= kernels[names[index]]
                    for name in into:
                        kernels[name] = into
        states.append(tuple({frozenset(kernel) for kernel in kernels.values() if len(kernel) > 1}))
    return edges, tuple(states)


def draw(c: Canvas) -> None:
    edges, states = phases()
    boxes = {name: Box(name, width=width) for name, width in WIDTHS.items()}
    arrows = [Arrow(*edge, edge="ink") for edge in edges]
    wider = {"exp": replace(boxes["exp"], width=WIDTHS["exp"] + 8)}  # room for the outlines of two kernels
    layout = lay_out(boxes | wider, arrows, apart=8, ranks_apart=32)
    for number, (kernels, foot) in enumerate(zip(states, FEET, strict=True)):
        left = 7 + (PANEL + 8) * number
        middle = left + PANEL / 2
        c.box(left, 8, PANEL, 370, fill="panel", edge="edge")
        c.text(middle, 32, f"after phase {number + 1}", size=14.5, bold=True, anchor="middle")
        colors = {name: _hue(kernel) for kernel in kernels for name in kernel}
        placed = layout.moved(middle + 1.5 - layout.width / 2, 58)
        for kernel in sorted(kernels, key=_hue):
            inner = [edge for edge in edges if kernel.issuperset(edge)]
            _hull(c, {name: placed.centers[name] for name in kernel}, inner, _hue(kernel))
        hued = {name: replace(box, hue=colors.get(name, box.hue)) for name, box in boxes.items()}
        draw_layout(c, hued, arrows, placed)
        for line, words in enumerate(foot):
            c.text(middle, 348 + 18 * line, words, size=13, anchor="middle")


def _hue(kernel: frozenset[str]) -> str:
    return "hue-blue" if "conv2d" in kernel else "hue-orange"


def _hull(c: Canvas, centers: dict[str, Point], edges: list[tuple[str, str]], hue: str) -> None:
    """Fill the outline around the boxes of one kernel, one wide band along the edges between them."""
    for start, end in edges:
        c.line(centers[start], centers[end], edge=f"{hue}-fill", width=36)
    for name in sorted(centers):
        (x, y), width = centers[name], WIDTHS[name] + 8
        c.box(x - width / 2, y - 19, width, 38, fill=f"{hue}-fill", edge=f"{hue}-fill", radius=10)


FIGURE = Figure(
    "fusion_phases", WIDTH, HEIGHT, "Kernels after each of the three phases",
    """One program in three panels. A convolution and a transpose meet in add, relu follows; relu and exp go
    into a tuple, and the tuple into concatenate. After phase 1, convolution, add and relu are one kernel.
    After phase 2, the tuple and concatenate are another one, and transpose is still alone. After phase 3,
    exp has joined the kernel of the tuple and concatenate. Three kernels are left: transpose, the
    convolution's, and that of concatenate.""",
    draw,
)  # fmt: skip
