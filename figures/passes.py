"""A pipeline is a pass: it transforms modules, the context decides which steps run, and a contract holds from
end to end.
"""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 322
MIDDLE, LEFT, RIGHT = 136, 84, 396
STEPS = (("A", 0, True), ("B", 4, False), ("C", 1, True))
CONTRACT = ("types: the same", "values: the same, or nearly", "the module that went in: unchanged")


def _module(c: Canvas, x: float, name: str) -> None:
    """Draw a module: a sheet with lines on it."""
    c.box(x - 22, MIDDLE - 30, 44, 60, fill="paper", edge="ink", radius=4)
    for line, wide in enumerate((28, 20, 24, 14)):
        c.line(
            (x - 15, MIDDLE - 18 + 12 * line), (x - 15 + wide, MIDDLE - 18 + 12 * line), edge="known", width=2
        )
    c.text(x, MIDDLE + 48, name, size=12.5, anchor="middle", color="soft")


def draw(c: Canvas) -> None:
    c.box(112, 16, 256, 44, fill="hue-purple-fill", edge="hue-purple")
    c.text(240, 35, "the context: level 3", size=13.5, anchor="middle", bold=True)
    c.text(240, 52, "required, disabled, options, instruments", size=12, anchor="middle")
    c.box(LEFT, 76, RIGHT - LEFT, 124, fill="panel", edge="hue-blue", dashed=True, radius=12)
    c.text(240, 218, "`Sequential`: a pass, too", size=13, anchor="middle")
    _module(c, 32, "module")
    _module(c, WIDTH - 32, "module")
    c.line((54, MIDDLE), (LEFT + 22, MIDDLE), edge="ink", arrow=True)
    for number, (name, level, runs) in enumerate(STEPS):
        x = 142 + 98 * number
        hue = "hue-blue" if runs else "edge"
        c.line((x, 60), (x, MIDDLE - 26), edge="hue-purple", dashed=True)
        c.box(x - 36, MIDDLE - 24, 72, 48, fill="paper", edge=hue, width=2 if runs else 1.5, dashed=not runs)
        c.text(x, MIDDLE - 3, name, size=15, anchor="middle", bold=runs, color="ink" if runs else "soft")
        c.text(x, MIDDLE + 15, f"level {level}", size=12, anchor="middle", color="soft")
        end = x + 62 if number < 2 else WIDTH - 56
        if runs:
            c.line((x + 36, MIDDLE), (end if number else x + 48, MIDDLE), edge="ink", arrow=number == 2)
    # The arrow around the pass that is skipped.
    c.path("M190 136C196 136 194 176 206 176L274 176C286 176 286 136 298 136", edge="ink")
    c.head(302, MIDDLE, 0, "ink")
    c.text(240, 192, "skipped", size=12, anchor="middle", color="soft")
    c.path("M32 200C32 230 40 232 60 232L420 232C440 232 448 230 448 200", edge="hue-teal", width=2)
    c.text(240, 253, "the contract", size=13.5, anchor="middle", bold=True)
    for number, line in enumerate(CONTRACT):
        c.text(240, 273 + 18 * number, line, size=12.5, anchor="middle")


FIGURE = Figure(
    "passes", WIDTH, HEIGHT, "A pipeline of passes, its context and its contract",
    """A module goes into a dashed box named Sequential, a pass too, and a module comes out. Inside are
    three passes in a row: A of level 0, B of level 4 and C of level 1. Above, the context: level 3,
    with what is required and disabled, options and instruments. A line leads from it to each pass. B is
    above that level, so an arrow leads around it: it is skipped. Below, a bracket from the module that
    goes in to the one that comes out, the contract: types are the same, values are the same or nearly,
    and the module that went in is unchanged.""",
    draw,
)  # fmt: skip
