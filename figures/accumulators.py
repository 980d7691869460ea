"""How many accumulators keep two FMA units busy: ten cycles with one, and with ten."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 300
CYCLES, UNITS, LATENCY = 10, 2, 5
LEFT, STEP, TALL = 62, 41.0, 28


def _chart(c: Canvas, y: float, title: str, accumulators: int) -> None:
    starts = {}  # (cycle, unit): the accumulator whose multiply-add starts there
    for slot in range(CYCLES * UNITS):
        name = slot % (LATENCY * UNITS)
        if name < accumulators:
            starts[divmod(slot, UNITS)] = name
    c.text(8, y, title, size=14, bold=True)
    c.text(LEFT + STEP * CYCLES, y, f"{len(starts)} of {CYCLES * UNITS} slots", size=13, anchor="end")
    for unit in range(UNITS):
        top = y + 12 + (TALL + 4) * unit
        c.text(LEFT - 8, top + 19, f"FMA {unit}", size=13, anchor="end", color="soft")
        for cycle in range(CYCLES):
            accumulator = starts.get((cycle, unit))
            used = accumulator is not None
            c.box(
                LEFT + STEP * cycle, top, STEP - 4, TALL,
                fill="hue-blue-fill" if used else "none", edge="hue-blue" if used else "line",
                width=1.4 if used else 1, radius=4, dashed=not used,
            )  # fmt: skip
            if used:
                middle = LEFT + STEP * cycle + (STEP - 4) / 2
                c.text(middle, top + 19, f"s{accumulator}", size=13, anchor="middle", mono=True)
    if accumulators == 1:
        base = y + 20 + (TALL + 4) * UNITS
        c.line((LEFT + 8, base), (LEFT + STEP * LATENCY + 6, base), edge="hue-orange", arrow=True)
        c.text(LEFT + 8, base + 18, "the next addition to s0 waits 5 cycles", size=13, color="hue-orange")


def draw(c: Canvas) -> None:
    _chart(c, 22, "one accumulator", 1)
    _chart(c, 164, "ten accumulators", 10)
    for cycle in range(CYCLES):
        x = LEFT + STEP * cycle + (STEP - 4) / 2
        c.text(x, 260, str(cycle), size=13, anchor="middle", color="soft")
    c.text(LEFT + STEP * CYCLES / 2, 284, "cycle in which a multiply-add starts", size=13, anchor="middle",
           color="soft")  # fmt: skip


FIGURE = Figure(
    "accumulators", WIDTH, HEIGHT, "Accumulators in flight",
    """Two charts of ten cycles by two FMA units with a latency of five cycles. With one accumulator, s0, a
    multiply-add starts in cycle 0 on the first unit and the next one in cycle 5, because it needs the result
    of the one before: 2 of 20 slots are used. With ten accumulators, s0 to s9, two multiply-adds start in
    every cycle, and from cycle 5 on s0 to s9 come again: all 20 slots are used.""",
    draw,
)  # fmt: skip
