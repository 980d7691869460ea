"""The parts of a tuner: a space, a cost model that ranks its candidates, and measurements, which train the
model.
"""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 304


def _box(c: Canvas, x: float, y: float, w: float, title: str, notes: tuple[str, str], hue: str) -> None:
    c.box(x, y, w, 76, fill=f"hue-{hue}-fill", edge=f"hue-{hue}", radius=6)
    c.text(x + w / 2, y + 23, title, size=14.5, bold=True, anchor="middle")
    for number, note in enumerate(notes):
        c.text(x + w / 2, y + 45 + 18 * number, note, size=13, anchor="middle")


def draw(c: Canvas) -> None:
    _box(c, 12, 12, 196, "space", ("a rule leaves sizes open:", "39 tiles of one layer"), "blue")
    _box(c, 272, 12, 196, "cost model", ("predicts a score for each", "tile, without running it"), "orange")
    _box(
        c, 272, 142, 196, "measurement", ("compile and run the best", "few, keep the shortest time"), "purple"
    )
    _box(c, 12, 142, 196, "database", ("the fastest schedule for", "this kernel and target"), "teal")
    c.line((210, 50), (268, 50), edge="soft", arrow=True)
    c.text(239, 41, "tiles", size=13, anchor="middle", color="soft")
    c.line((340, 90), (340, 138), edge="soft", arrow=True)
    c.text(332, 119, "which to try next", size=13, anchor="end", color="soft")
    c.line((400, 140), (400, 92), edge="hue-purple", arrow=True, dashed=True)
    c.text(408, 119, "times", size=13, color="hue-purple")
    c.line((270, 180), (212, 180), edge="soft", arrow=True)
    c.text(241, 171, "winner", size=13, anchor="middle", color="soft")
    c.text(12, 252, "A formula works without measured times.", size=13.5)
    c.text(12, 274, "A learned model is fitted to them again after each", size=13.5)
    c.text(12, 294, "measurement (dashed arrow).", size=13.5)


FIGURE = Figure(
    "tuner_loop", WIDTH, HEIGHT, "The parts of a tuner",
    """Four boxes. A space, in which a rule leaves sizes open, such as 39 tiles of one layer, leads to a cost
    model, which predicts a score for each tile without running it. The model chooses which to try next for
    the measurement, which compiles and runs the best few and keeps the shortest time. The winner goes to a
    database. A dashed arrow leads from the measurement back to the model: measured times with which a learned
    model is fitted again.""",
    draw,
)  # fmt: skip
