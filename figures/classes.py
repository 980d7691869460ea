"""Union-find: the classes of type variables as trees, before and after each relation."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot

from figures.canvas import Canvas, Figure
from figures.record import Moment, before_solving, moments, owner, variables

WIDTH, HEIGHT = 480, 496
PANEL_W, PANEL_H = 226, 200
RADIUS, BELOW = 15, 62


def _panels() -> Iterator[tuple[str, Moment]]:
    yield "all relations queued", before_solving()
    for operator, state in moments():
        if operator is not None:
            yield f"`{operator}` has run", Moment(dict(state.parent), dict(state.known), set(state.functions))


def _variable(c: Canvas, x: float, y: float, number: int, known: bool) -> None:
    c.circle(x, y, RADIUS, fill="known-bg" if known else "none", edge="known" if known else "unknown")
    c.text(x, y + 5, variables()[number][0], size=15, anchor="middle", colour="known" if known else "ink")


def _tree(c: Canvas, x: float, y: float, members: list[int], known: str | None) -> None:
    top, *rest = members
    if known is not None:
        c.text(x, y - 22, known.rsplit(" ", 1)[0], size=12.5, mono=True, anchor="middle", colour="known")
    for i, number in enumerate(rest):
        below = x + (i - (len(rest) - 1) / 2) * 42
        dx, dy = (x - below) / hypot(x - below, BELOW), -BELOW / hypot(x - below, BELOW)
        start = (below + dx * (RADIUS + 1), y + BELOW + dy * (RADIUS + 1))
        c.line(start, (x - dx * (RADIUS + 2), y - dy * (RADIUS + 2)), edge="soft", arrow=True)
        _variable(c, below, y + BELOW, number, known is not None)
    _variable(c, x, y, top, known is not None)


def draw(c: Canvas) -> None:
    for i, (words, state) in enumerate(_panels()):
        x, y = 8 + (i % 2) * (PANEL_W + 12), 8 + (i // 2) * (PANEL_H + 12)
        c.box(x, y, PANEL_W, PANEL_H, edge="line", radius=10)
        c.text(x + 14, y + 25, f"{i}  {words}", size=14, bold=True)
        classes = state.classes()
        shares = [max(1, len(members) - 1) for members in classes]
        unit, at = (PANEL_W - 16) / sum(shares), x + 8.0
        for members, share in zip(classes, shares, strict=True):
            _tree(c, at + unit * share / 2, y + 86, members, state.known.get(members[0]))
            at += unit * share
    tensors = [number for members in before_solving().classes() for number in members]
    words = "   ".join(f"{variables()[n][0]} {owner(n)}" for n in sorted(tensors))
    c.text(10, HEIGHT - 44, words, size=13, mono=True)
    c.text(
        10, HEIGHT - 18, "An arrow leads to the root of the class. What the root knows, all know.", size=13
    )


FIGURE = Figure(
    "classes", WIDTH, HEIGHT, "Union-find: classes of type variables",
    """Four moments of one inference. At first there are three classes: the type of a with that of
    exp, that of tanh alone, that of add with the result. When tanh has run, its variable joins the
    class of a. When exp has run, that class is known to be (3, 4). When add has run, the result is
    too.""",
    draw,
)  # fmt: skip
