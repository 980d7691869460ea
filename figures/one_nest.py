"""Inlining and moving computations: the loops of a gate as they follow from its formulas, and after two
primitives.
"""

from __future__ import annotations

from functools import cache

from figures.canvas import Canvas, Figure
from relay_explorer.ir.expr import Call, Function
from relay_explorer.lower.compose import compose
from relay_explorer.lower.inspect.replay import Block, Loop, Nest, nest
from relay_explorer.lower.require import tvm
from relay_explorer.lower.targets.target import Target
from relay_explorer.text import parse
from relay_explorer.transform import FuseOps
from relay_explorer.typing import infer_types

WIDTH, HEIGHT = 480, 386
ROW, INDENT, COLUMN, TOP = 24, 14, 160, 72
GATE = """
def @main(%x: Tensor[(4, 64), float32], %w: Tensor[(32, 64), float32], %b: Tensor[(1, 32), float32]) {
  sigmoid(nn.dense(%x, %w) + %b)
}
"""
# For each operator, the label and the color of its block.
SAYS = {"nn_dense": ("+ x · w", "blue"), "add": ("+ b", "orange"), "sigmoid": ("sigmoid", "purple")}
TITLES = (
    ("three nests", "from the formulas"),
    ("two nests", "`+ b` is inlined"),
    ("one nest", "`x · w` inside, too"),
)


@cache
def nests() -> tuple[Nest, ...]:
    """Return the loops at first, after the first step and after the second."""
    call = infer_types(FuseOps()(infer_types(parse(GATE))))["main"].body
    assert isinstance(call, Call)
    assert isinstance(call.op, Function)
    composed = compose(call.op, Target.of({"kind": "llvm", "mtriple": "x86_64-linux-gnu", "mcpu": "haswell"}))
    sch = tvm().s_tir.Schedule(composed.mod)
    sch.work_on(composed.name)
    stages = [nest(sch.mod[composed.name])]
    sch.compute_inline(sch.get_sblock("add"))
    stages.append(nest(sch.mod[composed.name]))
    sch.compute_at(sch.get_sblock("nn_dense"), sch.get_loops(sch.get_sblock("sigmoid"))[-1])
    return (*stages, nest(sch.mod[composed.name]))


def _block(c: Canvas, x: float, y: float, names: list[str]) -> None:
    """Draw a statement, with the operators that it computes, each in its color."""
    for name in names:
        says, hue = SAYS[name]
        width = 13 + 7.4 * len(says)
        c.box(x, y - 16, width, ROW - 3, fill=f"hue-{hue}-fill", edge=f"hue-{hue}", width=1.3, radius=5)
        c.text(x + width / 2, y - 1, says, size=12.5, anchor="middle", mono=True)
        x += width + 4


def _stored(c: Canvas, x: float, y: float) -> None:
    """Draw an array in memory, as a barrel."""
    left, right, top, bottom, bulge = x + 14, x + 96, y + 7, y + 29, 5
    c.path(f"M{left} {top}V{bottom}C{left} {bottom + bulge} {right} {bottom + bulge} {right} {bottom}V{top}",
           edge="soft", fill="none")  # fmt: skip
    c.path(f"M{left} {top}C{left} {top - bulge} {right} {top - bulge} {right} {top}"
           f"C{right} {top + bulge} {left} {top + bulge} {left} {top}", edge="soft", fill="none")  # fmt: skip
    c.text((left + right) / 2, bottom - 1, "4 × 32", size=12, anchor="middle", color="soft")


def _column(c: Canvas, x: float, parts: Nest, inlined: bool) -> float:
    y = float(TOP)
    for number, part in enumerate(parts):
        if part.depth == 0 and number:
            _stored(c, x, y - 16)
            y += 42
        at = x + INDENT * part.depth
        if isinstance(part, Loop):
            c.text(at, y, f"for {'ijk'[part.depth]} < {part.extent}", size=12.5, mono=True)
        if isinstance(part, Block):
            names = [part.name]
            if inlined and part.name == "sigmoid":
                names = ["add", "sigmoid"]
            _block(c, at, y, names)
        y += ROW
    return y


def draw(c: Canvas) -> None:
    for number, ((title, how), parts) in enumerate(zip(TITLES, nests())):
        x = 8 + COLUMN * number
        c.text(x, 20, title, size=14, bold=True)
        c.text(x, 40, how, size=13, color="soft")
        if number:
            c.line((x - 14, 10), (x - 14, HEIGHT - 14), edge="edge", dashed=True)
        end = _column(c, x, parts, inlined=number > 0)
        if number == 2:
            c.lines(x, end + 14, ["one accumulator,", "in a register"], size=13, color="soft")


FIGURE = Figure(
    "one_nest", WIDTH, HEIGHT, "From three loop nests to one",
    """The loops of a gate in three columns. First, formula by formula: loops over i below 4, j below 32 and
    k below 64 add x times w into an array of 4 by 32; loops over i and j add b, into a second such array;
    loops over i and j apply the sigmoid. Second, the bias is inlined: the loops of the product, the array,
    and loops over i and j that add b and apply the sigmoid. Third, the product is computed inside them: loops
    over i and j, within them the loop over k, and after it, still within i and j, the sum with b and the
    sigmoid; there is no array any more.""",
    draw,
)  # fmt: skip
