"""A Relay function with the names of its parts."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 312
LEFT, SIZE = 16, 14
ADVANCE = 8.43  # of a character of the monospaced font at this size, in the widest of the usual fonts
TEXT = (
    "def @main(%x: Tensor[(1, 4), float32]) {",
    "  %0 = nn.relu(%x);",
    "  nn.softmax(%0, axis=1)",
    "}",
)
ROWS = (72, 170, 252, 288)  # baselines


def _characters(c: Canvas, row: int) -> None:
    """Write a line character by character, so that a part is where the labels expect it in every font."""
    for column, character in enumerate(TEXT[row]):
        if character != " ":
            x = LEFT + (column + 0.5) * ADVANCE
            c.text(x, ROWS[row], character, size=SIZE, anchor="middle", mono=True)


def _label(c: Canvas, row: int, part: str, *lines: str, above: bool = True, shift: float = 0) -> None:
    """Underline a part of a line, and write what it is above or below."""
    start = TEXT[row].index(part)
    x0, x1 = LEFT + start * ADVANCE, LEFT + (start + len(part)) * ADVANCE
    y = ROWS[row] - 16 if above else ROWS[row] + 6
    c.line((x0 + 1, y), (x1 - 1, y), edge="hue-orange", width=2)
    middle = (x0 + x1) / 2
    end = y - 8 if above else y + 8
    c.line((middle, y), (middle, end), edge="hue-orange")
    first = end - 5 - 16 * (len(lines) - 1) if above else end + 13
    for i, line in enumerate(lines):
        c.text(middle + shift, first + 16 * i, line, size=13, anchor="middle", color="hue-orange")


def draw(c: Canvas) -> None:
    c.box(6, 6, 468, 300, fill="none", edge="edge", radius=10)
    for row in range(len(TEXT)):
        _characters(c, row)
    _label(c, 0, "@main", "global name", shift=6)
    _label(c, 0, "%x", "local name", above=False)
    _label(c, 0, "Tensor[(1, 4), float32]", "the type of `%x`:", "shape and data type")
    _label(c, 1, "%0", "a name for an", "intermediate result", above=False, shift=46)
    _label(c, 1, "nn.relu", "operator")
    _label(c, 1, "(%x)", "argument", shift=26)
    _label(c, 2, "axis=1", "attribute", above=True, shift=8)
    c.text(LEFT + 24.5 * ADVANCE, ROWS[2], "←", size=16, color="hue-orange")
    c.text(LEFT + 27 * ADVANCE, ROWS[2], "no name: the function's result", size=13, color="hue-orange")


FIGURE = Figure(
    "program_anatomy", WIDTH, HEIGHT, "The parts of a Relay function",
    """A function of four lines with labels. In def @main(%x: Tensor[(1, 4), float32]), @main is a global
    name, %x a local name, and what follows the colon is its type: shape and data type. In %0 = nn.relu(%x),
    %0 is a name for an intermediate result, nn.relu an operator and %x its argument. In
    nn.softmax(%0, axis=1), axis=1 is an attribute, and the line has no name, because it is the
    function's result.""",
    draw,
)  # fmt: skip
