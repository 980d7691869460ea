"""Where the elements of a column go in a cache of 64 sets: rows of 1,024 elements and of 1,040."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 256
SETS, WAYS, ROWS = 64, 8, 64
LEFT, STEP, WAY = 16, 7.0, 9.0


def used(columns: int) -> list[int]:
    """Count the cache lines of the column's first elements that map to each set."""
    counts = [0] * SETS
    for row in range(ROWS):
        counts[4 * columns * row // 64 % SETS] += 1
    return counts


def _cache(c: Canvas, y: float, columns: int, says: str) -> None:
    c.text(LEFT, y, f"{columns:,} columns", size=14, bold=True)
    c.text(LEFT + SETS * STEP, y, says, size=13, anchor="end", color="soft")
    for number, lines in enumerate(used(columns)):
        x = LEFT + STEP * number
        c.box(x, y + 12, STEP, WAYS * WAY, edge="line", width=0.8, radius=0)
        hits = min(lines, WAYS)
        if hits:
            c.box(
                x + 0.8, y + 12 + (WAYS - hits) * WAY, STEP - 1.6, hits * WAY,
                fill="hue-orange-fill", edge="hue-orange", width=1.2, radius=1,
            )  # fmt: skip


def draw(c: Canvas) -> None:
    _cache(c, 22, 1024, "64 lines, all for set 0, which holds 8")
    _cache(c, 138, 1040, "64 lines for 64 sets")
    base = 138 + 12 + WAYS * WAY
    c.text(LEFT, base + 20, "set 0", size=13, color="soft")
    c.text(LEFT + SETS * STEP, base + 20, "set 63", size=13, color="soft", anchor="end")


FIGURE = Figure(
    "cache_sets", WIDTH, HEIGHT, "The sets of a cache that a column uses",
    """A cache as 64 columns, its sets, each with room for eight lines, drawn twice. The first 64 elements of
    a column of a matrix with 1,024 columns all belong to set 0, which is full with eight of them; the other
    63 sets stay empty. With 1,040 columns the 64 elements belong to 64 different sets, one line in each.""",
    draw,
)  # fmt: skip
