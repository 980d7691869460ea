"""One fused multiply-add on vector registers with eight lanes, with numbers."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 314
LEFT, CELL = 16, 56
PIXEL = 3
WEIGHTS = (1, 2, 0, -1, 4, 1, -2, 5)
BEFORE = (7, 0, 5, 2, 1, 9, 8, 4)


def _minus(value: int) -> str:
    return str(value).replace("-", "−")


def _register(c: Canvas, y: float, label: str, values: tuple[int, ...], hue: str) -> None:
    c.text(LEFT, y - 8, label, size=13.5)
    for lane, value in enumerate(values):
        c.box(LEFT + lane * CELL, y, CELL, 30, fill=f"{hue}-fill", edge=hue, radius=2)
        c.text(LEFT + (lane + 0.5) * CELL, y + 21, _minus(value), size=15, anchor="middle")


def draw(c: Canvas) -> None:
    for lane in range(len(WEIGHTS)):
        c.text(LEFT + (lane + 0.5) * CELL, 16, f"lane {lane}", size=13, anchor="middle", color="soft")
    after = tuple(a + PIXEL * w for a, w in zip(BEFORE, WEIGHTS, strict=True))
    _register(c, 48, "`ymm1`: one pixel, copied into every lane", (PIXEL,) * 8, "hue-blue")
    _register(c, 112, "× `ymm0`: the weights of eight output channels", WEIGHTS, "hue-orange")
    _register(c, 176, "+ `ymm9`: eight accumulators, before", BEFORE, "hue-teal")
    _register(c, 256, "`ymm9`, after `vfmadd231ps %ymm0, %ymm1, %ymm9`", after, "hue-teal")
    for lane in range(len(WEIGHTS)):
        x = LEFT + (lane + 0.5) * CELL
        c.line((x, 209), (x, 226), edge="soft", arrow=True)
    c.text(LEFT, 304, "In lane 0: 3 × 1 + 7 = 10.", size=13.5, color="soft")


FIGURE = Figure(
    "fma_lanes", WIDTH, HEIGHT, "A fused multiply-add in eight lanes",
    """Registers with eight lanes. ymm1 has one pixel, 3, in every lane. ymm0 has the weights of eight output
    channels: 1, 2, 0, minus 1, 4, 1, minus 2, 5. ymm9 has eight accumulators: 7, 0, 5, 2, 1, 9, 8, 4. After
    the instruction, each lane of ymm9 is its accumulator plus pixel times weight: 10, 6, 5, minus 1, 13, 12,
    2, 19.""",
    draw,
)  # fmt: skip
