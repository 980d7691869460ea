"""Frames on the virtual machine's stack: a list read by tail calls, a sentence by recursive ones."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 318
FRAMES = (
    ("@main", "waits for the sentence", False),
    ("@encode", "((not bad) (a film)): waits at 5", False),
    ("@encode", "(not bad): waits at 5", False),
    ("@encode", "not: runs", True),
)


def draw(c: Canvas) -> None:
    c.text(10, 20, "a list: each call is the last step", size=14, bold=True)
    words = ("not", "a", "bad", "film")
    for number, word in enumerate(words):
        x = 12 + 117 * number
        c.box(x, 34, 98, 46, fill="hue-blue-fill", edge="hue-blue", radius=6, dashed=number < 3)
        c.text(x + 49, 53, "@read", size=13.5, mono=True, anchor="middle")
        c.text(x + 49, 71, word, size=13.5, anchor="middle")
        if number:
            c.line((x - 18, 57), (x - 2, 57), edge="hue-blue", arrow=True)
    c.text(10, 102, "One frame. Each tail call reuses it (dashed: earlier calls).", size=13,
           color="soft")  # fmt: skip
    c.text(10, 140, "a sentence: two of the calls must return", size=14, bold=True)
    for number, (name, what, runs) in enumerate(FRAMES):
        y = 264 - 38 * number
        c.box(12, y, 330, 32, fill="hue-orange-fill" if runs else "panel",
              edge="hue-orange" if runs else "edge", radius=6)  # fmt: skip
        c.text(24, y + 21, name, size=13.5, mono=True, bold=runs)
        c.text(100, y + 21, what, size=13.5, bold=runs)
    c.line((366, 294), (366, 154), edge="soft", arrow=True)
    c.lines(378, 216, ("the stack", "grows with", "each call"), size=13, color="soft")


FIGURE = Figure(
    "call_frames", WIDTH, HEIGHT, "Frames of tail calls and of calls that return",
    """Above, a list of four words: @read is called for not, a, bad and film by tail calls, and each call
    reuses the single frame of the one before. Below, the stack while the sentence ((not bad) (a film)) is
    read, from the bottom up: @main waits for the sentence, @encode of the whole sentence waits at
    instruction 5, @encode of (not bad) waits at instruction 5, and @encode of the word not runs.""",
    draw,
)  # fmt: skip
