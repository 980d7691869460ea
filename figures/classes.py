"""Union-find: the classes of type variables as trees, before and after each relation."""

from __future__ import annotations

from collections.abc import Iterator

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_layout, lay_out
from figures.record import Moment, before_solving, moments, owner, variables

WIDTH, HEIGHT = 480, 496
PANEL_W, PANEL_H = 226, 200
RADIUS = 15


def _panels() -> Iterator[tuple[str, Moment]]:
    yield "all relations queued", before_solving()
    for operator, state in moments():
        if operator is not None:
            yield f"`{operator}` has run", Moment(dict(state.parent), dict(state.known), set(state.functions))


def _forest(c: Canvas, x: float, y: float, state: Moment) -> None:
    """Draw the classes of a moment side by side: the root above, with its type if that is known."""
    boxes: dict[str, Box] = {}
    arrows: list[Arrow] = []
    for root, *members in state.classes():
        known = root in state.known
        for number in (root, *members):
            hue, fill = ("known", "known-bg") if known else ("unknown", "")
            boxes[str(number)] = Box(
                variables()[number][0], hue, width=2 * RADIUS, height=2 * RADIUS, circle=True, fill=fill,
                ink="known" if known else "", mono=False, size=15,
            )  # fmt: skip
        arrows += [Arrow(str(number), str(root), edge="soft") for number in members]
    # With BT, a root without members would stand in the row of the members.
    alone = any(len(members) == 1 for members in state.classes())
    rows = [[str(root) for root, *_ in state.classes()]] if alone else []
    layout = lay_out(boxes, arrows, direction="BT", apart=18, ranks_apart=34, rows=rows)
    layout = layout.moved(x + (PANEL_W - layout.width) / 2, y)
    draw_layout(c, boxes, arrows, layout)
    for root, *_ in state.classes():
        if root in state.known:
            top_x, top_y = layout.centers[str(root)]
            type_ = state.known[root].rsplit(" ", 1)[0]
            c.text(top_x, top_y - 22, type_, size=12.5, mono=True, anchor="middle", color="known")


def draw(c: Canvas) -> None:
    for i, (words, state) in enumerate(_panels()):
        x, y = 8 + (i % 2) * (PANEL_W + 12), 8 + (i // 2) * (PANEL_H + 12)
        c.box(x, y, PANEL_W, PANEL_H, edge="line", radius=10)
        c.text(x + 14, y + 25, f"{i}  {words}", size=14, bold=True)
        _forest(c, x, y + 70, state)
    tensors = [number for members in before_solving().classes() for number in members]
    words = "   ".join(f"{variables()[n][0]} {owner(n)}" for n in sorted(tensors))
    c.text(10, HEIGHT - 44, words, size=13, mono=True)
    c.text(10, HEIGHT - 18, "Arrows lead to the root of a class, which stores the type of all.", size=13)


FIGURE = Figure(
    "classes", WIDTH, HEIGHT, "Union-find: classes of type variables",
    """Four moments of one inference. At first there are three classes: the type of a with that of
    exp, that of tanh alone, that of add with the result. When tanh has run, its variable joins the
    class of a. When exp has run, that class is known to be (3, 4). When add has run, the result is
    too.""",
    draw,
)  # fmt: skip
