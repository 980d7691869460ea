"""A kernel's loops on a GPU: blocks on multiprocessors, threads in warps."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 420
LEFT, RIGHT = 190, 472
LOOPS = (
    ("for block < 6:", "# blockIdx.x", "blue"),
    ("for thread < 64:", "# threadIdx.x", "orange"),
    ("for k < 16:", "", "purple"),
    ("sum += …", "", ""),
)


def _loops(c: Canvas) -> None:
    c.text(8, 22, "the loops", size=14.5, bold=True)
    for number, (text, how, hue) in enumerate(LOOPS):
        x, y = 10 + 12 * number, 60 + 54 * number
        if hue:
            w, h, color = 164 - 18 * number, 232 - 62 * number, f"hue-{hue}"
            c.box(x - 4, y - 20, w, h, fill=f"{color}-fill", edge=color, width=1.4, radius=5)
        c.text(x + 4, y, text, size=12.5, mono=True)
        if how:
            c.text(x + 4, y + 19, how, size=12, mono=True, color="soft")
    c.lines(8, 316, ["first loop: an iteration", "is a block"], size=13)
    c.lines(8, 356, ["second: it is a thread,", "32 to a warp"], size=13)
    c.lines(8, 396, ["third: in each thread"], size=13)


def _warp(c: Canvas, x: float, y: float) -> None:
    """Draw the 32 threads of a warp as a row of strokes."""
    c.box(x, y, 82, 15, fill="hue-orange-fill", edge="hue-orange", width=1, radius=3)
    for thread in range(32):
        at = x + 3.2 + 2.45 * thread
        c.line((at, y + 3.5), (at, y + 11.5), edge="hue-orange", width=0.9)


def _multiprocessor(c: Canvas, x: float, y: float, name: str) -> None:
    width = (RIGHT - LEFT - 14) / 2
    c.box(x, y, width, 300, edge="soft", radius=8)
    c.text(x + width / 2, y + 19, name, size=13, anchor="middle", bold=True)
    for block in range(3):
        top = y + 29 + 88 * block
        c.box(x + 8, top, width - 16, 82, fill="hue-blue-fill", edge="hue-blue", width=1.4, radius=6)
        c.text(x + 16, top + 16, "a block", size=12)
        _warp(c, x + 26, top + 22)
        _warp(c, x + 26, top + 40)
        c.box(x + 16, top + 60, width - 32, 17, fill="none", edge="hue-blue", width=1, dashed=True, radius=3)
        c.text(x + width / 2, top + 73, "shared memory", size=11.5, anchor="middle")


def draw(c: Canvas) -> None:
    _loops(c)
    c.text(LEFT, 22, "where they run", size=14.5, bold=True)
    c.line((LEFT - 11, 10), (LEFT - 11, HEIGHT - 10), edge="edge", dashed=True)
    second = LEFT + (RIGHT - LEFT - 14) / 2 + 14
    for x in (LEFT, second):
        _multiprocessor(c, x, 34, "multiprocessor")
        middle = x + (RIGHT - LEFT - 14) / 4
        c.line((middle, 336), (middle, 364), edge="soft", arrow=True)
        c.line((middle, 362), (middle, 336), edge="soft", arrow=True)
    c.box(LEFT, 366, RIGHT - LEFT, 44, edge="soft", radius=8, width=1.8)
    c.text((LEFT + RIGHT) / 2, 385, "global memory", size=13.5, anchor="middle", bold=True)
    c.text(
        (LEFT + RIGHT) / 2, 402, "accessed in sectors of 32 bytes", size=12.5, anchor="middle", color="soft"
    )


FIGURE = Figure(
    "threads_of_a_gpu", WIDTH, HEIGHT, "Loops, and where they run on a GPU",
    """Left, three loops within each other: over 6 blocks, marked blockIdx.x; over 64 threads, marked
    threadIdx.x; and a serial one over k, with a sum in it. Right, a GPU with two multiprocessors. Each holds
    three blocks; a block has two warps of 32 threads and shared memory of its own. Below both is
    global memory, which is accessed in sectors of 32 bytes.""",
    draw,
)  # fmt: skip
