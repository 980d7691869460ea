"""Reductions: operators that fold whole axes of a tensor into one number each.

Where TOPI differs from Relay:

* its `max` and `min` lose NaN, and its `argmax` does not find it, where NumPy's do;
* its `argmax` of a row of -∞ is -1, no position at all;
* it adds half-precision numbers up in half precision: the sum of 70,000 ones is 2,048, after which adding 1
  changes nothing. Here such sums are kept in float32.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from ..lowering import Lowered, Lowering
from .binary import whole_quotient
from .tensors import (
    NARROW,
    Tensor,
    Value,
    cast,
    dims,
    dtype_of,
    every,
    greater_of,
    is_float,
    is_nan,
    is_signed,
    known,
    least,
    lesser_of,
    most,
    number,
    over_nothing,
    plain,
    product,
    ravel,
    select,
    some,
    stage,
    summed,
    te,
    tirx,
)


class Folded:
    """The axes that a call folds: how an index of the result, and the folded places, become one of the
    data.
    """

    def __init__(self, call: Lowered) -> None:
        x, attrs = call.inputs[0], call.attrs
        self.rank, self.keep, sizes = len(x.shape), attrs.keepdims, dims(x)
        named = {axis % self.rank for axis in attrs.axis or ()}
        folded = [axis for axis in range(self.rank) if not attrs.axis or (axis in named) != attrs.exclude]
        self.axes = {axis: te.reduce_axis((0, sizes[axis]), name=f"k{axis}") for axis in folded}
        self.count = product([sizes[axis] for axis in folded])
        self.place = ravel(list(self.axes.values()), [sizes[axis] for axis in folded])
        self.shape = [
            1 if axis in self.axes else dim
            for axis, dim in enumerate(sizes)
            if self.keep or axis not in self.axes
        ]

    def index(self, i: Sequence[Value]) -> list[Value]:
        """The index into the data, where the result is at `i`."""
        return self._with(self.axes, i)

    def kept(self, i: Sequence[Value]) -> list[Value]:
        """The index into a tensor like the data with its folded axes as 1."""
        return self._with(dict.fromkeys(self.axes, 0), i)

    def _with(self, folded: dict[int, Any], i: Sequence[Value]) -> list[Value]:
        rest = iter(i)
        found = []
        for axis in range(self.rank):
            if axis in folded:
                found.append(folded[axis])
                if self.keep:
                    next(rest)
            else:
                found.append(next(rest))
        return found

    def over(self) -> list[Any]:
        return list(self.axes.values())


_COMBINED: dict[str, Any] = {
    "all": lambda a, b: tirx.all(a, b),
    "any": lambda a, b: tirx.any(a, b),
    "prod": lambda a, b: a * b,
    "max": greater_of,
    "min": lesser_of,
}
_IDENTITIES: dict[str, Any] = {
    "all": lambda dtype: number(True, dtype),
    "any": lambda dtype: number(False, dtype),
    "prod": lambda dtype: number(1, dtype),
    "max": least,
    "min": most,
}


@cache
def _reducer(name: str) -> Any:
    """The reduction of that name, with the value that changes nothing."""
    return te.comm_reducer(_COMBINED[name], _IDENTITIES[name], name=name)


def _folded(name: str, value: Value, axes: Sequence[Any]) -> Value:
    """A reduction over axes; over an empty one what changes nothing."""
    if over_nothing(axes):
        return _IDENTITIES[name](dtype_of(value))
    return _reducer(name)(value, axis=list(axes))


def greatest(value: Value, axes: Sequence[Any]) -> Value:
    """The greatest of all values over `axes`; NaN where one is NaN."""
    return _folded("max", value, axes)


def _fold(name: str, of_truths: str) -> Lowering:
    """A reduction; of truth values it is the one called `of_truths`."""

    def lower(call: Lowered) -> list[Tensor]:
        x, fold = call.inputs[0], Folded(call)
        if not fold.axes:
            return [stage(fold.shape, lambda *i: x(*fold.index(i)), call.name)]
        kind = of_truths if dtype_of(x) == "bool" else name
        return [stage(fold.shape, lambda *i: _folded(kind, x(*fold.index(i)), fold.over()), call.name)]

    return lower


max = _fold("max", "any")
min = _fold("min", "all")
all = _fold("all", "all")
any = _fold("any", "any")


def sum(call: Lowered) -> list[Tensor]:
    return [_total(call, Folded(call), dtype_of(call.inputs[0]), call.name)]


def _total(call: Lowered, fold: Folded, dtype: str, name: str) -> Tensor:
    x = call.inputs[0]
    if dtype_of(x) == "bool":
        return _fold("any", "any")(call)[0]
    return summed(fold.shape, lambda *i: x(*fold.index(i)), fold.over(), dtype, name)


def prod(call: Lowered) -> list[Tensor]:
    """Half-precision numbers are multiplied in float32."""
    x, fold = call.inputs[0], Folded(call)
    dtype = dtype_of(x)
    if dtype == "bool" or dtype not in NARROW or not fold.axes:
        return list(_fold("prod", "all")(call))
    wide = stage(
        fold.shape,
        lambda *i: _folded("prod", x(*fold.index(i)).astype("float32"), fold.over()),
        f"{call.name}_wide",
    )
    return [stage(fold.shape, lambda *i: wide(*i).astype(dtype), call.name)]


def per(total: Value, count: Any) -> Value:
    """`total` of so many elements, divided by their number; of integers the whole part."""
    dtype = dtype_of(total)
    if is_float(dtype):
        if known(count) == 0:
            return number(math.nan, dtype)
        return total / (number(count, dtype) if isinstance(count, int) else count.astype(dtype))
    wide = "int64" if is_signed(dtype) else "uint64"
    whole = number(count, wide) if isinstance(count, int) else count.astype(wide)
    return cast(whole_quotient(cast(total, wide), whole), dtype)


def _wide(dtype: str) -> str:
    return "float32" if dtype in NARROW or dtype == "bool" else dtype


def mean(call: Lowered) -> list[Tensor]:
    fold, dtype = Folded(call), dtype_of(call.inputs[0])
    total = _total(call, fold, _wide(dtype), f"{call.name}_sum")
    return [stage(fold.shape, lambda *i: cast(per(total(*i), fold.count), dtype), call.name)]


def variance(call: Lowered) -> list[Tensor]:
    (x, middle), fold = call.inputs, Folded(call)
    dtype = dtype_of(x)
    wide = _wide(dtype)

    def square(*i: Value) -> Value:
        apart = cast(x(*fold.index(i)), wide) - cast(middle(*fold.kept(i)), wide)
        return apart * apart

    total = summed(fold.shape, square, fold.over(), wide, f"{call.name}_sum")
    count = fold.count - int(call.attrs.unbiased)
    return [stage(fold.shape, lambda *i: cast(per(total(*i), count), dtype), call.name)]


# -- positions


@cache
def searcher(greater: bool, last: bool) -> Any:
    """Finds (position, value) of the greatest or least value: the first of equal ones, or the last."""

    def better(a: Value, b: Value) -> Value:
        first = a > b if greater else a < b
        return some([first, every([is_nan(a), tirx.Not(is_nan(b))])]) if is_float(dtype_of(a)) else first

    def equal(a: Value, b: Value) -> Value:
        return some([a == b, every([is_nan(a), is_nan(b)])]) if is_float(dtype_of(a)) else a == b

    def combine(a: tuple[Value, Value], b: tuple[Value, Value]) -> tuple[Value, Value]:
        before = a[0] > b[0] if last else a[0] < b[0]
        stays = some([better(a[1], b[1]), every([equal(a[1], b[1]), before])])
        return select(stays, a[0], b[0]), select(stays, a[1], b[1])

    def identity(position: str, value: str) -> tuple[Value, Value]:
        nowhere = number(-1, position) if last else tirx.max_value(position)
        return nowhere, least(value) if greater else most(value)

    return te.comm_reducer(combine, identity, name="argmax" if greater else "argmin")


def _position(greater: bool) -> Lowering:
    def lower(call: Lowered) -> list[Tensor]:
        x, fold = call.inputs[0], Folded(call)
        if not fold.axes:
            return [stage(fold.shape, lambda *i: number(0, "int32"), call.name)]
        find = searcher(greater, call.attrs.select_last_index)
        found = stage(
            fold.shape,
            lambda *i: find((_as_int32(fold.place), plain(x(*fold.index(i)))), axis=fold.over()),
            f"{call.name}_found",
        )
        return [stage(fold.shape, lambda *i: found[0](*i), call.name)]

    return lower


def _as_int32(place: Value) -> Value:
    return place.astype("int32")


argmax = _position(True)
argmin = _position(False)
