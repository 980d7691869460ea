"""Operators that cut a box out of a tensor, or put one into it."""

from __future__ import annotations

from typing import Any

from ..relation import normal_axes
from ..slice import slice_plan
from .library import te, tirx
from .lowered import Lowered
from .tensors import Tensor, Value, dims, every, guarded, known, number, select, stage


def strided_slice(call: Lowered) -> list[Tensor]:
    """Bounds are brought into the axis as Python does it."""
    x = call.inputs[0]
    starts: list[Any] = [0] * len(x.shape)
    steps = [1] * len(x.shape)
    shape = list(dims(x))
    for axis, begin, end, stride in slice_plan(call.attrs, len(x.shape)):
        starts[axis], shape[axis] = _taken(shape[axis], begin, end, stride)
        steps[axis] = stride

    def value(*i: Value) -> Value:
        return x(
            *[start + at * step if step != 1 else at + start for at, start, step in zip(i, starts, steps)]
        )

    return [stage(shape, value, call.name)]


def _taken(dim: Any, begin: int, end: int, stride: int) -> tuple[Any, Any]:
    """The first place that a slice takes on an axis, and how many it takes."""
    low, high = (0, dim) if stride > 0 else (-1, dim - 1)
    first, last = (_clipped(bound, dim, low, high) for bound in (begin, end))
    length = last - first if stride > 0 else first - last
    step = abs(stride)
    if isinstance(length, int):
        return first, max(0, -(-length // step))
    return first, tirx.max(te.floordiv(length + (step - 1), step), 0)


def _clipped(bound: int, dim: Any, low: Any, high: Any) -> Any:
    """A bound, counted from the end where it is negative, brought between `low` and `high`."""
    if isinstance(dim, int):
        return min(max(bound + dim if bound < 0 else bound, low), high)
    if bound == 0 and known(low) == 0:
        return 0
    if bound >= 2**62:
        return high
    return tirx.max(tirx.min(bound + dim if bound < 0 else number(bound, "int64"), high), low)


def slice_like(call: Lowered) -> list[Tensor]:
    x, like = call.inputs
    shape = list(x.shape)
    axes = range(len(like.shape)) if call.attrs.axes is None else normal_axes(call.attrs.axes, len(shape))
    for axis in axes:
        shape[axis] = like.shape[axis]
    return [stage(shape, lambda *i: x(*i), call.name)]


def strided_set(call: Lowered) -> list[Tensor]:
    """Bounds are data: each element asks whether it lies in the box, and reads the value there.

    The values are read at places that they have, also where the box is larger.
    """
    x, v, begin, end, strides = call.inputs

    def value(*i: Value) -> Value:
        inside, place = [], []
        for axis, (at, dim) in enumerate(zip(i, x.shape, strict=True)):
            step = _given(strides, axis, number(1, "int64"))
            first, last = _box(begin, end, axis, dim, step)
            offset = select(step > 0, at - first, first - at)
            size = select(step > 0, step, 0 - step)
            size = tirx.max(size, number(1, "int64"))
            within = select(step > 0, tirx.all(at >= first, at < last), tirx.all(at <= first, at > last))
            inside.append(tirx.all(within, tirx.truncmod(offset, size) == 0))
            whole = tirx.truncdiv(offset, size)
            place.append(0 if known(v.shape[axis]) == 1 else tirx.max(tirx.min(whole, v.shape[axis] - 1), 0))
        return guarded(every(inside), v(*place), x(*i))

    return [stage(x.shape, value, call.name)]


def _given(vector: Tensor, axis: int, default: Value) -> Value:
    """A number of a vector that has one for each of the first axes."""
    return vector(axis).astype("int64") if axis < int(vector.shape[0]) else default


def _box(begin: Tensor, end: Tensor, axis: int, dim: Any, step: Value) -> tuple[Value, Value]:
    """Where the box begins and ends on an axis, as Python's slices do."""
    size = tirx.Cast("int64", dim)
    back = step < 0
    low = select(back, number(-1, "int64"), number(0, "int64"))
    high = select(back, size - 1, size)

    def clipped(bound: Value) -> Value:
        return tirx.max(tirx.min(select(bound < 0, bound + size, bound), high), low)

    first = (
        clipped(_given(begin, axis, tirx.const(0, "int64")))
        if axis < int(begin.shape[0])
        else select(back, high, low)
    )
    last = clipped(_given(end, axis, size)) if axis < int(end.shape[0]) else select(back, low + 1, high)
    return first, last
