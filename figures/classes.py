"""Union-find: the classes of type variables as trees, before and after each relation."""

from __future__ import annotations

from collections.abc import Iterator

from figures.canvas import Canvas, Figure
from figures.record import Moment, before_solving, moments, shape
from relay_explorer.typing.events import Ended

WIDTH, HEIGHT = 480, 496
PANEL_W, PANEL_H = 226, 200


def _panels() -> Iterator[tuple[str, Moment]]:
    yield "all relations queued", before_solving()
    for event, state in moments():
        if isinstance(event, Ended) and event.done:
            yield f"`{event.relation.call.op.name}` has run", _copy(state)  # type: ignore[attr-defined]


def _copy(state: Moment) -> Moment:
    """The state as it is now; the types in it are shared."""
    return Moment(dict(state.parent), dict(state.known), dict(state.whose), list(state.relations))


def _variable(c: Canvas, x: float, y: float, state: Moment, number: int, known: bool) -> None:
    c.circle(x, y, 15, fill="known-bg" if known else "none", edge="known" if known else "unknown")
    c.text(x, y + 5, state.letters()[number], size=15, anchor="middle", colour="known" if known else "ink")


def _tree(c: Canvas, x: float, y: float, state: Moment, members: list[int]) -> None:
    top, *rest = members
    known = state.known.get(top)
    if known is not None:
        c.text(x, y - 22, shape(known), size=12.5, mono=True, anchor="middle", colour="known")
    for i, number in enumerate(rest):
        cx = x + (i - (len(rest) - 1) / 2) * 42
        dx, dy = x - cx, -62
        length = (dx * dx + dy * dy) ** 0.5
        c.line(
            (cx + dx / length * 16, y + 62 + dy / length * 16), (x - dx / length * 17, y - dy / length * 17),
            edge="soft", arrow=True,
        )  # fmt: skip
        _variable(c, cx, y + 62, state, number, known is not None)
    _variable(c, x, y, state, top, known is not None)


def draw(c: Canvas) -> None:
    panels = list(_panels())
    for i, (words, state) in enumerate(panels):
        x, y = 8 + (i % 2) * (PANEL_W + 12), 8 + (i // 2) * (PANEL_H + 12)
        c.box(x, y, PANEL_W, PANEL_H, edge="line", radius=10)
        c.text(x + 14, y + 25, f"{i}  {words}", size=14, bold=True)
        classes = state.classes()
        weights = [max(1, len(m) - 1) for m in classes]
        at = x + 8.0
        unit = (PANEL_W - 16) / sum(weights)
        for members, weight in zip(classes, weights, strict=True):
            _tree(c, at + unit * weight / 2, y + 86, state, members)
            at += unit * weight
    last = panels[-1][1]
    names = [f"{letter} {last.name(n)}" for n, letter in last.letters().items()]
    c.text(10, HEIGHT - 44, "   ".join(names), size=13.5, mono=True)
    c.text(
        10, HEIGHT - 18, "An arrow leads to the root of the class. What the root knows, all know.", size=13
    )


FIGURE = Figure(
    "classes", WIDTH, HEIGHT, "Union-find: classes of type variables",
    """Four moments of one inference. At first there are three classes: the type of a with that of exp,
    that of tanh alone, that of add with the result. When tanh has run, its variable joins the class of
    a. When exp has run, that class is known to be (3, 4). When add has run, the result is too.""",
    draw,
)  # fmt: skip
