"""Value numbering: a program with twins, the table that finds them, and what is left; drawn from a run."""

from __future__ import annotations

from functools import cache

from figures.canvas import Canvas, Figure
from relay_explorer.ir.expr import Call, Expr, Function
from relay_explorer.ir.op import Op
from relay_explorer.ir.walk import post_order
from relay_explorer.text import parse

WIDTH, HEIGHT = 480, 300
HUES = {"exp": "hue-blue", "tanh": "hue-orange", "add": "hue-purple"}
PROGRAM = "def @main(%x: float32) { add(tanh(exp(%x)), tanh(exp(%x))) }"
TOP, STEP = 66, 58


@cache
def table() -> tuple[tuple[str, tuple[str, ...], int, bool], ...]:
    """For each call, in order: its operator, what its arguments are, the number that it gets, whether that is
    new.
    """
    main = parse(PROGRAM)["main"]
    assert isinstance(main, Function)
    numbers: dict[Expr, int] = {}
    first: dict[tuple[str, tuple[str, ...]], int] = {}
    rows = []
    for node in post_order(main.body):
        if isinstance(node, Call) and isinstance(node.op, Op):
            args = tuple(str(numbers[arg]) if arg in numbers else "x" for arg in node.args)
            key = node.op.name, args
            new = key not in first
            numbers[node] = first.setdefault(key, len(first) + 1)
            rows.append((*key, numbers[node], new))
    return tuple(rows)


def _node(c: Canvas, x: float, y: float, name: str, number: int) -> None:
    hue = HUES[name]
    c.box(x - 26, y - 14, 52, 28, fill=f"{hue}-fill", edge=hue)
    c.text(x, y + 4.5, name, size=13, mono=True, anchor="middle")
    c.circle(x + 27, y - 13, 9, fill="paper", edge=hue)
    c.text(x + 27, y - 8.6, str(number), size=12, bold=True, anchor="middle")


def _graph(c: Canvas, middle: float, lean: float) -> None:
    """The program with each thing twice (`lean` to the sides), or once."""
    levels = (("exp", 1), ("tanh", 2))
    c.text(middle, TOP - 2, "x", size=14, mono=True, anchor="middle")
    end = TOP + STEP * 3
    for side in (-1, 1):
        x, bent = middle + side * lean, side * (8 if lean == 0 else 0)
        c.line((middle + side * 5 * bool(lean), TOP + 5), (x, TOP + STEP - 15), edge="known", arrow=True)
        c.line((x, TOP + STEP + 14), (x, TOP + 2 * STEP - 15), edge="known", arrow=True)
        c.line((x + bent, TOP + 2 * STEP + 14), (middle + side * 8, end - 15), edge="known", arrow=True)
        for level, (name, number) in enumerate(levels, 1):
            _node(c, x, TOP + STEP * level, name, number)
    _node(c, middle, end, "add", 3)


def draw(c: Canvas) -> None:
    for x, wide, name in ((7, 142, "written"), (157, 182, "looked up"), (347, 126, "shared")):
        c.box(x, 8, wide, 254, fill="panel", edge="edge")
        c.text(x + wide / 2, 32, name, size=15, bold=True, anchor="middle")
    _graph(c, 76, 33)
    for row, (name, args, number, new) in enumerate(table()):
        y = 72 + 38 * row
        hue = HUES[name]
        c.box(169, y - 17, 158, 28, fill=f"{hue}-fill" if new else "paper", edge=hue, dashed=not new)
        c.text(179, y + 2.5, f"{name} {' '.join(args)}", size=13, mono=True)
        c.text(
            318, y + 2.5, f"is {number}" if new else f"is there: {number}", size=12.5, anchor="end", bold=new
        )
    _graph(c, 408, 0)
    c.text(
        WIDTH / 2, HEIGHT - 14, "A computation is its operator and the numbers of its arguments.",
        size=13, anchor="middle",
    )  # fmt: skip


FIGURE = Figure(
    "numbering", WIDTH, HEIGHT, "Value numbering finds what is written twice",
    """Three panels. Written: exp of x twice, tanh of each, and the sum of the two, five operators. Looked up,
    one row for each operator, parts first: exp of x is 1; tanh of 1 is 2; exp of x is there: 1; tanh of 1 is
    there: 2; add of 2 and 2 is 3. Shared: exp of x, marked 1, tanh of it, marked 2, and add, marked 3, which
    uses 2 twice.""",
    draw,
)  # fmt: skip
