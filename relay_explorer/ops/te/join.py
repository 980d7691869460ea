"""Operators that make one tensor of several, several of one, or one of its own copies; and broadcasting."""

from __future__ import annotations

from collections.abc import Sequence

from .library import te
from .lowered import Lowered
from .tensors import (
    Shape,
    Tensor,
    Value,
    dims,
    dtype_of,
    element,
    guarded,
    known,
    number,
    quotient,
    remainder,
    stage,
    summed,
)


def concatenate(call: Lowered) -> list[Tensor]:
    parts: Sequence[Tensor] = call.inputs[0]
    axis = call.attrs.axis % len(parts[0].shape)
    first = dims(parts[0])
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + dims(part)[axis])
    used = [(part, start) for part, start in zip(parts, starts, strict=False) if known(dims(part)[axis]) != 0]

    def value(*i: Value) -> Value:
        def read(part: Tensor, start: Value) -> Value:
            return part(*i[:axis], i[axis] - start, *i[axis + 1 :])

        found = read(*(used or [(parts[0], 0)])[-1])
        for (part, start), (_, end) in zip(used[-2::-1], used[:0:-1], strict=True):
            found = guarded(i[axis] < end, read(part, start), found)
        return found

    return [stage((*first[:axis], starts[-1], *first[axis + 1 :]), value, call.name)]


def stack(call: Lowered) -> list[Tensor]:
    parts: Sequence[Tensor] = call.inputs[0]
    shape = parts[0].shape
    axis = call.attrs.axis % (len(shape) + 1)

    def value(*i: Value) -> Value:
        rest = (*i[:axis], *i[axis + 1 :])
        found = parts[-1](*rest)
        for number_, part in reversed(list(enumerate(parts[:-1]))):
            found = guarded(i[axis] == number_, part(*rest), found)
        return found

    return [stage((*shape[:axis], len(parts), *shape[axis:]), value, call.name)]


def split(call: Lowered) -> list[Tensor]:
    x, cuts = call.inputs[0], call.attrs.indices_or_sections
    axis = call.attrs.axis % len(x.shape)
    size = dims(x)[axis]
    if isinstance(cuts, int):
        each = quotient(size, cuts)
        starts = [each * n for n in range(cuts)]
    else:
        starts = [0, *cuts]
    ends = [*starts[1:], size]

    def part(start: Value, end: Value) -> Tensor:
        shape = (*x.shape[:axis], end - start, *x.shape[axis + 1 :])
        return stage(shape, lambda *i: x(*i[:axis], i[axis] + start, *i[axis + 1 :]), call.name)

    return [part(start, end) for start, end in zip(starts, ends, strict=True)]


def repeat(call: Lowered) -> list[Tensor]:
    x, times = call.inputs[0], call.attrs.repeats
    axis = call.attrs.axis % len(x.shape)
    shape = (*x.shape[:axis], dims(x)[axis] * times, *x.shape[axis + 1 :])
    return [stage(shape, lambda *i: x(*i[:axis], quotient(i[axis], times), *i[axis + 1 :]), call.name)]


def tile(call: Lowered) -> list[Tensor]:
    x, reps = call.inputs[0], call.attrs.reps
    rank = max(len(x.shape), len(reps))
    sizes = (1,) * (rank - len(x.shape)) + dims(x)
    counts = (1,) * (rank - len(reps)) + tuple(reps)
    return [tiled(x, [size * count for size, count in zip(sizes, counts, strict=True)], call.name)]


def tiled(x: Tensor, shape: Shape, name: str) -> Tensor:
    """Copies of `x` side by side, in `shape`."""
    lead = len(shape) - len(x.shape)
    if any(known(dim) == 0 for dim in dims(x)):
        return stage(shape, lambda *i: number(0, dtype_of(x)), name)  # there are no elements

    def value(*i: Value) -> Value:
        return x(
            *[
                at if known(dim) is not None and known(dim) == known(out) else remainder(at, dim)
                for at, dim, out in zip(i[lead:], dims(x), shape[lead:], strict=True)
            ]
        )

    return stage(shape, value, name)


def meshgrid(call: Lowered) -> list[Tensor]:
    vectors: Sequence[Tensor] = call.inputs[0]
    order = list(range(len(vectors)))
    if call.attrs.indexing == "xy" and len(vectors) > 1:
        order[:2] = [1, 0]
    extents = [vector.shape[0] if len(vector.shape) else 1 for vector in vectors]
    shape = [extents[n] for n in order]

    def grid(vector: Tensor, axis: int) -> Tensor:
        if not len(vector.shape):
            return stage(shape, lambda *i: vector(), call.name)
        return stage(shape, lambda *i: vector(i[axis]), call.name)

    return [grid(vector, order.index(n)) for n, vector in enumerate(vectors)]


# -- broadcasting, and what takes it back


def broadcast_to(call: Lowered) -> list[Tensor]:
    x, shape = call.inputs[0], call.out_shape
    return [stage(shape, lambda *i: element(x, i, shape), call.name)]


def broadcast_to_like(call: Lowered) -> list[Tensor]:
    x, like = call.inputs
    shape = dims(like)
    return [stage(shape, lambda *i: element(x, i, shape), call.name)]


def collapse_sum_like(call: Lowered) -> list[Tensor]:
    x, like = call.inputs
    return [_collapsed(x, dims(like), call.name)]


def collapse_sum_to(call: Lowered) -> list[Tensor]:
    """The second argument only repeats the shape, which the type tells where it is known."""
    return [_collapsed(call.inputs[0], call.out_shape, call.name)]


def _collapsed(x: Tensor, shape: Shape, name: str) -> Tensor:
    """`x` summed over the axes along which broadcasting from `shape` repeats."""
    lead = len(x.shape) - len(shape)
    folded = {
        axis: te.reduce_axis((0, dim), name=f"k{axis}")
        for axis, dim in enumerate(dims(x))
        if axis < lead or (known(shape[axis - lead]) == 1 and known(dim) != 1)
    }

    def value(*i: Value) -> Value:
        return x(*[folded[axis] if axis in folded else i[axis - lead] for axis in range(len(x.shape))])

    return summed(shape, value, list(folded.values()), dtype_of(x), name)
