"""The three forms of a program: text and Python calls lead to the objects, and printing leads back."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 372
TEXT = ("fn (%a: float32) {", "  %0 = exp(%a);", "  add(%0, %0)", "}")
CALLS = ('a = relay.var("a", …)', "p = relay.exp(a)", "relay.Function(", "    [a], p + p)")


def _written(c: Canvas, x: float, name: str, lines: tuple[str, ...], hue: str) -> None:
    c.box(x, 10, 222, 126, fill=f"{hue}-fill", edge=hue)
    c.text(x + 14, 34, name, size=15, bold=True, colour=hue)
    for i, line in enumerate(lines):
        c.text(x + 14, 60 + 20 * i, line, size=13, mono=True)


def _node(c: Canvas, x: float, y: float, kind: str, what: str) -> None:
    c.box(x - 62, y - 19, 124, 38, fill="paper", edge="known")
    c.text(x, y - 2, kind, size=12, colour="soft", anchor="middle")
    c.text(x, y + 13, what, size=13, mono=True, anchor="middle")


def draw(c: Canvas) -> None:
    _written(c, 8, "Text", TEXT, "hue-blue")
    _written(c, 250, "Python calls", CALLS, "hue-orange")
    c.box(8, 206, 464, 158, fill="known-bg", edge="known", width=2)
    c.text(22, 231, "Objects in memory", size=15, bold=True, colour="known")
    c.line((90, 140), (90, 202), edge="ink", arrow=True)
    c.text(80, 176, "parse", size=14, anchor="end")
    c.line((150, 202), (150, 140), edge="ink", arrow=True)
    c.text(160, 176, "print", size=14)
    c.line((361, 140), (361, 202), edge="ink", arrow=True)
    c.text(371, 176, "build", size=14)
    _node(c, 82, 312, "Function", "[a], …")
    _node(c, 232, 312, "Call", "add")
    _node(c, 402, 312, "Call", "exp")
    _node(c, 402, 238, "Var", "a")
    c.line((144, 312), (168, 312), edge="known", arrow=True)
    for bend, tilt in ((-14, 0.5), (14, -0.5)):
        y = 312 + bend / 2
        c.path(f"M294 {y:g}Q316 {y + bend:g} 334 {y:g}", edge="known")
        c.head(338, y - bend / 7, tilt, "known")
    c.line((402, 293), (402, 259), edge="known", arrow=True)
    c.text(316, 350, "one exp, two uses", size=13, colour="soft", anchor="middle")


FIGURE = Figure(
    "forms", WIDTH, HEIGHT, "Three forms of a program",
    """Text and Python calls, side by side, describe one small program: exp of a, added to itself.
    Parsing the text and running the Python calls both lead to objects in memory: a function, whose body
    is a call of add, both of whose arguments are one and the same call of exp, whose argument is the
    variable a. Printing leads from the objects back to the text.""",
    draw,
)  # fmt: skip
