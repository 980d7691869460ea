"""Estimates how many of the bytes that a loop nest touches come from beyond a cache.

The model is a cache that holds the bytes touched last, up to its size. Among the loops around a statement, it
finds the innermost ones whose iterations together touch no more than the cache holds. What an iteration of
the next loop shares with the previous one is still in the cache, so everything that this loop touches is
fetched once for each iteration of the loops around it. Memory is fetched in cache lines. The model leaves out
conflict misses and prefetching.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

CACHE_LINE_BYTES = 64  # as on x86 and ARM

Range = tuple[int, int]


class Touch(NamedTuple):
    """An access to an array: the array, the indices, the bytes of an element, the array's shape (-1:
    dynamic), and its total bytes.
    """

    buffer: Any
    indices: tuple[Any, ...]
    width: int
    shape: tuple[int, ...]
    size: int


def fetched(
    touches: Sequence[Touch],
    loops: Sequence[tuple[Any, int]],
    values: Mapping[Any, Any],
    cache: int,
) -> float:
    """Return the bytes that move into or out of a cache of `cache` bytes while `loops` run. Each loop is a
    variable and its trip count, from the outermost inwards; `values` are the expressions that other variables
    are bound to.
    """
    distinct = list({(t.buffer, str(t.indices)): t for t in touches}.values())
    inner = len(loops)
    while inner and _together(distinct, loops, values, inner - 1) <= cache:
        inner -= 1
    # The innermost loop whose footprint no longer fits shares data from one iteration to the next.
    around = 1.0
    for _, trips in loops[: max(0, inner - 1)]:
        around *= trips
    return around * _together(distinct, loops, values, max(0, inner - 1))


def _together(
    touches: Sequence[Touch], loops: Sequence[tuple[Any, int]], values: Mapping[Any, Any], inner: int
) -> float:
    """Return the bytes that several accesses touch while the loops from index `inner` on run. Each array
    counts with the largest footprint of its accesses.
    """
    footprints: dict[Any, float] = {}
    for touch in touches:
        size = _bytes(touch, loops, values, inner)
        footprints[touch.buffer] = max(footprints.get(touch.buffer, 0.0), size)
    return sum(footprints.values())


def _bytes(touch: Touch, loops: Sequence[tuple[Any, int]], values: Mapping[Any, Any], inner: int) -> float:
    """Return the bytes, in whole cache lines, that an access touches while the loops from index `inner` on
    run.
    """
    ranges = {var: (0, trips - 1 if number >= inner else 0) for number, (var, trips) in enumerate(loops)}
    count = 1.0
    for at, (index, size) in enumerate(zip(touch.indices, touch.shape)):
        low, high = range_of(index, ranges, values)
        extent = high - low + 1
        if size > 0:
            extent = min(extent, size)
        if at == len(touch.indices) - 1:
            return count * -(-extent * touch.width // CACHE_LINE_BYTES) * CACHE_LINE_BYTES
        count *= extent
    return float(CACHE_LINE_BYTES)


def range_of(expr: Any, ranges: Mapping[Any, Range], values: Mapping[Any, Any]) -> Range:
    """Return the minimum and maximum of an index. An unknown variable counts as constant."""
    kind = type(expr).__name__
    if isinstance(expr, int):
        return expr, expr
    if kind == "IntImm":
        return int(expr.value), int(expr.value)
    if kind == "Var":
        if expr in ranges:
            return ranges[expr]
        return range_of(values[expr], ranges, values) if expr in values else (0, 0)
    if kind == "Cast":
        return range_of(expr.value, ranges, values)
    if kind not in RULES:
        return 0, 0
    return RULES[kind](range_of(expr.a, ranges, values), range_of(expr.b, ranges, values))


def _product(a: Range, b: Range) -> Range:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _quotient(a: Range, b: Range) -> Range:
    return (a[0] // b[0], a[1] // b[0]) if b[0] == b[1] != 0 else (0, 0)


def _rest(a: Range, b: Range) -> Range:
    if b[0] != b[1] or b[0] <= 0:
        return 0, 0
    return (a[0] % b[0], a[1] % b[0]) if a[0] // b[0] == a[1] // b[0] else (0, b[0] - 1)


RULES: dict[str, Callable[[Range, Range], Range]] = {
    "Add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "Sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "Mul": _product,
    "FloorDiv": _quotient,
    "Div": _quotient,
    "FloorMod": _rest,
    "Mod": _rest,
    "Min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "Max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
}
