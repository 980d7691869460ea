"""Reductions: operators that reduce whole axes of a tensor to one element each.

Where TOPI differs from Relay:

* its `max` and `min` lose NaN, and its `argmax` does not find it, whereas NumPy's do;
* its `argmax` of a row of -∞ is -1, which is not an index;
* its accumulators of half precision are half precision: the sum of 70,000 ones is 2,048, after which adding
  1 changes nothing. Here they are float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...ir.once import once
from .binary import whole_quotient
from .library import te, tirx, tvm
from .lowered import Lowered, Lowering
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
    product,
    ravel,
    select,
    some,
    stage,
    summed,
)


class Folded:
    """The axes that a call reduces, and the conversion of an index of the result, with reduction
    variables, to one of the data.
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
        """Return the index into the data for the index `i` of the result."""
        return self._with(self.axes, i)

    def kept(self, i: Sequence[Value]) -> list[Value]:
        """Return the index into a tensor like the data whose reduced axes have extent 1."""
        return self._with(dict.fromkeys(self.axes, 0), i)

    def _with(self, folded: dict[int, Any], i: Sequence[Value]) -> list[Value]:
        rest = iter(i)
        index = []
        for axis in range(self.rank):
            if axis in folded:
                index.append(folded[axis])
                if self.keep:
                    next(rest)
            else:
                index.append(next(rest))
        return index

    def over(self) -> list[Any]:
        return list(self.axes.values())


_COMBINED: dict[str, Any] = {
    "prod": lambda a, b: a * b,
    "max": greater_of,
    "min": lesser_of,
}
_IDENTITIES: dict[str, Any] = {
    "prod": lambda dtype: number(1, dtype),
    "max": least,
    "min": most,
}


@once
def _reducer(name: str) -> Any:
    """Return TVM's reducer `name`, with its identity element."""
    _register(name)
    return te.comm_reducer(_COMBINED[name], _IDENTITIES[name], name=name)


def _register(name: str) -> None:
    """Register a reducer with TVM's schedules, which may split it because the order does not matter.

    TVM's registry outlives the Python interpreter, so the functions that it holds must never be freed.
    """
    combine, identity = _COMBINED[name], _IDENTITIES[name]
    functions = (
        tvm.runtime.convert(lambda a, b: [combine(a[0], b[0])]),
        tvm.runtime.convert(lambda values: [identity(dtype_of(values[0]))]),
    )
    import ctypes  # on demand, because few programs reduce tensors

    for function in functions:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(function))
    tvm.get_global_func("s_tir.schedule.RegisterReducer")(1, *functions)


def fold_value(name: str, value: Value, axes: Sequence[Any]) -> Value:
    """Reduce a value over axes; over an empty axis, return the identity element."""
    if over_nothing(axes):
        return _IDENTITIES[name](dtype_of(value))
    return _reducer(name)(value, axis=list(axes))


def greatest(value: Value, axes: Sequence[Any]) -> Value:
    """Return the greatest of all values over `axes`; NaN where one is NaN."""
    return fold_value("max", value, axes)


def products_from(extent: Callable[[Value], Value], count: Any, name: str) -> Tensor:
    """Compute the products of the extents (int64) of `count` axes from each axis on, followed by a 1."""
    k = te.reduce_axis((0, count), name="k")
    one = number(1, "int64")
    return stage((count + 1,), lambda axis: fold_value("prod", select(k >= axis, extent(k), one), [k]), name)


def fold_lowering(name: str, of_truths: str) -> Lowering:
    """Make the lowering of the reduction `name`; of booleans, `of_truths`: "all" or "any"."""

    def lower(call: Lowered) -> list[Tensor]:
        x, fold = call.inputs[0], Folded(call)
        if not fold.axes:
            return [stage(fold.shape, lambda *i: x(*fold.index(i)), call.name)]
        if dtype_of(x) == "bool":
            return [_of_truths(of_truths, fold, call)]
        return [stage(fold.shape, lambda *i: fold_value(name, x(*fold.index(i)), fold.over()), call.name)]

    return lower


def _of_truths(name: str, fold: Folded, call: Lowered) -> Tensor:
    """Compute "all" or "any" as the minimum or maximum of 0s and 1s, which TVM can vectorize; on a GPU, in a
    type that threads can exchange.
    """
    kind = {"all": "min", "any": "max"}[name]
    x, dtype = call.inputs[0], "int32" if call.target.kind == "cuda" else "int8"
    folded = stage(
        fold.shape,
        lambda *i: fold_value(kind, x(*fold.index(i)).astype(dtype), fold.over()),
        f"{call.name}_number",
    )
    return stage(fold.shape, lambda *i: folded(*i) > number(0, dtype), call.name)


def sum_stage(call: Lowered, fold: Folded, dtype: str, name: str) -> Tensor:
    x = call.inputs[0]
    if dtype_of(x) == "bool":
        return fold_lowering("any", "any")(call)[0]
    return summed(fold.shape, lambda *i: x(*fold.index(i)), fold.over(), dtype, name)


def per(total: Value, count: Any) -> Value:
    """Divide `total` by a number of elements, rounded towards zero for integers."""
    dtype = dtype_of(total)
    if is_float(dtype):
        if known(count) == 0:
            return number(math.nan, dtype)
        return total / (number(count, dtype) if isinstance(count, int) else count.astype(dtype))
    wide = "int64" if is_signed(dtype) else "uint64"
    whole = number(count, wide) if isinstance(count, int) else count.astype(wide)
    return cast(whole_quotient(cast(total, wide), whole), dtype)


def wide_type(dtype: str) -> str:
    return "float32" if dtype in NARROW or dtype == "bool" else dtype


# -- positions


def place_of(value: Value, best: Value, place: Any, axes: Sequence[Any], last: bool) -> Value:
    """Return the first index over `axes`, or the last, whose value is `best`, which a previous stage has
    computed.

    One reduction could carry both the best value and its index, but TVM generates wrong code for such a pair
    when the loop around it is vectorized.
    """
    if is_float(dtype_of(value)):
        here = some([tirx.EQ(value, best), every([is_nan(value), is_nan(best)])])
    else:
        here = tirx.EQ(value, best)
    nowhere = number(-1, "int32") if last else tirx.max_value("int32")
    return (te.max if last else te.min)(select(here, place.astype("int32"), nowhere), axis=list(axes))
