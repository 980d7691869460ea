"""Places as stretches of addresses: the largest tensors first, each as low as those that live with it allow.

Buffers that are handed on as a whole keep the size of their largest tensor all the time. Here a small one may
lie in what a large one leaves, and two beside each other where a larger one was. It is the heuristic called
greedy by size, for offsets: Y. Pisarchyk and J. Lee, Efficient Memory Management for Deep Neural Net
Inference (arXiv 2001.03288). The time that it takes grows with the pairs of tensors that live together.
"""

from __future__ import annotations

from collections.abc import Mapping

from .liveness import Lifetime


def packed(sizes: Mapping[int, int], lives: Mapping[int, Lifetime]) -> dict[int, int]:
    """The offset of each tensor, from sizes in bytes and lifetimes: no two that live at one time overlap."""
    alive: dict[int, list[int]] = {}  # at each step, those that have a place
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


def _lowest(size: int, taken: list[tuple[int, int]]) -> int:
    """The lowest address with `size` free bytes, between stretches that are taken, in order."""
    at = 0
    for begin, end in taken:
        if begin - at >= size:
            break
        at = max(at, end)
    return at
