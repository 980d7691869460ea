"""Padding, the first stage of kernels that apply windows."""

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

Pairs = Mapping[int, tuple[int, int]]  # the padding before and after an axis; a negative amount crops


def padded(x: Tensor, pairs: Pairs, value: Value, name: str) -> Tensor:
    """Pad `x` with `value` before and after its axes by the amounts `pairs`; return `x` itself where all are
    0.
    """
    if not any(before or after for before, after in pairs.values()):
        return x
    sizes = dims(x)
    shape = [dim + sum(pairs.get(axis, (0, 0))) for axis, dim in enumerate(sizes)]

    def element(*i: Value) -> Value:
        inside, source = [], list(i)
        for axis, (before, after) in pairs.items():
            source[axis] = i[axis] - before if before else i[axis]
            inside += [i[axis] >= before] * (before > 0) + [source[axis] < sizes[axis]] * (after > 0)
        return guarded(every(inside), x(*source), value)

    return stage(shape, element, name)
