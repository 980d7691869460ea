"""What the 32 vector registers hold in the innermost loop of chapter 24's dense layer."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 236
COLUMNS, LEFT, TOP, STEP, TALL = 8, 12, 12, 57.0, 34
ROLES = {
    "accumulator": ("purple", (*range(8), *range(16, 24))),
    "input element": ("orange", (24,)),
    "weights": ("blue", (25, 26, 27, 28)),
}


def draw(c: Canvas) -> None:
    hues = {register: hue for hue, registers in ROLES.values() for register in registers}
    marks = {"purple": "Σ", "orange": "x", "blue": "w"}
    for register in range(32):
        row, column = divmod(register, COLUMNS)
        x, y = LEFT + STEP * column, TOP + (TALL + 6) * row
        hue = hues.get(register)
        c.box(
            x, y, STEP - 6, TALL,
            fill=f"hue-{hue}-fill" if hue else "none",
            edge=f"hue-{hue}" if hue else "edge",
            dashed=hue is None, width=1.4, radius=4,
        )  # fmt: skip
        label = f"v{register} {marks[hue]}" if hue else f"v{register}"
        c.text(x + (STEP - 6) / 2, y + 22, label, size=13.5, mono=True, anchor="middle",
               color="ink" if hue else "soft")  # fmt: skip
    items = (("Σ", "4 × 4 vectors of accumulators", "purple"), ("x", "an input element", "orange"),
             ("w", "weights of 16 units", "blue"))  # fmt: skip
    for (mark, words, hue), (x, y) in zip(items, ((12, 180), (278, 180), (12, 206))):
        c.box(x, y, 22, 20, fill=f"hue-{hue}-fill", edge=f"hue-{hue}", width=1.4, radius=4)
        c.text(x + 11, y + 15, mark, size=13, mono=True, anchor="middle")
        c.text(x + 30, y + 15, words, size=13.5)
    c.box(278, 206, 22, 20, edge="edge", dashed=True, radius=4)
    c.text(308, 221, "not used", size=13.5)


FIGURE = Figure(
    "neon_registers", WIDTH, HEIGHT, "Vector registers of the innermost loop",
    """The 32 vector registers v0 to v31 of AArch64 in four rows of eight. v0 to v7 and v16 to v23 hold the
    sixteen vectors of accumulators, v24 an element of the input, and v25 to v28 the weights of 16 units.
    v8 to v15 and v29 to v31 are not used.""",
    draw,
)  # fmt: skip
