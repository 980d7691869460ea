"""The same kernel again and again: each run's time, from a measurement, and the shortest so far."""

from __future__ import annotations

from itertools import accumulate

from figures.canvas import Canvas, Figure
from figures.tuning_data import measured

WIDTH, HEIGHT = 480, 250
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 26, 36
RUNS: list[float] = [seconds * 1e6 for seconds in measured()["noise"]]
BEST = min(RUNS)
CUT = 1.3  # times the best; longer runs are drawn at the edge


def _x(number: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * number / len(RUNS)


def _y(micro: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (micro / BEST - 0.98) / (CUT - 0.98)


def draw(c: Canvas) -> None:
    for part in (1.0, 1.1, 1.2, 1.3):
        c.line((LEFT, _y(BEST * part)), (WIDTH - RIGHT, _y(BEST * part)), edge="line", width=1)
        c.text(LEFT - 7, _y(BEST * part) + 4, f"{part:.1f}×", size=12, colour="soft", anchor="end")
    c.text(4, 14, "time, against the shortest", size=12.5, colour="soft")
    c.text(
        WIDTH - RIGHT,
        HEIGHT - 10,
        f"{len(RUNS)} runs, one after the other",
        size=12.5,
        colour="soft",
        anchor="end",
    )
    for number, micro in enumerate(RUNS):
        y = max(_y(micro), TOP)
        c.box(_x(number) - 1.2, y - 1.2, 2.4, 2.4, fill="hue-blue", edge="none", radius=1.2)
    steps: list[tuple[float, float]] = []
    for number, least in enumerate(accumulate(RUNS, min)):
        y = max(_y(least), TOP)
        if steps and abs(steps[-1][1] - y) > 0.05:
            steps += [(_x(number), steps[-1][1]), (_x(number), y)]
        elif not steps:
            steps.append((_x(number), y))
    c.line(*steps, (_x(len(RUNS)), steps[-1][1]), edge="hue-orange", width=2)


FIGURE = Figure(
    "noise", WIDTH, HEIGHT, "One kernel, run again and again",
    f"""A dot for the time of each of {len(RUNS)} runs of one kernel, against the shortest of them, and a line
    for the shortest so far. Most runs are within a tenth of the shortest, some take much longer, none is much
    shorter; the line comes down in a few steps and stays.""",
    draw,
)  # fmt: skip
