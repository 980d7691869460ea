"""Where the parts of a matrix product are stored while they are used: registers, caches, memory."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 352
SIDE, GAP, LEFT, TOP = 128, 18, 196, 34  # of the matrices
PANEL, ROWS = 34, 18  # the widths of a panel of b and of a strip of a
# The levels of the memory hierarchy: name, capacity, contents, color.
PLACES = (
    ("registers", "16 vectors", "a tile of `c`", "purple"),
    ("L1 cache", "32 KB", "some rows of `a`", "orange"),
    ("L2 cache", "256 KB and more", "a panel of `b`", "blue"),
    ("memory", "gigabytes", "all of them", ""),
)


def _places(c: Canvas) -> None:
    """Draw the memory hierarchy as a pyramid, the fastest level on top."""
    for number, (name, size, content, hue) in enumerate(PLACES):
        width, y = 92 + 24 * number, 30 + 78 * number
        fill, edge = (f"hue-{hue}-fill", f"hue-{hue}") if hue else ("none", "soft")
        c.box(8, y, width, 62, fill=fill, edge=edge, width=1.8)
        c.text(16, y + 19, name, size=13.5, bold=True)
        c.text(16, y + 37, size, size=12.5, color="soft")
        c.text(16, y + 54, content, size=12.5)
    c.text(8, 20, "fast and small", size=12.5, color="soft")
    c.text(8, HEIGHT - 6, "slow and large", size=12.5, color="soft")


def _matrix(c: Canvas, x: float, y: float, name: str) -> None:
    c.box(x, y, SIDE, SIDE, edge="soft", radius=4)
    c.text(x + SIDE - 10, y + SIDE - 9, name, size=15, anchor="end", mono=True)


def _piece(c: Canvas, x: float, y: float, w: float, h: float, hue: str) -> None:
    c.box(x, y, w, h, fill=f"hue-{hue}-fill", edge=f"hue-{hue}", width=1.8, radius=3)


def draw(c: Canvas) -> None:
    _places(c)
    right, below = LEFT + SIDE + GAP, TOP + SIDE + GAP
    panel, strip = right + 40, below + 42
    _matrix(c, right, TOP, "b")
    _matrix(c, LEFT, below, "a")
    _matrix(c, right, below, "c")
    _piece(c, panel, TOP, PANEL, SIDE, "blue")
    _piece(c, LEFT, strip, SIDE, ROWS, "orange")
    _piece(c, panel, strip, PANEL, ROWS, "purple")
    for x in (panel, panel + PANEL):
        c.line((x, TOP + SIDE), (x, strip), edge="edge", dashed=True)
    for y in (strip, strip + ROWS):
        c.line((LEFT + SIDE, y), (panel, y), edge="edge", dashed=True)
    c.line((right - 12, TOP + 10), (right - 12, TOP + SIDE - 8), edge="ink", arrow=True)
    c.text(right - 20, TOP + SIDE / 2, "k", size=14, anchor="end", mono=True)
    c.line((LEFT + 10, below - 10), (LEFT + SIDE - 8, below - 10), edge="ink", arrow=True)
    c.text(LEFT + SIDE / 2, below - 17, "k", size=14, anchor="middle", mono=True)
    c.text(right + SIDE, below + SIDE + 24, "6 rows × 2 vectors: 12 accumulators", size=12.5, anchor="end")


FIGURE = Figure(
    "tiles_of_a_product", WIDTH, HEIGHT, "Where the parts of a product stay",
    """Left, the memory hierarchy, the fastest and smallest level on top: registers, with 16 vectors, hold a
    tile of c; the L1 cache, with 32 kilobytes, some rows of a; the L2 cache, with 256 kilobytes and more, a
    panel of b; memory holds all of them. Right, the matrices a, b and c as squares, b above c and a left of
    it, with these parts in the colors of their levels: a panel of b, a few columns wide, over all of k; a
    strip of a, six rows high, over all of k; and where the two meet in c a tile of six rows and two vectors,
    which is twelve accumulators.""",
    draw,
)  # fmt: skip
