"""Boxes by two corners, in kernels that are written as loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .imperative import each, int32, local, when
from .library import te, tirx
from .sort import merge_sort
from .tensors import Value, every, number, select

Box = Callable[[int], Value]  # its number k: left, top, right, bottom


def ordered(box: Box, k: int) -> Value:
    """The k-th coordinate, with the lesser of two first."""
    return te.min(box(k), box(k + 2)) if k < 2 else te.max(box(k - 2), box(k))


def overlap(a: Box, b: Box, dtype: str, pixel: float = 0.0) -> Value:
    """The intersection of two boxes as a part of their union; 0 for empty ones. `pixel` is what a side
    measures more than the difference of its ends.
    """
    zero, one = number(0, dtype), number(1, dtype)
    sides: list[list[Value]] = [[], [], []]  # of what is shared, of `a`, and of `b`
    for k in range(2):
        shared = te.min(a(k + 2), b(k + 2)) - te.max(a(k), b(k))
        sides[0].append(te.max(_wider(shared, pixel, dtype), zero))
        sides[1].append(_wider(a(k + 2) - a(k), pixel, dtype))
        sides[2].append(_wider(b(k + 2) - b(k), pixel, dtype))
    shared, first, second = (side[0] * side[1] for side in sides)
    union = first + second - shared
    return select(union > zero, shared / select(union > zero, union, one), zero)


def _wider(side: Value, pixel: float, dtype: str) -> Value:
    return side + number(pixel, dtype) if pixel else side


def best_first(row: Value, count: Value, score: Callable[[Value], Value], places: Any, spare: Any) -> None:
    """Fills `places[row]` with 0 to `count` - 1 by score, the greatest first, equal ones in their order and
    NaN last.
    """
    merge_sort(row, count, lambda place: -score(place), places, spare, ascending=True)


def keep(
    count: Value,
    most: Value | None,
    candidate: Callable[[Value], Value],
    too_close: Callable[[Value, Value], Value],
    kept: Any,
) -> Any:
    """Fills `kept` with the places, best first, of those candidates that are too close to none kept before,
    and gives their number (`kept` and that number are buffers).
    """
    stay, gone = local(1, "int32"), local(1, "bool")
    stay[0] = number(0, "int32")
    with each(count) as place:
        gone[0] = tirx.Not(candidate(place))
        if most is not None:
            gone[0] = tirx.any(gone[0], stay[0] >= most)
        with each(stay[0]) as n, when(tirx.Not(gone[0])), when(too_close(kept[n], place)):
            gone[0] = number(True, "bool")
        with when(every([tirx.Not(gone[0])])):
            kept[stay[0]] = int32(place)
            stay[0] = stay[0] + 1
    return stay
