"""Running sums and products, and other operators that treat a tensor as a row or a matrix."""

from __future__ import annotations

from typing import Any

from .imperative import Buffers, each, int32, local, loops, together, when
from .library import tirx
from .lowered import Lowered, Lowering
from .sort import comes_before, order
from .tensors import (
    Tensor,
    Value,
    cast,
    clamp,
    converted,
    dims,
    dtype_of,
    every,
    number,
    product,
    select,
    some,
    stage,
    sum_type,
    unravel,
)


def _running(times: bool) -> Lowering:
    """A running sum, or product, along an axis, or of the flattened tensor. Half-precision numbers are added
    up in float32, truth values counted.
    """

    def lower(call: Lowered) -> list[Tensor]:
        x, attrs = call.inputs[0], call.attrs
        dtype = attrs.dtype or dtype_of(x)
        shape = dims(x) if attrs.axis is not None else (product(dims(x)),)
        axis = 0 if attrs.axis is None else attrs.axis % len(shape)
        wide = sum_type(dtype)

        def body(ins: Buffers, outs: Buffers) -> None:
            (data,), (found,) = ins, outs
            others = (*shape[:axis], *shape[axis + 1 :])
            with together(product(others)) as row:
                rest = unravel(row, others)
                total = local(1, wide)
                total[0] = number(1 if times else 0, wide)
                with each(shape[axis]) as i:
                    place = (*rest[:axis], i, *rest[axis:])
                    source = place if attrs.axis is not None else unravel(i, dims(x))
                    if attrs.exclusive:
                        found[place] = cast(total[0], dtype)
                    here = cast(cast(data[tuple(source)], dtype), wide)
                    total[0] = total[0] * here if times else total[0] + here
                    if not attrs.exclusive:
                        found[place] = cast(total[0], dtype)

        return loops([(shape, dtype)], [x], body, call.name)

    return lower


cumsum = _running(times=False)
cumprod = _running(times=True)


def sequence_mask(call: Lowered) -> list[Tensor]:
    (x, lengths), attrs = call.inputs, call.attrs
    dtype, kind = dtype_of(x), dtype_of(lengths)
    mask = converted(attrs.mask_value, dtype)

    def value(*i: Value) -> Value:
        within = cast(i[attrs.axis], kind) < lengths(i[1 - attrs.axis])
        return select(within, x(*i), mask)

    return [stage(x.shape, value, call.name)]


def invert_permutation(call: Lowered) -> list[Tensor]:
    """TOPI has no such operator. What is no permutation leaves zeros (the interpreter raises an error)."""
    x = call.inputs[0]
    size, dtype = dims(x)[0], dtype_of(x)

    def body(ins: Buffers, outs: Buffers) -> None:
        (data,), (found,) = ins, outs
        with each(size) as i:
            found[i] = number(0, dtype)
        with each(size) as i:
            place = data[i].astype("int64")
            with when(every([place >= 0, place < size])):
                found[place] = i.astype(dtype)

    return loops([((size,), dtype)], [x], body, call.name)


def matrix_set_diag(call: Lowered) -> list[Tensor]:
    """The highest diagonal comes first; a short one lies at the left or the right end of its row."""
    (x, diagonal), attrs = call.inputs, call.attrs
    rows, columns = dims(x)[-2:]
    width = dims(diagonal)[-1]

    def value(*i: Value) -> Value:
        row, column = i[-2:]
        k = column - row
        length = tirx.min(rows + tirx.min(k, 0), columns - tirx.max(k, 0))
        right = select(
            k > 0,
            number(attrs.super_diag_right_align, "bool"),
            number(attrs.sub_diag_right_align, "bool"),
        )
        apart = width - length
        place = tirx.min(row, column) + select(right, apart, apart * 0)
        at = clamp(place, 0, width - 1)
        which = [] if attrs.k1 == attrs.k2 else [clamp(attrs.k2 - k, 0, attrs.k2 - attrs.k1)]
        given = diagonal(*i[:-2], *which, at)
        return select(every([k >= attrs.k1, k <= attrs.k2]), given, x(*i))

    return [stage(x.shape, value, call.name)]


def trilu(call: Lowered) -> list[Tensor]:
    x, k = call.inputs
    zero = number(0, dtype_of(x))

    def value(*i: Value) -> Value:
        apart, limit = (i[-1] - i[-2]).astype("int64"), k().astype("int64")
        return select(apart >= limit if call.attrs.upper else apart <= limit, x(*i), zero)

    return [stage(x.shape, value, call.name)]


def unique(call: Lowered) -> list[Tensor]:
    """Equal elements stand together in the order of the sort, which also keeps the first of them first."""
    x, attrs = call.inputs[0], call.attrs
    (size,), dtype = dims(x), dtype_of(x)
    places = order(x, 0, True, f"{call.name}_order")

    def body(ins: Buffers, outs: Buffers) -> None:
        (data, sorted_places), (values, first, inverse, count, counts, ids) = ins, outs
        with each(size) as i:
            values[i], first[i] = number(0, dtype), number(0, "int32")
            counts[i], ids[i] = number(0, "int32"), number(0, "int32")
        groups = local(1, "int32")
        groups[0] = number(0, "int32")
        with each(size) as i:
            here, before = sorted_places[0, i], sorted_places[0, tirx.max(i - 1, 0)]
            with when(some([i == 0, comes_before(data[before], data[here])])):
                first[groups[0]] = here
                groups[0] = groups[0] + 1
            inverse[here] = groups[0] - 1
            counts[groups[0] - 1] = counts[groups[0] - 1] + 1
        count[0] = groups[0]
        if not attrs.sorted:
            _by_appearance(size, (first, inverse, counts, ids), groups)
        with each(groups[0]) as n:
            values[n] = data[first[n]]

    kinds = [((size,), dtype), ((size,), "int32"), ((size,), "int32"), ((1,), "int32")]
    found = loops([*kinds, ((size,), "int32"), ((2 * size,), "int32")], [x, places], body, call.name)
    return found[: 5 if attrs.return_counts else 4]


def _by_appearance(size: Any, rows: tuple[Any, ...], groups: Any) -> None:
    """Numbers the values as they first appear: `ids` has the new number of each, then room for a copy."""
    first, inverse, counts, ids = rows
    following = local(1, "int32")
    following[0] = number(0, "int32")
    with each(size) as i, when(first[inverse[i]] == int32(i)):
        ids[inverse[i]] = following[0]
        following[0] = following[0] + 1
    with each(size) as i:
        inverse[i] = ids[inverse[i]]
    for row in (first, counts):
        with each(groups[0]) as n:
            ids[size + ids[n]] = row[n]
        with each(groups[0]) as n:
            row[n] = ids[size + n]
