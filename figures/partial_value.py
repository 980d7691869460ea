"""A partially static value: a tree whose constructors are known, and whose tensors are not."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_layout, lay_out

WIDTH, HEIGHT = 480, 336
WORDS = ("not", "bad", "film")
EDGES = (("outer", "inner"), ("outer", "film"), ("inner", "not"), ("inner", "bad"))


def _static(name: str) -> Box:
    return Box(name, "known", width=86, height=34, fill="known-bg", size=14.5)


def draw(c: Canvas) -> None:
    nodes = {"outer": _static("Pair"), "inner": _static("Pair")}
    arrows = [Arrow(*edge) for edge in EDGES]
    for word in WORDS:
        nodes[word] = _static("Word")
        nodes[f"tensor {word}"] = Box(
            f"%{word}\nelements: ?", "run", dashed=True, width=128, height=42, fill="run-bg", ink="ink",
            bold=True, size=14,
        )  # fmt: skip
        arrows.append(Arrow(word, f"tensor {word}", edge="run", dashed=True, weight=9))
    layout = lay_out(nodes, arrows, apart=24, ranks_apart=34, centered=True)
    draw_layout(c, nodes, arrows, layout.moved((WIDTH - layout.width) / 2, 16))
    c.box(10, HEIGHT - 44, 20, 16, fill="known-bg", edge="known", radius=3)
    c.text(38, HEIGHT - 31, "static: the constructors", size=13.5)
    c.box(230, HEIGHT - 44, 20, 16, fill="run-bg", edge="run", dashed=True, radius=3)
    c.text(258, HEIGHT - 31, "dynamic: the tensors", size=13.5)
    c.text(10, HEIGHT - 8, "Enough to decide every `match` on this value.", size=13.5)


FIGURE = Figure(
    "partial_value", WIDTH, HEIGHT, "A partially static value",
    """A tree. The outer Pair leads to an inner Pair and to a Word; the inner Pair leads to two Words. The
    constructors are static, in full frames. Below each Word hangs a tensor, not, bad and film, in a dashed
    frame: its elements are unknown, so it is dynamic. This is enough to decide every match on this value.""",
    draw,
)  # fmt: skip
