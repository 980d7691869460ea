"""Which clause of a match covers which case of a nested type."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph

WIDTH, HEIGHT = 480, 250
EDGES = (("option", "some"), ("option", "none"), ("some", "both"), ("some", "missing"))
CLAUSES = {"none": ("clause 2", "known"), "both": ("clause 1", "known"), "missing": ("no clause ✗", "bad")}


def _case(words: str, tone: str = "ink") -> Box:
    fill, hue = ("panel", "edge") if tone == "ink" else (f"{tone}-bg", tone)
    return Box(
        words, hue, dashed=tone == "bad", width=28 + 8.4 * len(words), height=34, radius=17, size=14.5,
        fill=fill, ink=tone,
    )  # fmt: skip


def draw(c: Canvas) -> None:
    nodes = {
        "option": Box("Option[Option[float32]]", "none", width=200, height=24, size=14.5),
        "some": _case("Some(_)"), "none": _case("None", "known"),
        "both": _case("Some(Some(_))", "known"), "missing": _case("Some(None)", "bad"),
    }  # fmt: skip
    arrows = [Arrow(*edge, edge="soft") for edge in EDGES]
    layout = draw_graph(c, nodes, arrows, WIDTH / 2, 10, apart=30, ranks_apart=38, centered=True)
    for name, (clause, tone) in CLAUSES.items():
        x, y = layout.centers[name]
        c.text(x, y + 37, clause, size=13.5, anchor="middle", color=tone)
    c.text(8, 240, "A case is split only where a pattern looks inside it.", size=13.5, color="soft")


FIGURE = Figure(
    "missing_case", WIDTH, HEIGHT, "The cases of a nested type",
    """The values of type Option of Option of float32 as a tree. They are Some or None; None is covered by
    clause 2. Some is split into Some of Some, covered by clause 1, and Some of None, which no clause
    covers.""",
    draw,
)  # fmt: skip
