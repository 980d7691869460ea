"""The speed of one layer in every tile, from a measurement: it rises with the tile, until the registers are
used up.
"""

from __future__ import annotations

import math

from figures.canvas import Canvas, Figure
from figures.tuning_data import measured

WIDTH, HEIGHT = 480, 330
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 46, 52
REGISTERS = 32
HUES = {1: "hue-blue", 2: "hue-orange", 4: "hue-purple"}
LEAST, MOST = 1, 112


def _speeds() -> dict[int, list[tuple[int, float]]]:
    """By the channels of a tile: sums that it holds, and GFLOP/s."""
    data = measured()
    found: dict[int, list[tuple[int, float]]] = {}
    for one in data["space"]:
        sums = one["channels"] * one["columns"]
        found.setdefault(one["channels"], []).append((sums, data["flops"] / one["seconds"] / 1e9))
    return found


SPEEDS = _speeds()
HIGHEST = 50 * math.ceil(max(speed for row in SPEEDS.values() for _, speed in row) / 50)


def _x(sums: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * math.log(sums / LEAST) / math.log(MOST / LEAST)


def _y(speed: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * speed / HIGHEST


def _mark(c: Canvas, x: float, y: float, channels: int, hue: str) -> None:
    """A circle, a square or a triangle."""
    if channels == 1:
        c.circle(x, y, 4.5, fill="paper", edge=hue)
    elif channels == 2:
        c.box(x - 4, y - 4, 8, 8, fill=hue, edge=hue, radius=0)
    else:
        c.path(f"M{x:.1f} {y - 5:.1f}L{x + 5:.1f} {y + 4:.1f}L{x - 5:.1f} {y + 4:.1f}Z", fill=hue, edge=hue)


def draw(c: Canvas) -> None:
    for speed in range(0, HIGHEST + 1, 50):
        c.line((LEFT, _y(speed)), (WIDTH - RIGHT, _y(speed)), edge="line", width=1)
        c.text(LEFT - 7, _y(speed) + 4, str(speed), size=12, colour="soft", anchor="end")
    c.text(4, 14, "GFLOP/s", size=12.5, colour="soft")
    for sums in (1, 2, 4, 8, 16, 32, 64):
        c.text(_x(sums), HEIGHT - BOTTOM + 18, str(sums), size=12, colour="soft", anchor="middle")
    c.text(WIDTH - RIGHT, HEIGHT - 12, "vectors of sums in the tile", size=12.5, colour="soft", anchor="end")
    c.line((_x(REGISTERS), TOP - 10), (_x(REGISTERS), HEIGHT - BOTTOM), edge="bad", dashed=True)
    c.text(_x(REGISTERS) - 6, TOP - 14, "32 registers", size=12.5, colour="bad", anchor="end")
    for number, (channels, row) in enumerate(SPEEDS.items()):
        hue = HUES[channels]
        c.line(*[(_x(sums), _y(speed)) for sums, speed in row], edge=hue)
        for total, reached in row:
            _mark(c, _x(total), _y(reached), channels, hue)
        x = (10, 122, 196)[number]
        _mark(c, x, HEIGHT - 16, channels, hue)
        c.text(x + 10, HEIGHT - 12, f"{channels} wide" if number else "1 vector wide", size=12.5)


FIGURE = Figure(
    "tile_space", WIDTH, HEIGHT, "The speed of one layer in every tile",
    "Speed in GFLOP/s against the number of vectors of sums in a tile, for tiles of one, two and four "
    "vectors of channels. It rises with the tile and falls again where the sums come near to the number of "
    "registers. "
    + "; ".join(
        f"{channels} wide: " + ", ".join(f"{sums} sums {speed:.0f}" for sums, speed in row)
        for channels, row in SPEEDS.items()
    )
    + ".",
    draw,
)  # fmt: skip
