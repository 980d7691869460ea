"""The result types of a function with a type parameter, and of one with `?` in its type."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 300
BOX = 34


def _size(c: Canvas, x: float, y: float, words: str, tone: str) -> None:
    c.box(x, y - BOX / 2, 64, BOX, fill=f"{tone}-bg", edge=tone, radius=BOX / 2, dashed=tone != "known")
    c.text(x + 32, y + 5, words, size=14.5, mono=True, anchor="middle", color=tone)


def _function(c: Canvas, top: float, type_: str, note: str, results: tuple[str, str]) -> None:
    c.text(8, top, type_, size=13.5, mono=True)
    c.box(166, top + 18, 148, 88, fill="queued-bg", edge="queued")
    c.lines(240, top + 57, note.split("\n"), size=13.5, anchor="middle", color="queued")
    for i, (size, result) in enumerate(zip(("(2)", "(3)"), results, strict=True)):
        y = top + 40 + 44 * i
        _size(c, 50, y, size, "known")
        c.line((118, y), (162, y), edge="edge", arrow=True)
        c.line((316, y), (360, y), edge="edge", arrow=True)
        _size(c, 364, y, result, "partial" if result == "(?)" else "known")


def draw(c: Canvas) -> None:
    _function(c, 22, "fn [A](A) -> A", "the parameter\nconnects", ("(2)", "(3)"))
    c.line((8, 146), (472, 146), edge="line")
    _function(c, 174, "fn (Tensor[(?)]) -> Tensor[(?)]", "the `?`\nforgets", ("(?)", "(?)"))


FIGURE = Figure(
    "connects_forgets", WIDTH, HEIGHT, "A type parameter connects, a question mark forgets",
    """Two functions. Into the first, from A to A, go tensors of shape (2) and (3), and the caller gets back
    shapes (2) and (3). Into the second, from a tensor of shape question mark to a tensor of shape question
    mark, go the same two, and both results have the shape question mark.""",
    draw,
)  # fmt: skip
