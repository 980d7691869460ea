"""Three implementations of the same loop, as timelines: what happens once, and what for each input."""

from __future__ import annotations

from collections.abc import Sequence

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 478
ONCE, FIRST, SECOND, END = 10, 226, 350, 470
Bar = tuple[float, float, str, str]  # from, to, words, color


def _lane(c: Canvas, y: float, name: str, who: str, bars: Sequence[Bar], notes: Sequence[str]) -> None:
    c.text(ONCE, y, name, size=16, bold=True)
    c.text(END, y, who, size=13, color="soft", anchor="end")
    for x in (FIRST - 7, SECOND - 7):
        c.line((x, y + 9), (x, y + 53), edge="edge", width=1, dashed=True)
    for x0, x1, words, hue in bars:
        c.box(x0, y + 14, x1 - x0 - 4, 34, fill=f"{hue}-fill", edge=hue, radius=6)
        c.text((x0 + x1 - 4) / 2, y + 36, words, size=13, anchor="middle")
    c.lines(ONCE, y + 70, notes, size=13, color="soft")


def draw(c: Canvas) -> None:
    for x, words in ((ONCE, "before any input"), (FIRST, "first input"), (SECOND, "second input")):
        c.text(x, 20, words, size=13, bold=True, color="soft")
    _lane(
        c, 58, "Define-and-run", "TensorFlow 1, Theano",
        [(ONCE, 118, "build graph", "hue-blue"), (118, FIRST - 10, "optimize", "hue-orange"),
         (FIRST, SECOND - 10, "run", "hue-teal"), (SECOND, END, "run", "hue-teal")],
        ("A loop needs a special node: the graph contains its", "own `while`. Running needs no Python."),
    )  # fmt: skip
    steps = [
        (x + i * 23, x + i * 23 + 25, op, "hue-teal") for x in (FIRST, SECOND) for i, op in enumerate("<×<×<")
    ]
    _lane(
        c, 198, "Define-by-run", "PyTorch, Chainer", steps,
        ("Python's own `while` decides each step. Each run",
         "leaves a trace of what happened; the loop, and the",
         "branch not taken, are in no trace."),
    )  # fmt: skip
    _lane(
        c, 356, "Relay", "this book",
        [(ONCE, 56, "parse", "hue-blue"), (56, 100, "types", "hue-olive"),
         (100, 154, "passes", "hue-orange"), (154, FIRST - 8, "compile", "hue-purple"),
         (FIRST, SECOND - 10, "run", "hue-teal"), (SECOND, END, "run", "hue-teal")],
        ("The loop is a function that calls itself: ordinary",
         "program text, known completely before any input.",
         "The compiler sees both branches."),
    )  # fmt: skip


FIGURE = Figure(
    "three_ways", WIDTH, HEIGHT, "Define-and-run, define-by-run, Relay",
    """Three time lines with the columns before any input, first input, second input. Define-and-run builds
    and optimizes a graph before any input, then runs it for each. Define-by-run does nothing
    beforehand; at each input Python carries out one operator after the other. Relay parses a program,
    infers its types, rewrites it by passes and compiles it before any input, and then runs it for each.""",
    draw,
)  # fmt: skip
