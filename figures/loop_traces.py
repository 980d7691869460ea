"""Traces of one Python loop for three inputs: none contains a loop, and all are different."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 238
LEFT, CELL, ROW = 60, 32, 76
STARTS = (2, 50, 200)


def _trace(start: int) -> list[tuple[str, int]]:
    """Return each operation of the loop, with the number it compares or produces."""
    operations = [("<", start)]
    while start < 100:
        start *= 2
        operations += [("×", start), ("<", start)]
    return operations


def draw(c: Canvas) -> None:
    c.text(10, 20, "start", size=13, bold=True, color="soft")
    c.text(LEFT, 20, "trace", size=13, bold=True, color="soft")
    for row, start in enumerate(STARTS):
        y = 34 + row * ROW
        c.text(12, y + 23, str(start), size=16, bold=True)
        operations = _trace(start)
        for i, (operation, value) in enumerate(operations):
            hue = "hue-teal" if operation == "<" else "hue-orange"
            c.box(LEFT + i * CELL, y, CELL - 4, 34, fill=f"{hue}-fill", edge=hue, radius=5)
            c.text(LEFT + i * CELL + (CELL - 4) / 2, y + 23, operation, size=17, anchor="middle")
            if operation == "×":
                c.text(
                    LEFT + i * CELL + (CELL - 4) / 2,
                    y + 51,
                    str(value),
                    size=13,
                    anchor="middle",
                    color="soft",
                )
        if len(operations) < 10:
            c.text(
                LEFT + len(operations) * CELL + 8,
                y + 22,
                f"result {operations[-1][1]}",
                size=13,
                color="soft",
            )


FIGURE = Figure(
    "loop_traces", WIDTH, HEIGHT, "Three traces of one loop",
    """Three rows of operations. For the start 2: compare, multiply, giving 4, compare, multiply, giving 8,
    and so on up to 128: thirteen operations. For the start 50: compare, multiply, giving 100,
    compare. For the start 200: a single comparison.""",
    draw,
)  # fmt: skip
