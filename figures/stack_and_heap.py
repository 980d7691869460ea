"""Stack and heap while a sentence of two words is read: registers refer to reference-counted values."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 300
LEFT, WIDE = 12, 138
FRAMES = (("@main", ("r0",)), ("@encode", ("r0", "r5", "r6")), ("@encode", ("r0",)))
VALUES = {"pair": (68.0, "Pair", 2), "not": (152.0, "Word “not”", 3), "bad": (236.0, "Word “bad”", 2)}
# The frame and the register, and the value it refers to.
REFERENCES = ((0, 0, "pair"), (1, 0, "pair"), (1, 1, "not"), (1, 2, "bad"), (2, 0, "not"))
HEAP = 280


def draw(c: Canvas) -> None:
    c.text(LEFT, 20, "stack: frames", size=14, bold=True)
    c.text(HEAP, 20, "heap: values", size=14, bold=True)
    y, places = 34.0, {}
    for number, (name, registers) in enumerate(FRAMES):
        tall = 28 + 26 * len(registers)
        runs = number == len(FRAMES) - 1
        c.box(LEFT, y, WIDE, tall, fill="panel", edge="hue-orange" if runs else "edge", radius=6)
        c.text(LEFT + 12, y + 19, name, size=13.5, mono=True, bold=runs)
        c.text(LEFT + WIDE - 10, y + 19, "runs" if runs else "waits", size=13, anchor="end", color="soft")
        for row, register in enumerate(registers):
            at = y + 28 + 26 * row
            c.box(LEFT + WIDE - 52, at, 42, 21, fill="paper", edge="edge", width=1.2, radius=4)
            c.text(LEFT + WIDE - 31, at + 15, register, size=13, mono=True, anchor="middle")
            places[number, row] = (LEFT + WIDE - 10.0, at + 10.5)
        y += tall + 10
    arrivals: dict[str, int] = {}
    for frame, row, value in REFERENCES:
        place = arrivals[value] = arrivals.get(value, 0) + 1
        end = (HEAP - 2, VALUES[value][0] - 16 + 12 * place)
        c.line(places[frame, row], end, edge="hue-orange", width=1.4, arrow=True)
    for top, name, count in VALUES.values():
        c.box(HEAP, top - 22, 116, 44, fill="hue-blue-fill", edge="hue-blue", radius=6)
        c.text(HEAP + 10, top + 5, name, size=13.5)
        c.circle(HEAP + 116, top - 22, 12, fill="paper", edge="hue-blue")
        c.text(HEAP + 116, top - 17, str(count), size=14, bold=True, anchor="middle")
    c.line((HEAP + 58, 90), (HEAP + 58, 129), edge="hue-blue", arrow=True)
    c.line((HEAP + 116, 76), (HEAP + 150, 76), (HEAP + 150, 236), (HEAP + 118, 236), edge="hue-blue",
           arrow=True)  # fmt: skip
    c.circle(HEAP + 10, 282, 9, fill="paper", edge="hue-blue")
    c.text(HEAP + 26, 287, "reference count", size=13)


FIGURE = Figure(
    "stack_and_heap", WIDTH, HEIGHT, "Stack and heap",
    """On the left the stack with three frames: @main with register r0, @encode with r0, r5 and r6, both
    waiting, and @encode with r0, running. On the right three values on the heap with their reference counts:
    a Pair, to which r0 of the first two frames refers, count 2; the Word not, to which the Pair, r5 and r0 of
    the last frame refer, count 3; and the Word bad, to which the Pair and r6 refer, count 2.""",
    draw,
)  # fmt: skip
