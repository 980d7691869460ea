"""`as_strided`: the only operator whose result depends on how its operand lies in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr
from ...ir.ndarray import NDArray
from ...ops import namespaces as relay
from ..aten import Aten
from ..base.errors import DynamicShapeError

_MOST = 1 << 22  # elements of a result, which is taken by an index for each


def as_strided(
    ctx: Aten, x: Expr, described: Any, size: Sequence[Any], stride: Sequence[Any], offset: Any = None
) -> Expr:
    """Return a tensor whose elements are those at multiples of strides in the memory of `x`.

    `described` is PyTorch's description of `x`, with the strides that it has there.
    """
    import numpy as np

    numbers = [*size, *stride, offset or 0, *described.shape, *described.stride()]
    if not all(isinstance(number, int) for number in numbers):
        raise DynamicShapeError(
            "as_strided requires that its sizes and strides, and those of its operand, are known at compile "
            "time"
        )
    elements = int(np.prod(size, dtype=object))
    if elements > _MOST:
        raise RelayError(f"as_strided with {elements:,} elements exceeds the limit of {_MOST:,}")
    order = _memory_order(described)
    flat = relay.reshape(relay.transpose(x, order) if order != tuple(range(len(order))) else x, (-1,))
    first = (offset or 0) - described.storage_offset()
    index = np.full(tuple(size), first, "int64")
    for axis, (extent, step) in enumerate(zip(size, stride)):
        shape = [1] * len(size)
        shape[axis] = extent
        index += (np.arange(extent) * step).reshape(shape)
    count = int(np.prod(described.shape))
    if index.size and not (index.min() >= 0 and index.max() < count):
        raise RelayError("as_strided reads elements outside its operand")
    if index.size == count and (index.reshape(-1) == np.arange(count)).all():
        return relay.reshape(flat, tuple(size))
    return relay.take(flat, Constant(NDArray.from_numpy(index)), axis=0)


def _memory_order(described: Any) -> tuple[int, ...]:
    """Return a tensor's axes from the outermost in memory on; raise a RelayError if it has gaps there."""
    extents, strides = described.shape, described.stride()
    order = sorted(range(len(extents)), key=lambda axis: (-strides[axis] if extents[axis] > 1 else 0, axis))
    expected = 1
    for axis in reversed([axis for axis in order if extents[axis] > 1]):
        if strides[axis] != expected:
            raise RelayError(
                "as_strided cannot be imported for a tensor with gaps in memory, such as a slice of another "
                "one",
                help=["call contiguous() on the tensor first"],
            )
        expected *= extents[axis]
    return tuple(order)
