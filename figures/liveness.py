"""Dead-code elimination: marks spread from the result along uses; counting uses is not enough."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 372
ROWS = (
    ("let %a = nn.dense(%x, %w) * 0.125f;", True),
    ("let %norm = sqrt(sum(%a * %a));", False),
    ("let %b = tanh(%a);", True),
    ("%a + %b", True),
)
TOP, STEP = 50, 42


def _mark(c: Canvas, x: float, y: float, live: bool) -> None:
    words = "live" if live else "dead"
    hue = "known" if live else "bad"
    c.box(x, y - 17, 50, 26, fill=f"{hue}-bg", edge=hue, dashed=not live)
    c.text(x + 25, y + 1, words, size=13, bold=True, anchor="middle", color=hue)


def draw(c: Canvas) -> None:
    c.text(8, 22, "Mark from the result", size=14.5, bold=True)
    c.box(8, 30, 464, 4 * STEP + 6, fill="panel", edge="edge")
    for number, (line, live) in enumerate(ROWS):
        y = TOP + STEP * number + 6
        c.text(20, y, line, size=13.5, mono=True, color="ink" if live else "soft")
        _mark(c, 330, y, live)
    a, b, result = (TOP + STEP * n for n in (0, 2, 3))
    c.path(f"M384 {result + 4}C404 {result + 2} 404 {b + 8} 388 {b + 6}", edge="known")
    c.head(386, b + 5, 3.5, "known")
    c.path(f"M384 {result + 8}C452 {result - 20} 452 {a + 30} 390 {a + 4}", edge="known")
    c.head(386, a + 2, 3.6, "known")
    c.path(f"M384 {b - 1}C414 {b - 20} 414 {a + 40} 390 {a + 10}", edge="known")
    c.head(386, a + 7, 3.9, "known")
    c.text(8, 246, "Do not count uses", size=14.5, bold=True)
    c.box(8, 254, 464, 84, fill="panel", edge="edge")
    c.text(20, 282, "let %f = fn (%n) { %f(%n - 1f) };", size=13.5, mono=True, color="soft")
    c.text(20, 320, "%x", size=13.5, mono=True)
    _mark(c, 330, 282, False)
    _mark(c, 330, 320, True)
    c.path("M386 288C424 298 424 262 390 270", edge="bad")
    c.head(386, 272, 2.85, "bad")
    c.text(430, 284, "1 use", size=13, color="bad")
    c.text(8, HEIGHT - 10, "`%f` has a use, its own. No arrow from the result reaches it.", size=13)


FIGURE = Figure(
    "liveness", WIDTH, HEIGHT, "Live code is what the result reaches",
    """Above, four lines: let a be a dense layer, let norm be the norm of a, let b be tanh of a, and the
    result a plus b. Arrows lead from the result to b and to a, and from b to a: these lines are live. No
    arrow leads to norm: it is dead. Below, a let that binds the function f, whose body calls f, and the
    result x. The function has one use, in itself, but no arrow from the result reaches it: it is dead.""",
    draw,
)  # fmt: skip
