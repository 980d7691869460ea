"""Latency hidden by other warps: a warp that computes and waits, alone and together with six others."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 352
COMPUTES, WAITS, CYCLES = 50, 300, 700
WARPS = (COMPUTES + WAITS) // COMPUTES
LEFT, RIGHT = 62, 470
ROW = 20.0


def _x(cycle: float) -> float:
    return LEFT + (RIGHT - LEFT) * cycle / CYCLES


def _bar(c: Canvas, y: float, start: int, hue: str) -> None:
    c.box(_x(start) + 0.5, y, _x(COMPUTES) - LEFT - 1, ROW - 5, fill=f"hue-{hue}-fill", edge=f"hue-{hue}",
          width=1.4, radius=3)  # fmt: skip


def _warps(c: Canvas, y: float, warps: int) -> float:
    busy: list[int] = []
    for warp in range(warps):
        top = y + ROW * warp
        c.text(LEFT - 8, top + 12, f"warp {warp}", size=13, anchor="end", color="soft")
        c.line((LEFT, top + 8), (RIGHT, top + 8), edge="line", dashed=True, width=1)
        starts = range(COMPUTES * warp, CYCLES, COMPUTES + WAITS)
        for start in starts:
            _bar(c, top, start, "blue")
        busy += starts
    top = y + ROW * warps + 6
    c.text(LEFT - 8, top + 12, "units", size=13, anchor="end", bold=True)
    c.box(LEFT, top - 2, RIGHT - LEFT, ROW - 1, edge="soft", width=1, radius=3)
    for start in busy:
        _bar(c, top, start, "orange")
    return top + ROW


def draw(c: Canvas) -> None:
    c.text(8, 20, "one warp", size=14, bold=True)
    c.text(RIGHT, 20, f"busy {COMPUTES} of {COMPUTES + WAITS} cycles", size=13, anchor="end", color="soft")
    end = _warps(c, 32, 1)
    c.text(_x(COMPUTES + WAITS / 2), end + 12, "waits for memory", size=13, anchor="middle", color="soft")
    c.text(8, 126, f"{WARPS} warps", size=14, bold=True)
    c.text(RIGHT, 126, "always busy", size=13, anchor="end", color="soft")
    end = _warps(c, 138, WARPS)
    for cycle in range(0, CYCLES + 1, 100):
        c.line((_x(cycle), end + 4), (_x(cycle), end + 9), edge="soft", width=1)
        if cycle % 200 == 0:
            c.text(_x(cycle), end + 24, str(cycle), size=13, anchor="middle", color="soft")
    c.text(RIGHT, end + 24, "cycles", size=13, anchor="end", color="soft")


FIGURE = Figure(
    "latency_hiding", WIDTH, HEIGHT, "Latency hidden by other warps",
    """Two timelines of 700 cycles. Above, one warp computes for 50 cycles, waits 300 cycles for memory,
    computes for 50 cycles and waits again; the arithmetic units are busy for 50 of 350 cycles. Below, seven
    warps do the same, each 50 cycles later than the one before; when the last one has computed, the first
    one's data have arrived, and the units are always busy.""",
    draw,
)  # fmt: skip
