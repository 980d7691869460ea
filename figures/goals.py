"""Three demands as a Venn diagram: which systems meet which (the paper, sections 1 and 2)."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 560
RADIUS = 148
EXPRESSIVITY, COMPOSABILITY, PORTABILITY = (240, 164), (158, 318), (322, 318)


def _system(c: Canvas, x: float, y: float, name: str, *what: str) -> None:
    c.text(x, y, name, size=13, bold=True, anchor="middle")
    c.lines(x, y + 17, what, size=13, color="soft", anchor="middle")


def draw(c: Canvas) -> None:
    for (x, y), fill, edge in (
        (EXPRESSIVITY, "hue-blue-fill", "hue-blue"),
        (COMPOSABILITY, "hue-orange-fill", "hue-orange"),
        (PORTABILITY, "hue-purple-fill", "hue-purple"),
    ):
        c.circle(x, y, RADIUS, fill=fill, edge=edge, width=2, opacity=0.55)
    c.text(240, 48, "Expressivity", size=17, bold=True, color="hue-blue", anchor="middle")
    c.text(240, 67, "express any model", size=13, anchor="middle")
    _system(c, 240, 108, "define-by-run", "PyTorch, Chainer:", "all of Python")
    c.text(86, 304, "Composability", size=17, bold=True, color="hue-orange", anchor="middle")
    c.lines(86, 324, ("add a technique,", "keep the others"), size=13, anchor="middle")
    c.text(394, 304, "Portability", size=17, bold=True, color="hue-purple", anchor="middle")
    c.lines(394, 324, ("add a chip,", "keep the rest"), size=13, anchor="middle")
    _system(c, 388, 374, "tensor compilers", "operators only,", "not models")
    _system(c, 240, 346, "define-and-run", "TensorFlow 1,", "Theano: both", "in part")
    c.box(192, 232, 96, 52, fill="known-bg", edge="known", width=2)
    c.text(240, 255, "Relay", size=17, bold=True, color="known", anchor="middle")
    c.text(240, 273, "the aim", size=13, color="known", anchor="middle")
    c.lines(
        240, 500,
        ("The whole program is known ahead of time, as in define-and-run.",
         "Control flow and functions are in it, as in define-by-run.",
         "The aim: one set of passes, for every model and every chip."),
        size=13, anchor="middle",
    )  # fmt: skip


FIGURE = Figure(
    "goals", WIDTH, HEIGHT, "Expressivity, composability, portability",
    """Three circles that overlap. Define-by-run frameworks such as PyTorch stand in expressivity alone.
    Define-and-run frameworks such as TensorFlow 1 stand where composability and portability overlap,
    and reach both in part. Tensor compilers stand in portability alone: they compile an operator, not a
    model. Relay aims at the middle, where all three overlap.""",
    draw,
)  # fmt: skip
