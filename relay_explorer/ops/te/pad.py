"""Operators that put elements around or between those of a tensor.

TOPI's `pad` takes the value as a number; Relay's is an argument of the program. TOPI's reflection reaches
once across the data; NumPy's, and so Relay's, as often as it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .library import te, tirx
from .lowered import Lowered
from .tensors import (
    Tensor,
    Value,
    cast,
    clamp,
    converted,
    dims,
    dtype_of,
    every,
    guarded,
    quotient,
    remainder,
    select,
    stage,
)

Pairs = Mapping[int, tuple[int, int]]  # how much goes before and after an axis; a negative amount is cut off


def padded(x: Tensor, pairs: Pairs, value: Value, name: str) -> Tensor:
    """`x` with as much of `value` before and after its axes as `pairs` says; `x` itself where that is
    nothing.
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


def pad(call: Lowered) -> list[Tensor]:
    (x, value), attrs = call.inputs, call.attrs
    pairs = {axis: (int(before), int(after)) for axis, (before, after) in enumerate(attrs.pad_width)}
    if attrs.pad_mode == "constant":
        around = cast(value(*[0] * len(value.shape)), dtype_of(x))
        found = padded(x, pairs, around, call.name)
        return [stage(x.shape, lambda *i: x(*i), call.name) if found is x else found]
    return [_continued(x, pairs, _edge if attrs.pad_mode == "edge" else _reflected, call.name)]


def mirror_pad(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    pairs = {axis: (int(before), int(after)) for axis, (before, after) in enumerate(attrs.pad_width)}
    return [_continued(x, pairs, _mirrored if attrs.mode == "SYMMETRIC" else _reflected, call.name)]


def _continued(x: Tensor, pairs: Pairs, place: Callable[[Value, Any], Value], name: str) -> Tensor:
    """`x` continued beyond its edges by elements of its own: `place` says which, from where it would lie."""
    sizes = dims(x)
    shape = [dim + sum(pairs[axis]) for axis, dim in enumerate(sizes)]

    def element(*i: Value) -> Value:
        return x(
            *[
                place(at - pairs[axis][0], dim) if max(pairs[axis]) > 0 else at - pairs[axis][0]
                for axis, (at, dim) in enumerate(zip(i, sizes, strict=True))
            ]
        )

    return stage(shape, element, name)


def _edge(at: Value, dim: Any) -> Value:
    return clamp(at, 0, dim - 1)


def _mirrored(at: Value, dim: Any) -> Value:
    """The edge comes twice."""
    return select(at < 0, -at - 1, select(at >= dim, 2 * dim - 1 - at, at))


def _reflected(at: Value, dim: Any) -> Value:
    """The edge comes once, and the data to and fro as often as it takes."""
    if isinstance(dim, int) and dim <= 1:
        return at * 0
    turn = 2 * (dim - 1)
    within = te.floormod(at, turn)
    return tirx.min(within, turn - within)


def dilate(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    dtype = dtype_of(x)
    shape = [_spaced(dim, stride) for dim, stride in zip(dims(x), attrs.strides, strict=True)]

    def element(*i: Value) -> Value:
        apart = [(at, stride) for at, stride in zip(i, attrs.strides, strict=True) if stride != 1]
        between = converted(attrs.dilation_value, dtype)
        here = x(*[quotient(at, stride) for at, stride in zip(i, attrs.strides, strict=True)])
        if not apart:
            return here
        return guarded(every([remainder(at, stride) == 0 for at, stride in apart]), here, between)

    return [stage(shape, element, call.name)]


def _spaced(dim: Any, stride: int) -> Any:
    if stride == 1:
        return dim
    return max(0, (dim - 1) * stride + 1) if isinstance(dim, int) else (dim - 1) * stride + 1
