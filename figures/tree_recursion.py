"""The tree of a sentence, and the stack of the calls that encode it, at the first word."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph

WIDTH, HEIGHT = 480, 300
WORDS = ("not", "bad", "at", "all")
EDGES = (
    ("root", "left"), ("root", "right"),
    ("left", "not"), ("left", "bad"), ("right", "at"), ("right", "all"),
)  # fmt: skip
ACTIVE = ("root", "left", "not")


def _node(name: str) -> Box:
    active = name in ACTIVE
    edge, fill, stroke = ("run", "run-bg", 2.5) if active else ("edge", "paper", 1.5)
    label, height = (f"Word\n{name}", 46) if name in WORDS else ("Pair", 32)
    return Box(label, edge, width=56, height=height, fill=fill, stroke=stroke, size=14)


def draw(c: Canvas) -> None:
    c.text(8, 24, "The sentence", size=15, bold=True)
    nodes = {name: _node(name) for name in ("root", "left", "right", *WORDS)}
    arrows = [
        Arrow(
            start, end, edge="run" if end in ACTIVE else "edge", head=False, width=3 if end in ACTIVE else 1.5
        )
        for start, end in EDGES
    ]
    draw_graph(c, nodes, arrows, 137, 48, apart=5, ranks_apart=42, centered=True)
    c.text(286, 24, "The stack", size=15, bold=True)
    frames = (
        ("@encode", "at the word \"not\"", False), ("@encode", "waits for its left half", True),
        ("@encode", "waits for its left half", True), ("@main", "waits for the state", True),
    )  # fmt: skip
    for index, (name, state, waits) in enumerate(frames):
        y = 40 + 54 * index
        c.box(286, y, 186, 48, fill="none" if waits else "run-bg", edge="queued" if waits else "run",
              dashed=waits)  # fmt: skip
        c.text(298, y + 20, name, size=14, mono=True)
        c.text(298, y + 39, state, size=13, color="soft")
    words = "The calls of @encode follow the path to the current node."
    c.text(WIDTH / 2, 288, words, size=13.5, anchor="middle", color="soft")


FIGURE = Figure(
    "tree_recursion", WIDTH, HEIGHT, "A recursion over a tree, and its stack",
    """On the left the tree of the sentence not bad at all: a Pair of two Pairs, with the four words
    below. The path from the root through the left Pair to the word not is highlighted. On the right the
    stack at that moment: encode at the word not runs; below it, encode for the left Pair and encode for
    the root each wait for their left half, and main waits for the state.""",
    draw,
)  # fmt: skip
