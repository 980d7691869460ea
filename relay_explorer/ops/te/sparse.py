"""Tensors that are mostly one number, given by the coordinates of their other elements, or by rows.

Coordinates and row starts are data: what lies outside of the tensor is left out (the interpreter raises an
error), so no kernel writes where it must not.
"""

from __future__ import annotations

from typing import Any

from .binary import plus
from .imperative import Buffers, each, int64, local, loops, repeat_while, together, when
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
    narrowed,
    number,
    product,
    reduce_axes,
    select,
    stage,
    sum_over,
    sum_type,
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


def _row_ends(starts: Any, row: Value, most: Any) -> tuple[Value, Value]:
    """Where a row begins and ends among the values."""
    return (
        te.max(starts[row].astype("int64"), int64(0)),
        te.min(starts[row + 1].astype("int64"), int64(most)),
    )


def _walk(ends: tuple[Value, Value]) -> Any:
    """The place in a row, and a loop until its end."""
    place = local(1, "int64")
    place[0] = ends[0]
    return place, repeat_while(place[0] < ends[1])


def sparse_dense(call: Lowered) -> list[Tensor]:
    """Row by row of the sparse matrix, or block by block."""
    x, values, columns, starts = call.inputs
    dtype = dtype_of(x)
    high, wide = dims(values)[1:] or (1, 1)
    rows, batch, inner = (dims(starts)[0] - 1) * high, dims(x)[0], dims(x)[1]
    kind = sum_type(dtype)
    blocks = len(values.shape) == 3

    def body(ins: Buffers, outs: Buffers) -> None:
        (data, value, column, start), (found,) = ins, outs
        with together(rows) as row, each(batch) as n:
            total = local(1, kind)
            total[0] = number(0, kind)
            place, loop = _walk(_row_ends(start, te.floordiv(row, high), dims(values)[0]))
            with loop:
                with each(wide) as w:
                    at = column[place[0]].astype("int64") * wide + w
                    with when(every([at >= 0, at < int64(inner)])):
                        weight = value[place[0], te.floormod(row, high), w] if blocks else value[place[0]]
                        total[0] = total[0] + cast(weight, kind) * cast(data[n, at], kind)
                place[0] = place[0] + 1
            found[row, n] = total[0]

    product_ = loops([((rows, batch), kind)], [x, values, columns, starts], body, f"{call.name}_sums")[0]
    if call.attrs.sparse_lhs:
        return [narrowed(product_, dtype, call.name)]
    return [stage((batch, rows), lambda n, row: cast(product_(row, n), dtype), call.name)]


def sparse_add(call: Lowered) -> list[Tensor]:
    x, values, columns, starts = call.inputs
    rows, width = dims(x)

    def body(ins: Buffers, outs: Buffers) -> None:
        (data, value, column, start), (found,) = ins, outs
        with together(rows) as row:
            with each(width) as j:
                found[row, j] = data[row, j]
            place, loop = _walk(_row_ends(start, row, dims(values)[0]))
            with loop:
                at = column[place[0]].astype("int64")
                with when(every([at >= 0, at < int64(width)])):
                    found[row, at] = plus(found[row, at], value[place[0]])
                place[0] = place[0] + 1

    return loops([(dims(x), dtype_of(x))], [x, values, columns, starts], body, call.name)


def sparse_transpose(call: Lowered) -> list[Tensor]:
    """Counts the values of each column, adds the counts up, and puts every value at its column's next
    place.
    """
    values, columns, starts = call.inputs
    count, size = dims(values)[0], dims(starts)[0] - 1

    def body(ins: Buffers, outs: Buffers) -> None:
        (value, column, start), (turned, rows, begin, following) = ins, outs
        one = number(1, dtype_of(starts))
        with each(size + 1) as i:
            begin[i] = number(0, dtype_of(starts))
        with each(count) as n, when(_valid(column[n], size)):
            begin[column[n] + 1] = begin[column[n] + 1] + one
        with each(size) as i:
            begin[i + 1] = begin[i + 1] + begin[i]
            following[i] = begin[i]
        with each(size) as row:
            place, loop = _walk(_row_ends(start, row, count))
            with loop:
                at = column[place[0]]
                with when(_valid(at, size)):
                    turned[following[at]] = value[place[0]]
                    rows[following[at]] = row.astype(dtype_of(columns))
                    following[at] = following[at] + one
                place[0] = place[0] + 1

    kinds = [((count,), dtype_of(values)), ((count,), dtype_of(columns)), ((size + 1,), dtype_of(starts))]
    results = [*kinds, ((size,), dtype_of(starts))]
    return loops(results, [values, columns, starts], body, call.name, slice(3), call.target)


def _valid(column: Value, size: Any) -> Value:
    at = column.astype("int64")
    return every([at >= 0, at < int64(size)])
