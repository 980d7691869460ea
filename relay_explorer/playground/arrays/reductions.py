"""Sums, extremes and products over axes; matrix products."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .core import Array, asarray, broadcast, expanded, function, functions, offsets, strides
from .dtypes import BOOL, FLOAT64, INT64, DType, Number, dtype, promoted


def _axes(axis: Any, ndim: int) -> list[int]:
    chosen = range(ndim) if axis is None else axis if isinstance(axis, (tuple, list, range)) else [axis]
    result = []
    for one in chosen:
        place = int(one)
        if not -ndim <= place < ndim:
            raise ValueError(f"axis {place} is out of bounds for an array of dimension {ndim}")
        result.append(place % ndim)
    return sorted(set(result))


def folded(x: Array, axis: Any, keepdims: bool, f: Callable[[list[Number]], Number], own: DType) -> Array:
    """Reduce axes with a function of the list of their elements."""
    axes = _axes(axis, x.ndim)
    steps = strides(x.shape)
    inner = offsets([[i * steps[a] for i in range(x.shape[a])] for a in axes])
    rest = [a for a in range(x.ndim) if a not in axes]
    outer = offsets([[i * steps[a] for i in range(x.shape[a])] for a in rest])
    values = x.values
    result = own.rounded([f([values[o + i] for i in inner]) for o in outer])
    shape = tuple(1 if a in axes else n for a, n in enumerate(x.shape) if keepdims or a not in axes)
    return Array(shape, own, result)


def _wide(own: DType) -> DType:
    return INT64 if own.kind in "bi" else dtype("uint64") if own.kind == "u" else own


def _total(part: list[Number]) -> Number:
    if part and isinstance(part[0], float):
        try:
            return math.fsum(part)
        except (OverflowError, ValueError):
            return sum(part)
    return sum(part)


def _largest(part: list[Number]) -> Number:
    if not part:
        raise ValueError("zero-size array to a reduction that has no identity")
    return next((p for p in part if p != p), None) or max(part)


def _smallest(part: list[Number]) -> Number:
    if not part:
        raise ValueError("zero-size array to a reduction that has no identity")
    return next((p for p in part if p != p), None) or min(part)


def _mean(part: list[Number]) -> float:
    return _total([float(p) for p in part]) / len(part) if part else math.nan


def _variance(part: list[Number]) -> float:
    middle = _mean(part)
    return _mean([(p - middle) ** 2 for p in part])


def _reduction(name: str, f: Callable[[list[Number]], Number], result: Callable[[DType], DType]) -> None:
    def call(
        a: Any, axis: Any = None, dtype: object = None, keepdims: bool = False, **keywords: Any
    ) -> Array:
        from .dtypes import dtype as named

        x = asarray(a)
        return folded(x, axis, keepdims, f, result(x.dtype) if dtype is None else named(dtype))

    call.__name__ = name
    function(call)


def _real(own: DType) -> DType:
    return own if own.kind == "f" else FLOAT64


for _name, _f, _result in (
    ("sum", _total, _wide),
    ("prod", math.prod, _wide),
    ("mean", _mean, _real),
    ("var", _variance, _real),
    ("std", lambda part: math.sqrt(_variance(part)), _real),
    ("max", _largest, lambda own: own),
    ("min", _smallest, lambda own: own),
    ("amax", _largest, lambda own: own),
    ("amin", _smallest, lambda own: own),
    ("any", any, lambda own: BOOL),
    ("all", all, lambda own: BOOL),
    ("argmax", lambda part: part.index(_largest(part)), lambda own: INT64),
    ("argmin", lambda part: part.index(_smallest(part)), lambda own: INT64),
    ("count_nonzero", lambda part: sum(map(bool, part)), lambda own: INT64),
):  # fmt: skip
    _reduction(_name, _f, _result)


def _running(name: str, f: Callable[[Number, Number], Number]) -> None:
    def call(a: Any, axis: int | None = None, dtype: object = None, **keywords: Any) -> Array:
        from .dtypes import dtype as named

        x = asarray(a)
        if axis is None:
            x, axis = x.ravel(), 0
        own = _wide(x.dtype) if dtype is None else named(dtype)
        x = functions["moveaxis"](x, axis, -1)
        length = x.shape[-1]
        values = own.rounded(x.values)
        for start in range(0, len(values), length or 1):
            for i in range(start + 1, start + length):
                values[i] = own.rounded([f(values[i - 1], values[i])])[0]
        result: Array = functions["moveaxis"](Array(x.shape, own, values), -1, axis)
        return result

    call.__name__ = name
    function(call)


_running("cumsum", lambda p, q: p + q)
_running("cumprod", lambda p, q: p * q)


@function
def matmul(a: Any, b: Any, **keywords: Any) -> Array:
    x, y = asarray(a), asarray(b)
    own = promoted(x.dtype, y.dtype)
    left, right = x.ndim == 1, y.ndim == 1
    x = x.reshape(1, -1) if left else x
    y = y.reshape(-1, 1) if right else y
    (rows, inner), (also, columns) = x.shape[-2:], y.shape[-2:]
    if inner != also:
        raise ValueError(f"matmul: shapes {x.shape} and {y.shape} do not fit")
    lead = broadcast(x.shape[:-2], y.shape[:-2])
    p, q = expanded(x, (*lead, rows, inner)), expanded(y, (*lead, inner, columns))
    values: list[Number] = []
    for block in range(math.prod(lead)):
        first, second = block * rows * inner, block * inner * columns
        transposed = [q[second + j : second + inner * columns : columns] for j in range(columns)]
        for i in range(rows):
            row = p[first + i * inner : first + (i + 1) * inner]
            values += [sum(map(_times, row, column)) for column in transposed]
    shape = (*lead, *(() if left else (rows,)), *(() if right else (columns,)))
    return Array(shape, own, own.rounded(values))


def _times(p: Number, q: Number) -> Number:
    return p * q


@function
def tensordot(a: Any, b: Any, axes: Any = 2) -> Array:
    x, y = asarray(a), asarray(b)
    if isinstance(axes, int):
        axes = (list(range(x.ndim - axes, x.ndim)), list(range(axes)))
    first, second = ([one] if isinstance(one, int) else list(one) for one in axes)
    first, second = [i % x.ndim for i in first], [i % y.ndim for i in second]
    rest, others = ([i for i in range(n) if i not in used] for n, used in ((x.ndim, first), (y.ndim, second)))
    inner = math.prod(x.shape[i] for i in first)
    left = functions["transpose"](x, rest + first).reshape(-1, inner)
    right = functions["transpose"](y, second + others).reshape(inner, -1)
    product: Array = matmul(left, right)
    return product.reshape(*[x.shape[i] for i in rest], *[y.shape[i] for i in others])


@function
def einsum(subscripts: str, *given: Any, **keywords: Any) -> Array:
    """Sum products over the letters that the result does not have; without `...`."""
    arrays = [asarray(one) for one in given]
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if "..." in subscripts:
        most = max(a.ndim - len(t.replace("...", "")) for a, t in zip(arrays, terms))
        names = "ZYXWVUTS"[:most]
        terms = [t.replace("...", names[most - (a.ndim - len(t) + 3) :]) for a, t in zip(arrays, terms)]
        output = output.replace("...", names)
    if not arrow:
        letters = sorted(set("".join(terms)))
        output = "".join(c for c in letters if "".join(terms).count(c) == 1)
    extents: dict[str, int] = {}
    for a, term in zip(arrays, terms):
        for letter, extent in zip(term, a.shape):
            extents[letter] = extent if extents.get(letter, 1) == 1 else extents[letter]
    inner = [letter for letter in extents if letter not in output]
    own = arrays[0].dtype
    for a in arrays[1:]:
        own = promoted(own, a.dtype)
    outer_places, inner_places = [], []
    for a, term in zip(arrays, terms):
        steps = dict.fromkeys(extents, 0)
        for letter, step, extent in zip(term, strides(a.shape), a.shape):
            steps[letter] += step if extent != 1 else 0
        outer_places.append(offsets([[i * steps[c] for i in range(extents[c])] for c in output]))
        inner_places.append(offsets([[i * steps[c] for i in range(extents[c])] for c in inner]))
    values: list[Number] = []
    for starts in zip(*outer_places):
        total: Number = 0
        for places in zip(*inner_places):
            term_value: Number = 1
            for a, start, place in zip(arrays, starts, places):
                term_value *= a.values[start + place]
            total += term_value
        values.append(total)
    return Array(tuple(extents[c] for c in output), own, own.rounded(values))
