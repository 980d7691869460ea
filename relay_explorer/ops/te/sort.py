"""Sorting and selection in kernels.

TOPI calls the runtime's `tvm.contrib.sort`, which a program without TVM's runtime lacks. The merge sort here
is written in loops: it is stable, and NaN is the greatest number, as in NumPy. The first few elements of a
long row are selected without sorting it.

An element of 32 bits or less is mapped to an integer of the same order, the *key*, whose low bits hold its
index in the row. So no two keys are equal, the compared keys are also the values that are moved, and the
merge needs no branch that the processor would have to predict.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .imperative import Buffers, each, int32, local, loops, repeat_while, together, when
from .library import te, tirx
from .tensors import (
    Extent,
    Index,
    Shape,
    Tensor,
    Value,
    dims,
    dtype_of,
    every,
    is_float,
    is_nan,
    number,
    product,
    ravel,
    select,
    some,
    unravel,
)

# The first k elements of a row are selected without sorting it where it is at least SELECTION_RATIO times as
# long: up to MAX_SELECTED of them, or any number where elements have keys, which are collected in batches
# beyond MAX_INSERTED_KEYS.
SELECTION_RATIO = 4
MAX_SELECTED, MAX_INSERTED_KEYS = 256, 16


def comes_before(a: Value, b: Value, ascending: bool = True) -> Value:
    """Return whether `a` must come before `b`. NaN counts as the greatest."""
    if dtype_of(a) == "bool":
        a, b = a.astype("int8"), b.astype("int8")
    first = a < b if ascending else a > b
    if not is_float(dtype_of(a)):
        return first
    nan, other = (b, a) if ascending else (a, b)
    return some([first, every([is_nan(nan), tirx.Not(is_nan(other))])])


def order(x: Tensor, axis: int, ascending: bool, name: str) -> Tensor:
    """Compute the indices (rows, positions) that sort the rows of `x` along `axis`: a merge sort."""
    shape = dims(x)
    others = (*shape[:axis], *shape[axis + 1 :])
    size, rows = shape[axis], product(others)

    def body(ins: Buffers, outs: Buffers) -> None:
        (data,), (places, *work) = ins, outs
        with together(rows) as row:

            def at(place: Value) -> Value:
                rest = unravel(row, others)
                return data[(*rest[:axis], place, *rest[axis:])]

            if len(work) == 1:
                merge_sort(row, int32(size), at, places, work[0], ascending)
            else:
                _sort_keys(row, int32(size), at, places, work, ascending)

    kinds = ["int32", "int64", "int64"] if has_key(dtype_of(x)) else ["int32"] * 2
    return loops([((rows, size), kind) for kind in kinds], [x], body, name)[0]


def has_key(dtype: str) -> bool:
    """Return whether elements of a type map to 32-bit integers of the same order."""
    return not dtype.endswith("64")


def _key(value: Value, place: Value, ascending: bool) -> Value:
    """Build a 64-bit key that sorts like the element, and equal elements by their index."""
    dtype = dtype_of(value)
    if is_float(dtype):
        real = value.astype("float32")
        bits = tirx.reinterpret("int32", real)
        below = tirx.bitwise_and(bits >> number(31, "int32"), number(2**31 - 1, "int32"))
        bits = select(tirx.EQ(real, number(0, "float32")), number(0, "int32"), tirx.bitwise_xor(bits, below))
        whole = select(is_nan(value), number(2**31 - 1, "int32"), bits).astype("int64")
    else:
        wide = (value.astype("int8") if dtype == "bool" else value).astype("int64")
        whole = wide - number(2**31, "int64") if dtype == "uint32" else wide
    whole = whole if ascending else tirx.bitwise_not(whole)
    return tirx.bitwise_or(whole << number(32, "int64"), place.astype("int64"))


def _sort_keys(
    row: Extent, size: Value, at: Callable[[Value], Value], places: Any, work: Buffers, ascending: bool
) -> None:
    """Fill `places[row]` with 0 to `size` - 1, sorted by the keys of the elements `at` them."""
    keys, spare = work
    with each(size) as i:
        keys[row, i] = _key(at(i), i, ascending)
    _merge_keys(row, int32(0), size, keys, spare)
    with each(size) as i:
        places[row, i] = keys[row, i].astype("int32")


def _merge_keys(row: Extent, first: Value, size: Value, keys: Any, spare: Any) -> None:
    """Sort `keys[row]` from the index `first` to before `size`."""
    width = local(1, "int32")
    width[0] = number(1, "int32")
    with repeat_while(width[0] < size - first):
        with each(te.floordiv(size - first + width[0] * 2 - 1, width[0] * 2)) as pair:
            start = first + pair * width[0] * 2
            middle = tirx.min(start + width[0], size)
            _merge_two(row, start, middle, tirx.min(start + width[0] * 2, size), keys, spare)
        with each(size - first) as i:
            keys[row, first + i] = spare[row, first + i]
        width[0] = width[0] * 2


def _merge_two(row: Extent, start: Value, middle: Value, end: Value, keys: Any, spare: Any) -> None:
    """Merge two adjacent runs of keys into `spare`, without a branch on which of two keys is taken."""
    following = local(2, "int32")  # the next element of each run
    following[0], following[1] = start, middle
    with repeat_while(every([following[0] < middle, following[1] < end])):
        left, right = keys[row, following[0]], keys[row, following[1]]
        spare[row, following[0] + following[1] - middle] = tirx.min(left, right)
        takes_right = local(1, "int32")
        takes_right[0] = (right < left).astype("int32")
        following[0] = following[0] + 1 - takes_right[0]
        following[1] = following[1] + takes_right[0]
    with each(middle - following[0]) as n:  # one run is empty
        spare[row, following[0] + n + end - middle] = keys[row, following[0] + n]
    with each(end - following[1]) as n:
        spare[row, following[1] + n] = keys[row, following[1] + n]


def first_places(x: Tensor, axis: int, count: int, ascending: bool, name: str) -> Tensor:
    """Compute the indices (rows, positions) of the first `count` elements of each row in order. They stay
    sorted while the row is read: most elements come after the last of them, and need no further work.
    """
    shape = dims(x)
    others = (*shape[:axis], *shape[axis + 1 :])
    size, rows = shape[axis], product(others)
    batches = count > MAX_INSERTED_KEYS and has_key(dtype_of(x))

    def body(ins: Buffers, outs: Buffers) -> None:
        (data,), (places, *work) = ins, outs
        with together(rows) as row:

            def at(place: Value) -> Value:
                rest = unravel(row, others)
                return data[(*rest[:axis], place, *rest[axis:])]

            if batches:
                _first_keys(row, (int32(size), count), at, places, work, ascending)
                return
            with each(count) as i:
                places[row, i] = int32(0)
            with each(size) as i:
                _enter(row, int32(i), count, at, places, ascending)

    kinds = [((rows, count), "int32")] + [((rows, 2 * count), "int64")] * (2 if batches else 0)
    return loops(kinds, [x], body, name)[0]


def _first_keys(
    row: Value, sizes: tuple[Value, int], at: Callable[[Value], Value], places: Any, work: Buffers, up: bool
) -> None:
    """Collect the elements that come before the last of the `count` sorted ones, until there are `count`
    more; then sort these too, and retain the first `count` of all.
    """
    (size, count), (keys, spare) = sizes, work
    held, ready, limit = local(1, "int32"), local(1, "int32"), local(1, "int64")
    held[0], ready[0], limit[0] = int32(0), int32(0), tirx.max_value("int64")

    def shorten() -> None:
        _merge_keys(row, ready[0], held[0], keys, spare)
        _merge_two(row, int32(0), ready[0], held[0], keys, spare)
        with each(count) as i:
            keys[row, i] = spare[row, i]
        held[0], ready[0], limit[0] = int32(count), int32(count), spare[row, count - 1]

    with each(size) as i:
        key = local(1, "int64")
        key[0] = _key(at(i), i, up)
        with when(key[0] < limit[0]):
            keys[row, held[0]] = key[0]
            held[0] = held[0] + 1
            with when(held[0] >= 2 * count):
                shorten()
    shorten()
    with each(count) as i:
        places[row, i] = keys[row, i].astype("int32")


def _enter(
    row: Value, place: Value, count: int, at: Callable[[Value], Value], places: Any, ascending: bool
) -> None:
    """Insert `place` into the retained indices, after all that it must not precede; the later ones move back,
    and the last is dropped.
    """
    enters, free = local(1, "bool"), local(1, "int32")
    enters[0] = comes_before(at(place), at(places[row, count - 1]), ascending)
    with when(some([place < count, enters[0]])):
        free[0] = tirx.min(place, int32(count - 1))
        enters[0] = tirx.const(True, "bool")
        with repeat_while(every([free[0] > 0, enters[0]])):
            before = places[row, tirx.max(free[0] - 1, int32(0))]
            enters[0] = comes_before(at(place), at(before), ascending)
            with when(enters[0]):
                places[row, free[0]] = before
                free[0] = free[0] - 1
        places[row, free[0]] = place


def merge_sort(
    row: Extent, size: Value, at: Callable[[Value], Value], places: Any, spare: Any, ascending: bool
) -> None:
    """Fill `places[row]` with 0 to `size` - 1, sorted by the elements `at` them."""
    with each(size) as i:
        places[row, i] = int32(i)
    width = local(1, "int32")
    width[0] = number(1, "int32")
    with repeat_while(width[0] < size):
        with each(te.floordiv(size + width[0] * 2 - 1, width[0] * 2)) as pair:
            start = pair * width[0] * 2
            middle = tirx.min(start + width[0], size)
            end = tirx.min(start + width[0] * 2, size)
            _merge(row, (start, middle, end), at, places, spare, ascending)
        with each(size) as i:
            places[row, i] = spare[row, i]
        width[0] = width[0] * 2


def _merge(
    row: Extent,
    runs: tuple[Value, Value, Value],
    at: Callable[[Value], Value],
    places: Any,
    spare: Any,
    ascending: bool,
) -> None:
    """Merge two adjacent runs, from `start` to `middle` and from there to `end`, into `spare`."""
    start, middle, end = runs
    following, right_first = local(2, "int32"), local(1, "bool")  # the next element of each run
    following[0], following[1] = start, middle
    with each(end - start) as n:
        right_first[0] = following[0] >= middle
        with when(every([following[0] < middle, following[1] < end])):
            right, left = at(places[row, following[1]]), at(places[row, following[0]])
            right_first[0] = comes_before(right, left, ascending)
        chosen = tirx.Cast("int32", right_first[0])
        spare[row, start + n] = places[row, following[chosen]]
        following[chosen] = following[chosen] + 1


def row_of(index: Index, shape: Shape, axis: int) -> Extent:
    """Return the flat index of the row along `axis` that contains `index`."""
    return ravel([*index[:axis], *index[axis + 1 :]], [*shape[:axis], *shape[axis + 1 :]])
