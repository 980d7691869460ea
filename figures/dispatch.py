"""What each executor adds to small kernels: the measured table of `benchmarks/executors.py`, drawn."""

from __future__ import annotations

import json
import math
from pathlib import Path

from figures.canvas import Canvas, Figure

DATA = Path(__file__).parents[1] / "benchmarks" / "executors.json"
WIDTH, LEFT, RIGHT = 480, 112, 62
BAR, GAP, HEAD, TOP = 16, 5, 26, 30
NAMES = {"interpreter": "interpreter", "vm": "machine", "graph": "graph", "aot": "ahead of time"}
HUES = {"interpreter": "hue-teal", "vm": "hue-blue", "graph": "hue-orange", "aot": "hue-purple"}


def _steps() -> dict[str, dict[str, float]]:
    """By program and executor: microseconds a step."""
    data = json.loads(DATA.read_text("utf-8"))
    return {
        name: {executor: seconds * 1e6 / data["steps"][name] for executor, seconds in found.items()}
        for name, found in data["seconds"].items()
    }


STEPS = _steps()
_ALL = [micro for found in STEPS.values() for micro in found.values()]
LOWEST, MOST = 10 ** math.floor(math.log10(min(_ALL))), 10 ** math.ceil(math.log10(max(_ALL)))
HEIGHT = TOP + sum(HEAD + len(found) * (BAR + GAP) for found in STEPS.values()) + 6


def _x(micro: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * math.log(micro / LOWEST) / math.log(MOST / LOWEST)


def draw(c: Canvas) -> None:
    mark = LOWEST
    while mark <= MOST * 1.01:
        c.line((_x(mark), TOP - 6), (_x(mark), HEIGHT - 6), edge="line", width=1)
        c.text(_x(mark), TOP - 12, f"{mark:g} µs", size=12, colour="soft", anchor="middle")
        mark *= 10
    y = float(TOP)
    for name, found in STEPS.items():
        c.text(4, y + 15, name, size=14, bold=True)
        y += HEAD
        for executor, micro in found.items():
            c.text(LEFT - 8, y + 12.5, NAMES[executor], size=12.5, colour="soft", anchor="end")
            hue = HUES[executor]
            c.box(LEFT, y, max(_x(micro) - LEFT, 2), BAR, fill=f"{hue}-fill", edge=hue, width=1, radius=2)
            c.text(_x(micro) + 6, y + 12.5, f"{micro:.2g} µs" if micro < 10 else f"{micro:.0f} µs", size=12.5)
            y += BAR + GAP


def _words() -> str:
    return "; ".join(
        f"{name}: " + ", ".join(f"{NAMES[executor]} {micro:.2g} µs" for executor, micro in found.items())
        for name, found in STEPS.items()
    )


FIGURE = Figure(
    "dispatch", WIDTH, HEIGHT, "What a step costs under each executor",
    f"Bars, on a logarithmic scale: the time of a step of three programs of very small kernels. {_words()}.",
    draw,
)  # fmt: skip
