"""The four parts of a type error: the message of the compiler itself, taken apart."""

from __future__ import annotations

import re
import textwrap

from figures.canvas import Canvas, Figure
from relay_explorer import relay

WIDTH, HEIGHT = 480, 464
COLUMNS = 52
PROGRAM = """
def @main(%x: Tensor[(1, 784), float32],
          %w1: Tensor[(784, 256), float32], %b1: Tensor[(256), float32],
          %w2: Tensor[(256, 10), float32], %b2: Tensor[(10), float32]) {
  %0 = nn.dense(%x, %w1);
  %1 = add(%0, %b1);
  %2 = nn.relu(%1);
  %3 = nn.dense(%2, %w2);
  add(%3, %b2)
}
"""


def message() -> list[str]:
    """Return the compiler's message for PROGRAM, line by line."""
    try:
        relay.transform.InferType()(relay.parse(PROGRAM, "course.relay"))
    except relay.RelayError as error:
        return str(error).split("\n")
    raise AssertionError("the program is well typed")


def parts() -> tuple[tuple[str, list[str]], ...]:
    """Return the title and the lines of each part of the message."""
    lines = message()
    head = re.fullmatch(r"(\S+): error: (.*)", lines[0])
    assert head
    notes = [
        part
        for line in lines
        if ": note: " in line
        for part in textwrap.wrap(line.removeprefix("course.relay:"), COLUMNS, subsequent_indent="      ")
    ]
    (remedy,) = (line for line in lines if line.startswith("help: "))
    return (
        ("Where: the location, and the source line", [head[1], *(line[7:] for line in lines[1:3])]),
        ("What disagrees", textwrap.wrap(head[2], COLUMNS)),
        ("Where each side came from", notes),
        ("What to try", textwrap.wrap(remedy, COLUMNS)),
    )


def draw(c: Canvas) -> None:
    y = 8.0
    for number, (title, lines) in enumerate(parts(), 1):
        h = 46 + 21 * len(lines)
        c.box(8, y, 464, h, fill="panel", edge="line", radius=10)
        c.circle(30, y + 23, 12, fill="accent", edge="accent")
        c.text(30, y + 28, str(number), size=13.5, color="accent-ink", anchor="middle", bold=True)
        c.text(50, y + 28, title, size=14.5, bold=True)
        for i, line in enumerate(lines):
            tone = "bad" if set(line) <= set(" ^") else "ink"
            c.text(20, y + 54 + 21 * i, line, size=13, mono=True, color=tone)
        y += h + 12


FIGURE = Figure(
    "error_anatomy", WIDTH, HEIGHT, "The four parts of a type error",
    """The message for the wrong weight, in four boxes. First the location, course.relay line 5 column 8, with
    the source line and carets under the expression. Second what disagrees: the data has 784 features, but the
    weight takes 256. Third where each side came from: the annotation of x in line 2 and that of w1 in line 3.
    Fourth what to try: dense's weight is units by input features, so pass the transposed weight.""",
    draw,
)  # fmt: skip
