"""The copies of shared nodes that a recursive copy creates, and those of a copy with a memo."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph

WIDTH, HEIGHT = 480, 304
TOP, LEVELS = 50, 4


def _nodes(per_level: int, hue: str) -> dict[str, Box]:
    """Return the nodes of all levels; each level has `per_level` times as many as the one above."""
    return {
        f"{level}.{index}": Box("exp" if level == LEVELS - 1 else "+", hue, width=34)
        for level in range(LEVELS)
        for index in range(per_level**level)
    }


def draw(c: Canvas) -> None:
    c.box(8, 8, 122, 254, fill="panel", edge="edge")
    c.text(69, 32, "Program", size=14.5, bold=True, anchor="middle")
    twice = [Arrow(f"{level}.0", f"{level + 1}.0") for level in range(LEVELS - 1) for _ in range(2)]
    draw_graph(c, _nodes(1, "known"), twice, 69, TOP, ranks_apart=32)
    c.box(138, 8, 334, 254, fill="panel", edge="edge")
    c.text(305, 32, "Its copy, made without a memo", size=14.5, bold=True, anchor="middle")
    operands = [
        Arrow(f"{level}.{index // 2}", f"{level + 1}.{index}", "bad")
        for level in range(LEVELS - 1)
        for index in range(2 ** (level + 1))
    ]
    draw_graph(c, _nodes(2, "bad"), operands, 305, TOP, apart=6, ranks_apart=32)
    c.text(69, 284, "4 calls", size=13.5, anchor="middle", color="soft")
    c.text(305, 284, "15 calls, 8 of them `exp`", size=13.5, anchor="middle", color="soft")


FIGURE = Figure(
    "copy_or_memo", WIDTH, HEIGHT, "A copy that loses sharing",
    """On the left a program of four calls: three additions, each of which uses the one below it twice,
    and exp at the bottom. On the right the copy that a recursive function makes: a tree in which each
    addition has two operands of its own, so that there are one, two and four additions and eight exp.""",
    draw,
)  # fmt: skip
