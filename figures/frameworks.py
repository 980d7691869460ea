"""Frameworks of 2019 against Relay: a model in three languages, and the same model in one."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 462
LEFT = (
    ("Python", "loops, `if`, recursion", "the host language runs it", "hue-blue"),
    ("graph", "calls of operators", "what the optimizer sees", "hue-orange"),
    ("C++, CUDA", "one kernel for each", "operator × type × chip", "hue-purple"),
)
RIGHT = ("loops, `if`, recursion", "functions, data", "calls of operators", "types with shapes")


def draw(c: Canvas) -> None:
    c.text(118, 24, "A framework", size=17, bold=True, anchor="middle")
    c.text(362, 24, "Relay", size=17, bold=True, anchor="middle")
    y = 40.0
    for i, (name, what, more, hue) in enumerate(LEFT):
        c.box(10, y, 216, 84, fill=f"{hue}-fill", edge=hue)
        c.text(24, y + 26, name, size=15, bold=True, color=hue)
        c.text(24, y + 48, what, size=13)
        c.text(24, y + 68, more, size=13, color="soft")
        if i < 2:
            c.line((118, y + 87), (118, y + 106), edge="soft", arrow=True)
        y += 110
    c.box(254, 40, 216, 194, fill="known-bg", edge="known", width=2)
    c.text(268, 66, "one program", size=15, bold=True, color="known")
    c.lines(268, 94, RIGHT, size=13.5, leading=1.7)
    c.text(268, 219, "every pass sees all of it", size=13, color="soft")
    c.line((362, 237), (362, 256), edge="soft", arrow=True)
    c.box(254, 260, 216, 84, fill="hue-purple-fill", edge="hue-purple")
    c.text(268, 286, "TVM", size=15, bold=True, color="hue-purple")
    c.text(268, 308, "generates kernels", size=13)
    c.text(268, 328, "for each type and chip", size=13, color="soft")
    c.lines(
        10,
        386,
        (
            "Three languages, two boundaries.",
            "An optimization that crosses",
            "one has to be written",
            "again on each side.",
        ),
        size=13,
    )
    c.lines(
        254,
        386,
        ("One language.", "An optimization is a function", "from program to program,", "written once."),
        size=13,
    )


FIGURE = Figure(
    "frameworks", WIDTH, HEIGHT, "A framework against Relay",
    """Left, a framework keeps a model in three languages: Python has the loops, conditions and recursion;
    a graph has the calls of operators and is what an optimizer sees; C++ and CUDA have one kernel for
    each operator, type and chip. Right, Relay has loops, conditions, recursion, functions, data, calls
    of operators and types in one program, all of it seen by every pass; TVM generates kernels for the
    type and the chip.""",
    draw,
)  # fmt: skip
