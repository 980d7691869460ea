"""From a Relay program on one machine to a file that runs on another."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 392
LEFT, FULL = 12, 456


def _box(c: Canvas, x: float, y: float, w: float, title: str, note: str, hue: str) -> None:
    c.box(x, y, w, 50, fill=f"hue-{hue}-fill", edge=f"hue-{hue}", radius=6)
    c.text(x + w / 2, y + 21, title, size=14, bold=True, anchor="middle")
    c.text(x + w / 2, y + 40, note, size=13, anchor="middle")


def _down(c: Canvas, x: float, y: float, tall: float = 22) -> None:
    c.line((x, y), (x, y + tall), edge="soft", arrow=True)


def draw(c: Canvas) -> None:
    c.text(LEFT + 6, 26, "your machine (x86-64)", size=14, bold=True, color="soft")
    _box(c, LEFT + 6, 40, 214, "Relay program", "and its weights", "blue")
    _box(c, LEFT + 236, 40, 214, "target", "triple, processor, lanes, caches", "orange")
    _down(c, LEFT + 113, 92)
    _down(c, LEFT + 343, 92)
    parts = (("kernels", "object files"), ("program", "C source"), ("weights", "bytes"))
    for number, (title, note) in enumerate(parts):
        x = LEFT + 6 + 152 * number
        _box(c, x, 116, 140, title, note, "purple")
        _down(c, x + 70, 168)
    _box(c, LEFT + 6, 192, 444, "C compiler for the board",
         "links them with the board's C library", "orange")  # fmt: skip
    _down(c, LEFT + 228, 244, 10)
    c.box(LEFT + 116, 255, 224, 28, fill="paper", edge="hue-teal", radius=5)
    c.text(LEFT + 228, 274, "`sentiment`: one AArch64 file", size=13.5, anchor="middle")
    c.line((LEFT + 160, 284), (LEFT + 113, 326), edge="soft", arrow=True)
    c.line((LEFT + 296, 284), (LEFT + 343, 326), edge="soft", arrow=True)
    c.box(4, 4, WIDTH - 8, 296, edge="edge", dashed=True, radius=10)
    _box(c, LEFT + 6, 328, 214, "qemu-aarch64", "here: is it correct?", "teal")
    _box(c, LEFT + 236, 328, 214, "Raspberry Pi 4, phone", "there: is it fast enough?", "teal")


FIGURE = Figure(
    "cross_compile", WIDTH, HEIGHT, "Compiling for another machine",
    """On the developer's machine, an x86-64 computer, a Relay program with its weights and a description of
    the target go into the compiler, which writes kernels as object files, the program as C source, and the
    weights as bytes. A C compiler for the board links these with the board's C library into one file of
    AArch64 code. The file runs under the emulator qemu, which shows whether it is correct, and on the board
    or phone itself, which alone shows whether it is fast enough.""",
    draw,
)  # fmt: skip
