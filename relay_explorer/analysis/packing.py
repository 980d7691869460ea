"""Assign addresses to tensors: the largest first, each at the lowest address that the tensors live with it
allow.

Buffers that are reused as a whole always keep the size of their largest tensor. Here, in contrast, a small
tensor may be stored in part of the memory that a large one frees, and two tensors beside each other where a
larger one was. The heuristic is called *greedy by size* for offsets: Y. Pisarchyk and J. Lee, Efficient
Memory Management for Deep Neural Net Inference (arXiv 2001.03288). Its time grows with the number of pairs of
tensors that are live together.
"""

from __future__ import annotations

from collections.abc import Mapping

from .liveness import Lifetime


def packed(sizes: Mapping[int, int], lives: Mapping[int, Lifetime]) -> dict[int, int]:
    """Return the offset of each tensor, from sizes in bytes and lifetimes: no two tensors that are live at
    the same time overlap.
    """
    alive: dict[int, list[int]] = {}  # maps a step to the live tensors that already have an offset
    offsets: dict[int, int] = {}
    for tensor in sorted(sizes, key=lambda t: (-sizes[t], lives[t].made, t)):
        steps = range(lives[tensor].made, lives[tensor].last + 1)
        beside = {other for step in steps for other in alive.get(step, ())}
        offsets[tensor] = _lowest(
            sizes[tensor], sorted((offsets[other], offsets[other] + sizes[other]) for other in beside)
        )
        for step in steps:
            alive.setdefault(step, []).append(tensor)
    return offsets


def _lowest(size: int, occupied: list[tuple[int, int]]) -> int:
    """Return the lowest address with `size` free bytes between occupied ranges, which are sorted."""
    at = 0
    for begin, end in occupied:
        if begin - at >= size:
            break
        at = max(at, end)
    return at
