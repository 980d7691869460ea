"""Finds how many adjacent elements of a row a kernel can read as one vector.

A vector that crosses from one block of channels to the next, or from one row to the next, may read elements
that are apart in memory. Such a gather takes an instruction for each element, so narrower vectors are faster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ir.ndarray import itemsize
from ..require import tvm
from .access import parts_of
from .rewriting import substituted

MIN_BYTES = 16  # of a vector: the width of the narrowest registers
MIN_LANES = 4

Place = Callable[[int, int], Any]  # of the element that is read for a row and a column


def narrower_lanes(block: Any, size: int, lanes: int) -> int:
    """Return the lanes of a vector that divides rows of `size` elements and crosses no gap in any operand, if
    that is narrower than a register of `lanes`, but has at least 16 bytes. Return 0 where there is none, or
    where whole registers cross no gaps either.
    """
    if len(block.iter_vars) < 2 or size < MIN_LANES:
        return 0
    bounds = tvm().sym.Analyzer()

    def gap(place: Place, before: tuple[int, int], after: tuple[int, int]) -> bool:
        return not bounds.can_prove_equal(place(*after) - place(*before), 1)

    reads = [(place, blocked) for place, blocked in _reads(block) if not gap(place, (0, 0), (0, 1))]
    if not any(blocked for _, blocked in reads) and size % lanes == 0:
        return 0
    apart = bool(size % lanes) and any(gap(place, (0, size - 1), (1, 0)) for place, _ in reads)
    gaps = [
        column
        for column in range(MIN_LANES, min(lanes, size), MIN_LANES)
        if any(blocked and gap(place, (0, column - 1), (0, column)) for place, blocked in reads)
    ]
    if not apart and not gaps:
        return 0
    least = max(MIN_LANES, MIN_BYTES // itemsize(str(block.writes[0].source.dtype)))
    while lanes > least and (size % lanes or any(column < lanes for column in gaps)):
        lanes //= 2
    return 0 if size % lanes or any(column < lanes for column in gaps) else lanes


def _reads(block: Any) -> list[tuple[Place, bool]]:
    """Return the operands of which a block reads one element that depends on the column, its last axis: the
    element's place in memory, and whether the columns are in blocks.
    """
    *_, row, column = [axis.var for axis in block.iter_vars]
    result: list[tuple[Place, bool]] = []
    for region in block.reads:
        sizes = region.source.shape
        single = all(hasattr(part.extent, "value") and int(part.extent) == 1 for part in region.region)
        if not single or not all(hasattr(size, "value") for size in sizes):
            continue
        whole: Any = 0
        for part, size in zip(region.region, sizes):
            whole = whole * int(size) + part.min
        kinds = {type(part).__name__ for part in parts_of(whole)} if hasattr(whole, "ty") else set()
        if not hasattr(whole, "ty") or not any(part.same_as(column) for part in parts_of(whole)):
            continue

        def place(y: int, x: int, whole: Any = whole) -> Any:
            return substituted(whole, {row: y, column: x})

        result.append((place, bool(kinds & {"FloorDiv", "FloorMod"})))
    return result
