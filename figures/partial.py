"""Partial evaluation: the static calls, and the lines that each of them leaves; drawn from a recorded run
of the pass on the program of chapter 18.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph
from relay_explorer.text import parse
from relay_explorer.views.partial.format import PartialMark, PartialView
from relay_explorer.views.partial.view import partial_view

WIDTH, HEIGHT = 480, 366
LEFT, LINE, TOP = 286, 31, 82
HUES = ("hue-grey", "hue-blue", "hue-teal", "hue-orange", "hue-orange", "hue-orange")
PROGRAM = """
type Phrase { Word(Tensor[(1, 4), float32]), Pair(Phrase, Phrase) }
def @encode(%phrase: Phrase, %w: Tensor[(4, 8), float32]) -> Tensor[(1, 4), float32] {
  match (%phrase) {
    Word(%x) => { tanh(%x) },
    Pair(%left, %right) => {
      let %both = (@encode(%left, %w), @encode(%right, %w));
      tanh(nn.dense(concatenate(%both, axis=1), %w))
    },
  }
}
def @main(%not: Tensor[(1, 4), float32], %bad: Tensor[(1, 4), float32],
          %film: Tensor[(1, 4), float32], %w: Tensor[(4, 8), float32]) {
  @encode(Pair(Pair(Word(%not), Word(%bad)), Word(%film)), %w)
}
"""


class Run(NamedTuple):
    """Each call's argument and caller; each residual line's operator and the call that left it."""

    arguments: list[str]
    callers: list[int]
    lines: list[tuple[int, str]]


@cache
def run() -> Run:
    view: PartialView = partial_view(parse(PROGRAM))
    arguments = []
    for frame in view.frames:
        text = next((b.text for b in view.steps[frame.begins].bound), "")
        arguments.append(text if text.startswith("Word") else text.partition("(")[0])
    lines = []
    for step in view.steps:
        if step.mark != PartialMark.KEPT:
            continue
        text = view.rows[step.bound[0].row].text
        operator, _, args = text.partition(" = ")[2].rstrip(";").partition("(")
        words = operator.removeprefix("nn.")
        lines.append((step.frame, f"{words}({args}" if operator == "tanh" and "%x" not in args else words))
    return Run(arguments, [frame.caller for frame in view.frames], lines)


def draw(c: Canvas) -> None:
    record = run()
    c.box(7, 8, LEFT - 15, HEIGHT - 16, fill="panel", edge="edge")
    c.text((LEFT - 1) / 2, 32, "Static", size=15, bold=True, anchor="middle")
    c.text((LEFT - 1) / 2, 50, "calls and tree, at compile time", size=12.5, color="soft", anchor="middle")
    c.box(LEFT, 8, WIDTH - LEFT - 7, HEIGHT - 16, fill="panel", edge="edge")
    middle = (LEFT + WIDTH - 7) / 2
    c.text(middle, 32, "Residual program", size=15, bold=True, anchor="middle")
    c.text(middle, 50, "the lines that stay", size=12.5, color="soft", anchor="middle")
    calls = {}
    for number, hue in enumerate(HUES):
        label = f"@encode\n{record.arguments[number]}" if number else "@main\nthree words"
        mark = str(number) if number else ""
        calls[str(number)] = Box(label, hue, True, width=88, height=40, mark=mark, radius=9, bold=True)
    arrows = [
        Arrow(str(caller), str(n), edge="soft") for n, caller in enumerate(record.callers) if caller >= 0
    ]
    draw_graph(c, calls, arrows, (LEFT - 1) / 2, 64, apart=6, ranks_apart=38, centered=True)
    for row, (number, text) in enumerate(record.lines):
        y = TOP + LINE * row
        c.box(
            LEFT + 14, y - 13, WIDTH - LEFT - 36, 26, fill=f"{HUES[number]}-fill", edge=HUES[number], radius=6
        )
        _tag(c, LEFT + 33, y, number)
        c.text(LEFT + 54, y + 5, text, size=13.5, mono=True)


def _tag(c: Canvas, x: float, y: float, number: int) -> None:
    c.circle(x, y, 9, fill="paper", edge=HUES[number])
    c.text(x, y + 4.3, str(number), size=12, bold=True, anchor="middle")


FIGURE = Figure(
    "partial", WIDTH, HEIGHT, "Partial evaluation: static calls, and the lines that they leave",
    """Two panels. Static, at compile time: a tree of calls. main, for three words, calls encode on a Pair,
    number 1; that calls encode on a Pair, number 2, and on the Word film, number 5; number 2 calls encode on
    the Words not and bad, numbers 3 and 4. Residual program: nine lines, each with the number of the call
    that left it. Number 3: tanh of not. Number 4: tanh of bad. Number 2: concatenate, dense, tanh. Number 5:
    tanh of film. Number 1: concatenate, dense, tanh.""",
    draw,
)  # fmt: skip
