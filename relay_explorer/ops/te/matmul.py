"""Matrix products. Products of narrow types are accumulated in wider ones."""

from __future__ import annotations

from typing import Any

from .lowered import Lowered
from .tensors import Tensor, Value, cast, reduce_axes, sum_type, summed


def products(call: Lowered, shape: tuple[Any, ...], inner: Any, pair: Any) -> list[Tensor]:
    """Build the sum, over an inner axis, of the products of the two elements `pair(k, *index)`."""
    dtype = call.out.dtype
    (k,) = reduce_axes([inner])

    def value(*i: Value) -> Value:
        a, b = pair(k, *i)
        return cast(a, sum_type(dtype)) * cast(b, sum_type(dtype))

    return [summed(shape, value, [k], dtype, call.name)]
