"""The three answers of a type relation, as the relation of `add` gives them."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.directions import answers
from relay_explorer.ir.op import RelationError

WIDTH, HEIGHT = 480, 372
ROW = 124
Shape = tuple[int, ...] | None
CASES: tuple[tuple[Shape, ...], ...] = (((2, 3), (3,), None), ((2, 3), None, None), ((2, 3), (4,), None))


def text(shape: Shape) -> str:
    if shape is None:
        return "α"
    return f"({', '.join(map(str, shape))})"


def verdict(shapes: tuple[Shape, ...]) -> tuple[str, str, str]:
    """Run the relation; return the answer, its tone, and the type of the result or a remark about it."""
    try:
        *_, (result, solved) = answers("add", shapes, {})
    except RelationError:
        return "cannot hold", "bad", "3 and 4 disagree"
    return ("solved", "known", result) if solved else ("too early", "partial", "ask again later")


def _type(c: Canvas, x: float, y: float, shape: Shape) -> None:
    tone = "unknown" if shape is None else "known"
    c.box(x, y - 17, 84, 34, fill=f"{tone}-bg", edge=tone, radius=17, dashed=shape is None)
    c.text(x + 42, y + 5, text(shape), size=14, mono=True, anchor="middle", color=tone)


def draw(c: Canvas) -> None:
    for i, shapes in enumerate(CASES):
        y = 66 + ROW * i
        answer, tone, result = verdict(shapes)
        c.text(
            8,
            y - 44,
            ("both types are known", "one type is known", "two types that do not fit")[i],
            size=14,
            color="soft",
        )
        for shape, at in zip(shapes, (y - 20, y + 20), strict=False):
            _type(c, 8, at, shape)
            c.curve((94, at), (142, y), edge="edge")
        c.head(148, y, 0, "edge")
        c.box(150, y - 18, 70, 36, fill="queued-bg", edge="queued", radius=5)
        c.text(185, y + 5, "add", size=14, mono=True, anchor="middle", color="queued")
        c.line((222, y), (254, y), edge=tone, arrow=True)
        c.box(258, y - 32, 214, 64, fill=f"{tone}-bg", edge=tone)
        c.text(365, y - 7, answer, size=15, bold=True, anchor="middle", color=tone)
        words = f"the result is {result}" if answer == "solved" else result
        c.text(365, y + 17, words, size=13.5, anchor="middle")
        if i:
            c.line((8, y - 62), (472, y - 62), edge="line")


FIGURE = Figure(
    "three_answers", WIDTH, HEIGHT, "The three answers of a type relation",
    """The relation of add, run three times. With the shapes (2, 3) and (3) it is solved: the result is
    (2, 3). With (2, 3) and a type variable it is too early, and has to be asked again later.
    With (2, 3) and (4) it cannot hold, since 3 and 4 disagree.""",
    draw,
)  # fmt: skip
