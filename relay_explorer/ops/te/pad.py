"""Padding, with which kernels of windows begin, and buffers."""

from __future__ import annotations

from collections.abc import Mapping

from .tensors import (
    Tensor,
    Value,
    dims,
    every,
    guarded,
    stage,
)

Pairs = Mapping[int, tuple[int, int]]  # the padding before and after an axis; a negative amount is cropped


def padded(x: Tensor, pairs: Pairs, value: Value, name: str) -> Tensor:
    """Pad `x` with as much of `value` before and after its axes as `pairs` says; return `x` itself where that
    is nothing.
    """
    if not any(before or after for before, after in pairs.values()):
        return x
    sizes = dims(x)
    shape = [dim + sum(pairs.get(axis, (0, 0))) for axis, dim in enumerate(sizes)]

    def element(*i: Value) -> Value:
        inside, place = [], list(i)
        for axis, (before, after) in pairs.items():
            place[axis] = i[axis] - before if before else i[axis]
            inside += [i[axis] >= before] * (before > 0) + [place[axis] < sizes[axis]] * (after > 0)
        return guarded(every(inside), x(*place), value)

    return stage(shape, element, name)
