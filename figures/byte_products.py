"""Products per instruction on AArch64: `fmla` on four floats, `sdot` on sixteen 8-bit integers."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 352
LEFT, LANE, TALL = 112, 92.0, 28
UNITS = "abcd"


def _row(c: Canvas, y: float, name: str, lanes: list[list[str]], hue: str) -> None:
    """Draw a register: its lanes, each with one element or four."""
    c.text(LEFT - 12, y + 19, name, size=13.5, anchor="end")
    for lane, texts in enumerate(lanes):
        size = (LANE - 6) / len(texts)
        for place, text in enumerate(texts):
            x = LEFT + LANE * lane + size * place
            c.box(x, y, size, TALL, fill=f"hue-{hue}-fill", edge=f"hue-{hue}", width=1.4, radius=3)
            c.text(x + size / 2, y + 19, text, size=13.5, anchor="middle", mono=True)


def _arrows(c: Canvas, y: float) -> None:
    for lane in range(len(UNITS)):
        x = LEFT + LANE * lane + (LANE - 6) / 2
        c.line((x, y), (x, y + 16), edge="soft", arrow=True)


def draw(c: Canvas) -> None:
    c.text(8, 20, "fmla: 4 products of float32", size=14, bold=True)
    _row(c, 34, "input", [["x0"]] * 4, "orange")
    _row(c, 70, "× weights", [[f"{unit}0"] for unit in UNITS], "blue")
    _arrows(c, 101)
    _row(c, 120, "accumulators", [[f"+ x0·{unit}0"] for unit in UNITS], "purple")
    c.text(8, 190, "sdot: 16 products of int8, added in int32", size=14, bold=True)
    _row(c, 204, "input", [[f"x{k}" for k in range(4)]] * 4, "orange")
    _row(c, 240, "× weights", [[f"{unit}{k}" for k in range(4)] for unit in UNITS], "blue")
    _arrows(c, 271)
    accumulated = [[f"+ Σ x·{unit}"] for unit in UNITS]
    _row(c, 290, "accumulators", accumulated, "purple")
    c.text(LEFT, 342, "Each lane is 32 bits wide. a, b, c, d: four units.", size=13, color="soft")


FIGURE = Figure(
    "byte_products", WIDTH, HEIGHT, "Products per instruction, in float32 and in int8",
    """Two vector instructions of AArch64 on registers of four lanes of 32 bits. fmla multiplies the input
    element x0, in each lane, by one weight of a unit, a0 to d0, and adds one product to the accumulator of
    the lane. sdot has four 8-bit integers in each lane: the inputs x0 to x3, the same in all lanes, and four
    weights of a unit. It multiplies them in pairs and adds all four products to the 32-bit accumulator of
    the lane.""",
    draw,
)  # fmt: skip
