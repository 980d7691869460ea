"""The rule of fusion as a table: which operators merge, in which phase, along which paths, into which
kernels.
"""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 358
ROWS = (
    ("E B", "1, 2", "E B I", "E B I R C"),
    ("C", "1", "E B", "E B"),
    ("I", "2", "E B I", "E B I"),
    ("T", "2", "E B I", "E B I"),
    ("E B I", "3", "E B I", "T in a kernel"),
    ("R", "", "", ""),
    ("O", "", "", ""),
)
COLUMNS = (("kernel", 16), ("phase", 104), ("between", 172), ("at the end", 300))
HUES = {
    "E": "hue-blue", "B": "hue-blue", "I": "hue-purple", "R": "hue-orange", "C": "hue-teal", "T": "hue-olive",
    "O": "edge",
}  # fmt: skip


def _letters(c: Canvas, x: float, y: float, letters: str) -> float:
    for number, letter in enumerate(letters.split()):
        hue = HUES[letter]
        fill = "paper" if hue == "edge" else f"{hue}-fill"
        c.box(x + 28 * number, y - 17, 24, 24, fill=fill, edge=hue, radius=5)
        c.text(x + 28 * number + 12, y, letter, size=13.5, bold=True, anchor="middle")
    return x + 28 * len(letters.split())


def draw(c: Canvas) -> None:
    for title, x in COLUMNS:
        c.text(x, 28, title, size=14, bold=True)
    c.line((8, 40), (472, 40), edge="edge")
    for row, (own, phase, between, end) in enumerate(ROWS):
        y = 66 + 36 * row
        _letters(c, COLUMNS[0][1], y, own)
        if not phase:
            words = "never: a reduction ends its kernel" if own == "R" else "never: opaque"
            c.text(COLUMNS[1][1], y, words, size=13.5, color="soft")
            continue
        c.text(COLUMNS[1][1] + 8, y, phase, size=14)
        _letters(c, COLUMNS[2][1], y, between)
        if end.startswith("T"):
            c.text(_letters(c, COLUMNS[3][1], y, "T") + 6, y, "already in a kernel", size=13)
        else:
            _letters(c, COLUMNS[3][1], y, end)
    c.line((8, 304), (472, 304), edge="edge")
    c.text(16, 326, "C also needs every use on the paths to be element-wise.", size=13)
    c.text(16, 346, "`conv2d` counts as C, and so does a kernel that contains one.", size=13)


FIGURE = Figure(
    "fusion_rule", WIDTH, HEIGHT, "The rule of fusion",
    """A table. Element-wise and broadcast kernels are merged in phases 1 and 2 if everything between is
    injective or simpler; at the end there may also be a reduction or a convolution's kernel. A
    complex-out-fusable kernel is merged in phase 1 if everything between and at the end is broadcast or
    simpler and every use is element-wise. Injective kernels and tuples are merged in phase 2 with what is
    injective or simpler. In phase 3, injective or simpler kernels join a tuple that is in a kernel already.
    Reductions and opaque operators are never merged into what follows.""",
    draw,
)  # fmt: skip
