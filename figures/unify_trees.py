"""Unification by hand: two function types, matched part by part."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_layout, lay_out

WIDTH, HEIGHT = 480, 382
TOP, BELOW = 92, 178
Node = tuple[float, float]


def _box(words: str, tone: str) -> Box:
    return Box(
        words, tone, fill=f"{tone}-bg", ink=tone, width=28 + 8.4 * len(words), height=34, radius=17, size=14.5
    )


def _tree(c: Canvas, x: float, parameter: Box, result: Box) -> dict[str, Node]:
    """Draw the tree of a function type whose root is at x, and return the positions of its nodes."""
    root = Box("function", "edge", fill="panel", width=95, height=34, radius=6, mono=False, size=14.5)
    nodes = {"function": root, "parameter": parameter, "result": result}
    arrows = [Arrow("function", place, edge="edge") for place in ("parameter", "result")]
    apart = (108 - (parameter.width + result.width) / 2) / 2
    layout = lay_out(nodes, arrows, apart=apart, ranks_apart=BELOW - TOP - 34, centered=True)
    left, top = layout.centers["function"]
    layout = layout.moved(x - left, TOP - top)
    draw_layout(c, nodes, arrows, layout)
    for place, side, end in (("parameter", -1, "end"), ("result", 1, "start")):
        c.text(x + side * 42, TOP + 44, place, size=13, anchor=end, color="soft")
    return layout.centers


def _link(c: Canvas, start: Node, end: Node, drop: float, number: int) -> None:
    """Join two nodes by a dashed bow that hangs `drop` below them."""
    (x0, y0), (x1, y1) = start, end
    low = max(y0, y1) + drop
    c.path(f"M{x0:g} {y0:g}C{x0:g} {low:g} {x1:g} {low:g} {x1:g} {y1:g}", edge="run", width=2, dashed=True)
    middle = (x0 + x1) / 2, (y0 + y1) / 2 + 0.75 * (low - (y0 + y1) / 2)
    c.circle(*middle, 12, fill="run-bg", edge="run")
    c.text(middle[0], middle[1] + 5, str(number), size=13.5, anchor="middle", bold=True, color="run")


def draw(c: Canvas) -> None:
    left, right = 116, 364
    c.text(left, 30, "fn (α) -> β", size=15, mono=True, anchor="middle")
    c.text(right, 30, "fn (float32) -> α", size=15, mono=True, anchor="middle")
    _link(c, (left + 48, TOP), (right - 48, TOP), 0, 1)
    one = _tree(c, left, _box("α", "unknown"), _box("β", "unknown"))
    other = _tree(c, right, _box("float32", "known"), _box("α", "unknown"))
    for number, place in ((2, "parameter"), (3, "result")):
        (x0, y0), (x1, y1) = one[place], other[place]
        _link(c, (x0, y0 + 17), (x1, y1 + 17), 58, number)
    for i, words in enumerate(
        (
            "Both are functions of one parameter: unify their parts.",
            "Parameters: α with float32. So α = float32.",
            "Results: β with α, which is known now. So β = float32.",
        )
    ):
        y = 296 + 34 * i
        c.circle(22, y - 5, 12, fill="run-bg", edge="run")
        c.text(22, y, str(i + 1), size=13.5, anchor="middle", bold=True, color="run")
        c.text(44, y, words, size=14)


FIGURE = Figure(
    "unify_trees", WIDTH, HEIGHT, "Unifying two function types",
    """Two types as trees: a function from alpha to beta, and a function from float32 to alpha. Three dashed
    links are numbered. First, both are functions of one parameter, so their parts are unified. Second, the
    parameters: alpha with float32, so alpha is float32. Third, the results: beta with alpha, so beta is
    float32, too.""",
    draw,
)  # fmt: skip
