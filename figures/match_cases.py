"""Which clause of a match handles which lists, and the case that no clause handles."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 250
ROWS = (
    ("no element", "Nil", "Nil => 0", True),
    ("one element", "Cons(_, Nil)", "no clause", False),
    ("two or more", "Cons(_, Cons(_, _))", "Cons(_, Cons(%x, _)) => %x", True),
)


def draw(c: Canvas) -> None:
    c.text(8, 24, "Values of type `List`", size=15, bold=True)
    c.text(214, 24, "Clauses of `@second`", size=15, bold=True)
    for index, (words, form, clause, covered) in enumerate(ROWS):
        y = 40 + 70 * index
        c.box(8, y, 172, 56, fill="hue-purple-fill", edge="hue-purple")
        c.text(94, y + 23, words, size=14, anchor="middle")
        c.text(94, y + 44, form, size=13, mono=True, anchor="middle")
        if covered:
            c.line((180, y + 28), (212, y + 28), edge="known", width=2, arrow=True)
            c.box(214, y + 9, 258, 38, fill="known-bg", edge="known")
            c.text(343, y + 33, clause, size=13.5, mono=True, anchor="middle")
        else:
            c.line((180, y + 28), (212, y + 28), edge="bad", width=2, dashed=True)
            c.box(214, y + 9, 258, 38, fill="none", edge="bad", dashed=True)
            c.text(343, y + 33, "no clause: the compiler reports it", size=14, anchor="middle",
                   color="bad")  # fmt: skip


FIGURE = Figure(
    "match_cases", WIDTH, HEIGHT, "The cases of a match",
    """Three forms of a list, and the clauses that handle them. A list without elements, Nil, is handled
    by the clause Nil. A list of two or more elements is handled by the clause with nested Cons. A list
    of exactly one element, Cons of anything and Nil, is handled by no clause, which the compiler
    reports.""",
    draw,
)  # fmt: skip
