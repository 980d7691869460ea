"""What each layer of passes is worth: the measured table of `benchmarks/layers_of_passes.py`, drawn."""

from __future__ import annotations

import json
import math
from pathlib import Path

from figures.canvas import Canvas, Figure

DATA = Path(__file__).parents[1] / "benchmarks" / "layers_of_passes.json"
WIDTH, LEFT, RIGHT = 480, 168, 44
BAR, GAP, HEAD, TOP = 14, 4, 24, 30
LOWEST = 0.5


def _speeds() -> tuple[list[str], dict[str, list[float]]]:
    """The names of the layers; for each network, and for all, the speed with each against none."""
    data = json.loads(DATA.read_text("utf-8"))
    speeds = {name: [times[0] / t for t in times] for name, times in data["seconds"].items()}
    means = [math.prod(each) ** (1 / len(speeds)) for each in zip(*speeds.values())]
    return data["layers"], speeds | {"geometric mean": means}


LAYERS, SPEEDS = _speeds()
GROUP = HEAD + len(LAYERS) * (BAR + GAP)
HEIGHT = TOP + len(SPEEDS) * GROUP + 8
MOST = 2 ** math.ceil(math.log2(max(max(each) for each in SPEEDS.values())))


def _x(speed: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * math.log(speed / LOWEST) / math.log(MOST / LOWEST)


def _draw(c: Canvas) -> None:
    mark = LOWEST
    while mark <= MOST:
        c.line((_x(mark), TOP - 4), (_x(mark), HEIGHT - 6), edge="edge" if mark == 1 else "line", width=1)
        c.text(_x(mark), TOP - 10, f"{mark:g}×", size=12, colour="soft", anchor="middle")
        mark *= 2
    for number, (name, speeds) in enumerate(SPEEDS.items()):
        y = TOP + number * GROUP
        c.text(4, y + 15, name, size=14, bold=True)
        for index, (layer, speed) in enumerate(zip(LAYERS, speeds)):
            top = y + HEAD + index * (BAR + GAP)
            start, end = sorted((_x(1), _x(speed)))
            c.text(LEFT - 8, top + 11, layer, size=12, colour="soft", anchor="end")
            hue = "hue-blue" if index else "hue-grey"
            c.box(start, top, max(end - start, 2), BAR, fill=f"{hue}-fill", edge=hue, width=1, radius=2)
            c.text(max(end, _x(1)) + 5, top + 11.5, f"{speed:.2f}", size=12)


def _words() -> str:
    return "; ".join(
        f"{name}: " + ", ".join(f"{layer} {speed:.2f}" for layer, speed in zip(LAYERS, speeds))
        for name, speeds in SPEEDS.items()
    )


FIGURE = Figure(
    "layers_of_passes", WIDTH, HEIGHT, "What each layer of passes is worth",
    f"Bars: the speed of compiled networks against that without passes, on a logarithmic scale. {_words()}.",
    _draw,
)  # fmt: skip
