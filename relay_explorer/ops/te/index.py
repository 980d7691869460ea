"""Operators that take elements by their indices, or put elements at indices.

TOPI reads wherever an index says, except in `take`'s modes "clip" and "wrap". Here no kernel reads or writes
outside of a tensor: a negative index counts from the end, as in NumPy, and one that is out of range is
brought in where it is read, and left out where it is written (the interpreter raises an error).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .binary import whole_quotient
from .imperative import Buffers, each, int32, int64, loops, when
from .library import te, tirx
from .lowered import Lowered
from .places import counted, inside
from .reduce import products_from
from .tensors import (
    Shape,
    Tensor,
    Value,
    broadcast_shape,
    clamp,
    dims,
    dtype_of,
    element,
    every,
    greater_of,
    known,
    lesser_of,
    number,
    product,
    select,
    stage,
    unravel,
)


def take(call: Lowered) -> list[Tensor]:
    """In mode "fast" an index must not be out of range; it is brought in all the same."""
    x, indices = call.inputs
    attrs = call.attrs
    place = _wrapped if attrs.mode == "wrap" else _clipped
    if attrs.axis is None:
        shape = dims(x)
        total = product(shape)
        return [stage(indices.shape, lambda *i: x(*unravel(place(indices(*i), total), shape)), call.name)]
    axis = attrs.axis % len(x.shape)
    batch = attrs.batch_dims + (len(indices.shape) if attrs.batch_dims < 0 else 0)
    chosen = indices.shape[batch:]
    end = axis + len(chosen)

    def value(*i: Value) -> Value:
        at = indices(*i[:batch], *i[axis:end])
        return x(*i[:axis], place(at, x.shape[axis]), *i[end:])

    return [stage((*x.shape[:axis], *chosen, *x.shape[axis + 1 :]), value, call.name)]


def _clipped(index: Value, dim: Any) -> Value:
    return clamp(index.astype("int64"), 0, int64(dim) - 1)


def _wrapped(index: Value, dim: Any) -> Value:
    return te.floormod(index.astype("int64"), int64(dim))


def gather(call: Lowered) -> list[Tensor]:
    x, indices = call.inputs
    axis = call.attrs.axis % len(x.shape)

    def value(*i: Value) -> Value:
        return x(*i[:axis], inside(indices(*i), x.shape[axis]), *i[axis + 1 :])

    return [stage(indices.shape, value, call.name)]


def gather_nd(call: Lowered) -> list[Tensor]:
    x, indices = call.inputs
    batch, length, places = call.attrs.batch_dims, int(indices.shape[0]), len(indices.shape) - 1

    def value(*i: Value) -> Value:
        at = [inside(indices(n, *i[:places]), x.shape[batch + n]) for n in range(length)]
        return x(*i[:batch], *at, *i[places:])

    return [stage((*indices.shape[1:], *x.shape[length + batch :]), value, call.name)]


def adv_index(call: Lowered) -> list[Tensor]:
    x, *indices = call.inputs[0]
    places = broadcast_shape(*[dims(index) for index in indices])

    def value(*i: Value) -> Value:
        here = i[: len(places)]
        at = [inside(element(index, here, places), dim) for index, dim in zip(indices, x.shape, strict=False)]
        return x(*at, *i[len(places) :])

    return [stage((*places, *x.shape[len(indices) :]), value, call.name)]


def unravel_index(call: Lowered) -> list[Tensor]:
    """The extents are data, so each coordinate divides by those after it. Extents of 0 count as 1."""
    indices, shape = call.inputs
    rank, dtype = dims(shape)[0], dtype_of(indices)

    def int64(axis: Value) -> Value:
        return tirx.max(shape(axis).astype("int64"), number(1, "int64"))

    def value(*i: Value) -> Value:
        place = indices(*i[1:]).astype("int64")
        found: Any = number(0, "int64")
        for axis in range(rank - 1, -1, -1):
            found = select(i[0] == axis, tirx.truncmod(place, int64(axis)), found)
            place = tirx.truncdiv(place, int64(axis))
        return found.astype(dtype)

    if known(rank) is not None:
        return [stage((rank, *indices.shape), value, call.name)]
    steps = products_from(int64, rank, f"{call.name}_steps")

    def coordinate(axis: Value, *i: Value) -> Value:
        place = tirx.truncdiv(indices(*i).astype("int64"), steps(axis + 1))
        return tirx.truncmod(place, int64(axis)).astype(dtype)

    return [stage((rank, *indices.shape), coordinate, call.name)]


def _lies(index: Value, dim: Any) -> Value:
    return every([index >= 0, index < int64(dim)])


# -- putting elements at indices


def _combine(there: Value, update: Value, how: str) -> Value:
    """What becomes of an element that is there."""
    boolean = dtype_of(there) == "bool"
    if how == "update":
        return update
    if how == "add":
        return tirx.any(there, update) if boolean else there + update
    if how == "mul":
        return tirx.all(there, update) if boolean else there * update
    if how == "mean":
        total, two = there + update, number(2, dtype_of(there))
        return total / two if "float" in dtype_of(there) else whole_quotient(total, two)
    return greater_of(there, update) if how == "max" else lesser_of(there, update)


def _scattered(call: Lowered, count: Shape, at: Any, how: str) -> list[Tensor]:
    """`data` with updates put one after the other; `at(indices, index)` is where the one at `index` goes."""
    x, indices, updates = call.inputs
    shape = dims(x)

    def body(ins: Buffers, outs: Buffers) -> None:
        (data, where, new), (found,) = ins, outs
        with each(product(shape)) as n:
            place = tuple(unravel(n, shape))
            found[place] = data[place]
        with each(product(count)) as n:
            index = unravel(n, count)
            target = at(where, index)
            with when(every([_lies(i, dim) for i, dim in zip(target, shape, strict=True)])):
                found[tuple(target)] = _combine(found[tuple(target)], new[tuple(index)], how)

    return loops([(shape, dtype_of(x))], [x, indices, updates], body, call.name)


def scatter_elements(call: Lowered) -> list[Tensor]:
    """Of equal indices the last wins, as in NumPy."""
    x = call.inputs[0]
    axis = call.attrs.axis % len(x.shape)

    def at(where: Any, index: Sequence[Value]) -> list[Value]:
        chosen = counted(where[tuple(index)], x.shape[axis])
        return [*[int64(i) for i in index[:axis]], chosen, *[int64(i) for i in index[axis + 1 :]]]

    return _scattered(call, dims(call.inputs[1]), at, call.attrs.reduction)


def scatter_nd(call: Lowered) -> list[Tensor]:
    x, indices, updates = call.inputs
    length, places = int(indices.shape[0]), len(indices.shape) - 1

    def at(where: Any, index: Sequence[Value]) -> list[Value]:
        chosen = [counted(where[(int32(n), *index[:places])], x.shape[n]) for n in range(length)]
        return [*chosen, *[int64(i) for i in index[places:]]]

    return _scattered(call, dims(updates), at, call.attrs.mode)
