"""Products of 8-bit integers, added up in 16 bits and in 32 bits."""

from __future__ import annotations

from itertools import pairwise

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 232
PRODUCT = 127 * 127
LEAST, MOST = -(2**15), 2**15 - 1
LEFT, RIGHT, LINE = 40.0, 440.0, 120


def wrapped(total: int, bits: int) -> int:
    """Return the number that `bits` bits hold instead of `total`."""
    half: int = 2 ** (bits - 1)
    return (total + half) % (2 * half) - half


def products_that_fit(bits: int) -> int:
    """Return how many greatest products an accumulator can add."""
    most: int = 2 ** (bits - 1) - 1
    return most // PRODUCT


def _x(value: int) -> float:
    return LEFT + (value - LEAST) / (MOST - LEAST) * (RIGHT - LEFT)


def _text(value: int) -> str:
    return f"{value:,}".replace("-", "−")


def draw(c: Canvas) -> None:
    c.text(10, 24, "Three products 127 · 127, added in 16 bits", size=14.5, bold=True)
    c.line((LEFT, LINE), (RIGHT, LINE), edge="edge", width=2)
    for end, value in ((LEFT, LEAST), (RIGHT, MOST)):
        c.line((end, LINE - 8), (end, LINE + 8), edge="edge", width=2)
        c.text(end, LINE + 26, _text(value), size=13, anchor="middle", mono=True)
    sums = [0, PRODUCT, 2 * PRODUCT]
    for before, after in pairwise(sums):
        _hop(c, _x(before), _x(after), "known")
    for total in sums:
        c.circle(_x(total), LINE, 4, fill="known", edge="known")
    for total in sums[:2]:
        c.text(_x(total), LINE + 26, _text(total), size=13, anchor="middle", mono=True)
    c.text(_x(sums[2]) - 6, LINE - 44, _text(sums[2]), size=13, anchor="end", mono=True)
    c.line((_x(sums[2]) - 14, LINE - 40), (_x(sums[2]) - 2, LINE - 8), edge="soft")
    wrong = wrapped(3 * PRODUCT, 16)
    c.path(f"M{_x(sums[2]):.1f} {LINE + 4}C{_x(sums[2]):.1f} {LINE + 76} {_x(wrong):.1f} {LINE + 76} "
           f"{_x(wrong):.1f} {LINE + 9}", edge="hue-orange", dashed=True)  # fmt: skip
    c.head(_x(wrong), LINE + 6, -1.571, "hue-orange")
    c.circle(_x(wrong), LINE, 4, fill="hue-orange", edge="hue-orange")
    c.text(_x(wrong), LINE - 14, _text(wrong), size=13, anchor="middle", mono=True, color="hue-orange")
    c.text(280, LINE + 74, "the third product wraps around", size=13.5, color="hue-orange", anchor="middle")
    c.text(10, HEIGHT - 8, f"32 bits hold {products_that_fit(32):,} such products.", size=13.5)


def _hop(c: Canvas, start: float, end: float, edge: str) -> None:
    top = LINE - 40
    bend = f"{start + 12:.1f} {top} {end - 12:.1f} {top} {end - 2:.1f} {LINE - 8}"
    c.path(f"M{start:.1f} {LINE - 6}C{bend}", edge=edge)
    c.head(end - 1, LINE - 5, 1.2, edge)


FIGURE = Figure(
    "accumulator_wraps", WIDTH, HEIGHT, "An accumulator of 16 bits overflows",
    """A line from minus 32,768 to 32,767, the range of 16 bits. Two hops of 127 times 127 lead from 0 to
    16,129 and to 32,258. The third hop would leave the range; it wraps around to minus 17,149. 32 bits hold
    133,144 such products.""",
    draw,
)  # fmt: skip
