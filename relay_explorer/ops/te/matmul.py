"""Matrix products, and sums of products over named axes. Products of narrow types are added up in
wider ones.
"""

from __future__ import annotations

from typing import Any

from .lowered import Lowered
from .tensors import Tensor, Value, cast, dims, known, reduce_axes, sum_type, summed


def _products(call: Lowered, shape: tuple[Any, ...], inner: Any, pair: Any) -> list[Tensor]:
    """The sum over an inner axis of the products of two elements, `pair(k, *index)`."""
    dtype = call.out.dtype
    (k,) = reduce_axes([inner])

    def value(*i: Value) -> Value:
        a, b = pair(k, *i)
        return cast(a, sum_type(dtype)) * cast(b, sum_type(dtype))

    return [summed(shape, value, [k], dtype, call.name)]


def dense(call: Lowered) -> list[Tensor]:
    x, weight = call.inputs
    lead, inner = dims(x)[:-1], dims(x)[-1]
    inner = dims(weight)[1] if known(inner) is None else inner
    shape = (*lead, dims(weight)[0])
    return _products(call, shape, inner, lambda k, *i: (x(*i[:-1], k), weight(i[-1], k)))


def matmul(call: Lowered) -> list[Tensor]:
    a, b = call.inputs
    attrs, of_a, of_b = call.attrs, dims(a), dims(b)
    lead, inner = of_a[:-1], of_a[-1]
    if attrs.transpose_a:
        lead, inner = (*of_a[:-2], of_a[-1]), of_a[-2]

    def pair(k: Value, *i: Value) -> tuple[Value, Value]:
        left = a(*i[:-2], k, i[-2]) if attrs.transpose_a else a(*i[:-1], k)
        return left, b(i[-1], k) if attrs.transpose_b else b(k, i[-1])

    return _products(call, (*lead, of_b[0 if attrs.transpose_b else 1]), inner, pair)


def batch_matmul(call: Lowered) -> list[Tensor]:
    a, b = call.inputs
    attrs, of_a, of_b = call.attrs, dims(a), dims(b)
    rows, inner = (of_a[2], of_a[1]) if attrs.transpose_a else (of_a[1], of_a[2])
    columns = of_b[1] if attrs.transpose_b else of_b[2]
    one_a, one_b = known(of_a[0]) == 1, known(of_b[0]) == 1

    def pair(k: Value, n: Value, i: Value, j: Value) -> tuple[Value, Value]:
        of_left, of_right = 0 if one_a else n, 0 if one_b else n
        left = a(of_left, k, i) if attrs.transpose_a else a(of_left, i, k)
        return left, b(of_right, j, k) if attrs.transpose_b else b(of_right, k, j)

    return _products(call, (of_b[0] if one_a else of_a[0], rows, columns), inner, pair)
