"""Tensors that are mostly one number, given by the coordinates of their other elements, or by rows.

Coordinates and row starts are data: what lies outside of the tensor is left out (the interpreter raises an
error), so no kernel writes where it must not.
"""

from __future__ import annotations

from typing import Any

from .imperative import Buffers, each, int64, loops, when
from .library import te, tirx
from .lowered import Lowered
from .reduce import products_from
from .tensors import (
    Tensor,
    Value,
    cast,
    dims,
    dtype_of,
    every,
    guarded,
    known,
    number,
    product,
    reduce_axes,
    select,
    stage,
    sum_over,
    unravel,
)


def sparse_to_dense(call: Lowered) -> list[Tensor]:
    """Of two elements at one place the last counts."""
    indices, values, default = call.inputs
    shape, dtype = call.out_shape, call.out.dtype
    rank = len(shape)
    rows = dims(indices)[0] if len(indices.shape) else 1

    def body(ins: Buffers, outs: Buffers) -> None:
        (where, new, other), (found,) = ins, outs
        with each(product(shape)) as n:
            found[tuple(unravel(n, shape))] = cast(other[()], dtype)
        with each(rows) as row:
            at = [_coordinate(where, indices, row, axis).astype("int64") for axis in range(rank)]
            inside = [te.all(i >= 0, i < int64(dim)) for i, dim in zip(at, shape, strict=True)]
            with when(every(inside)):
                found[tuple(at)] = new[row] if len(values.shape) else new[()]

    return loops([(shape, dtype)], [indices, values, default], body, call.name)


def _coordinate(where: Any, indices: Tensor, row: Value, axis: int) -> Value:
    """A coordinate of an element: one number is an element of a vector, a vector elements of one."""
    return where[(row, axis)[: len(indices.shape)]]


def sparse_reshape(call: Lowered) -> list[Tensor]:
    """Shapes are data: the place of each element in row-major order is taken apart anew."""
    indices, before, after = call.inputs
    (old,), (new,) = dims(before), dims(after)
    rows, dtype = dims(indices)[0], dtype_of(indices)
    if known(old) is None or known(new) is None:
        return _reshaped_of_any_rank(call)

    def place(row: Value) -> Value:
        total: Any = number(0, "int64")
        for axis in range(old):
            total = total * before(axis).astype("int64") + indices(row, axis).astype("int64")
        return total

    total, given = number(1, "int64"), number(1, "int64")
    for axis in range(old):
        total = total * before(axis).astype("int64")
    for axis in range(new):
        size = after(axis).astype("int64")
        given = given * select(size == -1, number(1, "int64"), size)
    rest = tirx.truncdiv(total, tirx.max(given, 1))

    def extent(axis: Any) -> Value:
        size = after(axis).astype("int64")
        return select(size == -1, rest, size)

    def coordinate(row: Value, column: Value) -> Value:
        left, found = place(row), number(0, "int64")
        for axis in range(new - 1, -1, -1):
            size = tirx.max(extent(axis), 1)
            first = axis == 0
            found = select(column == axis, left if first else tirx.truncmod(left, size), found)
            left = tirx.truncdiv(left, size)
        if old != new:
            return found.astype(dtype)
        return select(unchanged(), indices(row, column), found.astype(dtype))

    def unchanged() -> Value:
        """Whether both shapes are one: then coordinates stay, also those beyond the shape."""
        return every([extent(axis) == before(axis).astype("int64") for axis in range(new)])

    shape = stage((new,), lambda axis: cast(extent(axis), dtype_of(after)), f"{call.name}_shape")
    return [stage((rows, new), coordinate, call.name), shape]


def _reshaped_of_any_rank(call: Lowered) -> list[Tensor]:
    """The same, where only a run tells how many axes there are."""
    indices, before, after = call.inputs
    (old,), (new,), one = dims(before), dims(after), number(1, "int64")

    def said(axis: Value) -> Value:
        return after(axis).astype("int64")

    steps = products_from(lambda axis: before(axis).astype("int64"), old, f"{call.name}_before")
    given = products_from(lambda axis: select(said(axis) == -1, one, said(axis)), new, f"{call.name}_given")

    def extent(axis: Value) -> Value:
        rest = tirx.truncdiv(steps(0), tirx.max(given(0), 1))
        return select(said(axis) == -1, rest, said(axis))

    turned = products_from(lambda axis: tirx.max(extent(axis), 1), new, f"{call.name}_after")
    (k,) = reduce_axes([old])
    places = stage(
        dims(indices)[:1],
        lambda row: sum_over(indices(row, k).astype("int64") * steps(k + 1), [k]),
        f"{call.name}_places",
    )

    (m,) = reduce_axes([new])
    differs = guarded(m < old, extent(m) != before(m).astype("int64"), tirx.const(True, "bool"))
    changes = stage((1,), lambda _: sum_over(cast(differs, "int64"), [m]), f"{call.name}_changes")

    def coordinate(row: Value, column: Value) -> Value:
        left = tirx.truncdiv(places(row), turned(column + 1))
        within = tirx.truncmod(left, tirx.max(extent(column), 1))
        moved = select(column == 0, left, within).astype(dtype_of(indices))
        unchanged = every([changes(0) == 0, old == new])
        return guarded(unchanged, indices(row, column), moved)

    shape = stage((new,), lambda axis: cast(extent(axis), dtype_of(after)), f"{call.name}_shape")
    return [stage((dims(indices)[0], new), coordinate, call.name), shape]


# -- matrices by rows: values, the column of each, and where each row begins
