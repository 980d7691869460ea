"""The sectors of global memory that a warp touches: consecutive elements, every second one, a column."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 316
THREADS, SECTOR = 32, 8  # elements of 4 bytes in a sector of 32
LEFT, RIGHT = 12, 468
# Title, and the distance between the elements of neighboring threads; a column's is a multiple of a sector.
PATTERNS = (("consecutive elements", 1), ("every second element", 2), ("down a column", SECTOR))


def touched(stride: int) -> list[list[int]]:
    """Return the positions within each touched sector that the warp's threads read."""
    sectors: dict[int, list[int]] = {}
    for thread in range(THREADS):
        sectors.setdefault(thread * stride // SECTOR, []).append(thread * stride % SECTOR)
    return list(sectors.values())


def draw(c: Canvas) -> None:
    y = 20.0
    for title, stride in PATTERNS:
        sectors = touched(stride)
        part = sum(map(len, sectors)) / (SECTOR * len(sectors))
        used = "all" if part == 1 else f"{part:.3g}".replace("0.5", "half").replace("0.125", "an eighth")
        c.text(LEFT, y, title, size=14, bold=True)
        c.text(RIGHT, y, f"{len(sectors)} sectors, {used} of the bytes used", size=13, anchor="end",
               color="soft")  # fmt: skip
        rows = 2 if len(sectors) > 16 else 1
        columns = len(sectors) // rows
        step = min(57.0, (RIGHT - LEFT) / columns)
        cell = (step - 5) / SECTOR
        for number, places in enumerate(sectors):
            row, column = divmod(number, columns)
            left, top = LEFT + step * column, y + 14 + 32 * row
            c.box(
                left, top, cell * SECTOR, 24, edge="hue-orange", fill="hue-orange-fill", width=1.4, radius=2
            )
            for place in places:
                c.box(left + cell * place + 0.6, top + 2, cell - 1.2, 20, fill="hue-blue", edge="hue-blue",
                      width=0.5, radius=0.5)  # fmt: skip
        y += 14 + 32 * rows + 38
    c.box(LEFT, HEIGHT - 30, 26, 18, edge="hue-orange", fill="hue-orange-fill", width=1.4, radius=2)
    c.text(LEFT + 34, HEIGHT - 16, "a sector: 32 bytes", size=13)
    c.box(LEFT + 200, HEIGHT - 30, 8, 18, fill="hue-blue", edge="hue-blue", width=0.5, radius=0.5)
    c.text(LEFT + 216, HEIGHT - 16, "an element that a thread reads", size=13)


FIGURE = Figure(
    "coalescing", WIDTH, HEIGHT, "Sectors that a warp fetches",
    "The 32 threads of a warp read float32 elements, eight of which make a sector of 32 bytes. "
    + " ".join(
        f"{title.capitalize()}: {len(touched(stride))} sectors, {len(touched(stride)[0])} of the 8 elements "
        "used in each."
        for title, stride in PATTERNS
    ),
    draw,
)  # fmt: skip
