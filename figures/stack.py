"""The compiler stack: from a model to a chip, and which levels of it this edition covers."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 608
LEFT, RIGHT = 14, 466

# Each level: its name, what it does, where the book explains it, whether this edition has it.
LEVELS = (
    ("Relay module", "functions, `let`, `if`, `match`, tensors", "chapter 4", True),
    ("Type inference", "finds every shape before anything runs", "chapters 10 to 12", True),
    ("Passes", "fold, fuse, differentiate: program to program", "Part IV", True),
    ("Operators as loops", "one kernel for each group of operators", "Part V", True),
)
CHIPS = ("CPU", "GPU", "ARM")


def _level(c: Canvas, y: float, name: str, what: str, where: str, covered: bool) -> None:
    c.box(
        LEFT,
        y,
        RIGHT - LEFT,
        74,
        fill="known-bg" if covered else "none",
        edge="known" if covered else "edge",
        dashed=not covered,
    )
    c.text(LEFT + 16, y + 30, ("✓ " if covered else "") + name, size=17, bold=True)
    c.text(RIGHT - 14, y + 30, where, size=13, color="soft", anchor="end")
    c.text(LEFT + 16, y + 55, what, size=13.5, color="soft")


def _row(c: Canvas, y: float, cells: tuple[tuple[str, bool], ...]) -> None:
    gap = 10
    width = (RIGHT - LEFT - gap * (len(cells) - 1)) / len(cells)
    for i, (name, covered) in enumerate(cells):
        x = LEFT + i * (width + gap)
        c.box(
            x,
            y,
            width,
            38,
            fill="known-bg" if covered else "none",
            edge="known" if covered else "edge",
            dashed=not covered,
        )
        c.text(x + width / 2, y + 24, ("✓ " if covered else "") + name, size=14, anchor="middle")


def draw(c: Canvas) -> None:
    c.text(LEFT, 22, "A model", size=14, bold=True, color="soft")
    _row(c, 34, (("text", True), ("Python", True), ("PyTorch", True), ("a file", True)))
    y = 72.0
    for level in LEVELS:
        c.line((WIDTH / 2, y + 3), (WIDTH / 2, y + 27), edge="soft", arrow=True)
        _level(c, y + 30, *level)
        y += 104
    c.line((WIDTH / 2, y + 3), (WIDTH / 2, y + 27), edge="soft", arrow=True)
    _row(c, y + 30, tuple((chip, True) for chip in CHIPS))
    c.box(LEFT, HEIGHT - 26, 18, 18, fill="known-bg", edge="known", radius=4)
    c.text(LEFT + 27, HEIGHT - 12, "✓ in this edition", size=13.5)


FIGURE = Figure(
    "stack", WIDTH, HEIGHT, "The compiler stack",
    """From top to bottom: a model comes as text, from Python, from PyTorch, or from a file, such as one of
    ONNX. It becomes a Relay module. Type inference finds its shapes, and passes rewrite it.
    Groups of operators become loops, and loops become code for CPU, GPU and ARM. All of this is in this
    edition.""",
    draw,
)  # fmt: skip
