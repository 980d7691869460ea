"""A loop of TensorFlow 1, a cycle of special nodes, and the recursive function that it becomes."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 492
TALL = 32
HUES = {1: "hue-blue", 2: "hue-purple", 3: "hue-orange", 4: "hue-teal"}
# Each node: its center, width, name, and the number of the part of the function that it becomes.
NODES = {
    "start": (100, 22, 76, "start", 0),
    "enter": (100, 72, 96, "Enter", 1),
    "merge": (100, 122, 96, "Merge", 1),
    "less": (270, 122, 96, "Less", 0),
    "cond": (270, 172, 110, "LoopCond", 2),
    "switch": (100, 192, 96, "Switch", 2),
    "mul": (206, 248, 80, "Mul", 0),
    "next": (390, 248, 136, "NextIteration", 3),
    "exit": (58, 248, 80, "Exit", 4),
}
FUNCTION = (
    ("let %loop = fn (%x: float32) {", 1),
    ("  if (%x < 100f) {", 2),
    ("    %loop(%x * 2f)", 3),
    ("  } else {", 0),
    ("    %x", 4),
    ("  }", 0),
    ("};", 0),
    ("%loop(%start)", 1),
)


def _mark(c: Canvas, x: float, y: float, number: int) -> None:
    c.circle(x, y, 9.5, fill="paper", edge=HUES[number], width=2)
    c.text(x, y + 4.6, str(number), size=13, bold=True, anchor="middle")


def _vertical(c: Canvas, start: str, end: str) -> None:
    (x0, y0, *_), (x1, y1, *_) = NODES[start], NODES[end]
    c.line((x0, y0 + TALL / 2), (x1, y1 - TALL / 2 - 1), edge="soft", arrow=True)


def draw(c: Canvas) -> None:
    for start, end in (("start", "enter"), ("enter", "merge"), ("merge", "switch"), ("less", "cond")):
        _vertical(c, start, end)
    c.line((148, 122), (221, 122), edge="soft", arrow=True)  # Merge to Less
    c.line((215, 176), (184, 176), (149, 190), edge="soft", arrow=True)  # LoopCond to Switch
    c.line((124, 208), (190, 231), edge="soft", arrow=True)  # true
    c.line((82, 208), (64, 231), edge="soft", arrow=True)  # false
    c.text(172, 216, "true", size=13, color="soft")
    c.text(66, 220, "false", size=13, color="soft", anchor="end")
    c.line((246, 248), (321, 248), edge="soft", arrow=True)  # Mul to NextIteration
    # The edge that closes the cycle.
    c.line((390, 232), (390, 86), (168, 86), (149, 111), edge="hue-orange", width=2, arrow=True)
    c.text(384, 79, "back to Merge", size=13, color="soft", anchor="end")
    for x, y, wide, name, number in NODES.values():
        hue = HUES.get(number, "")
        c.box(
            x - wide / 2, y - TALL / 2, wide, TALL, fill=f"{hue}-fill" if hue else "panel", edge=hue or "edge"
        )
        c.text(x, y + 5, name, size=13.5, mono=True, anchor="middle")
        if number:
            _mark(c, x - wide / 2, y - TALL / 2 + 1, number)
    c.text(326, 127, "< 100", size=13, mono=True, color="soft")
    c.text(206, 281, "× 2", size=13, mono=True, color="soft", anchor="middle")
    c.box(12, 300, 456, 184, fill="panel", edge="edge")
    for row, (line, number) in enumerate(FUNCTION):
        baseline = 325 + row * 20.5
        c.text(46, baseline, line, size=13.5, mono=True)
        if number:
            _mark(c, 30, baseline - 4.5, number)
    notes = (("the parameter", 0), ("the condition", 1), ("the recursive call", 2), ("the result", 4))
    for note, row in notes:
        c.text(456, 325 + row * 20.5, note, size=13, color="soft", anchor="end")
    c.text(456, 325 + 7 * 20.5, "the first argument", size=13, color="soft", anchor="end")


FIGURE = Figure(
    "dataflow_loop", WIDTH, HEIGHT, "A dataflow loop, and the function that it becomes",
    """Above, a graph with a cycle. The start value goes through Enter to Merge. Merge leads to Less, which
    compares with 100, and to Switch; Less leads to LoopCond, which leads to Switch. If the condition is true,
    Switch leads to Mul, which multiplies by 2, and NextIteration, from which an arrow leads back to Merge. If
    it is false, Switch leads to Exit. Below, the function: its parameter x comes from Merge, the first
    argument from Enter, the condition of its if from LoopCond, the recursive call from NextIteration, and the
    result of the other branch, x, from Exit.""",
    draw,
)  # fmt: skip
