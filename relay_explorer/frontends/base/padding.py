"""The padding that TensorFlow calls SAME: the result has ⌈extent / stride⌉ elements on each axis."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.types import Dim
from .errors import DynamicShapeError


def same_total(extent: int, reach: int, stride: int) -> int:
    """Return the padding of one axis, on both sides together, for a window that covers `reach` elements."""
    return max((-(-extent // stride) - 1) * stride + reach - extent, 0)


def same_padding(
    extents: Sequence[Dim], kernel: Sequence[int], strides: Sequence[int], dilation: Sequence[int]
) -> tuple[int, ...]:
    """Return the padding before each axis, then that after each; the odd element is after.

    Raise a RelayError where an extent is unknown and the padding depends on it.
    """
    before, after = [], []
    for extent, size, stride, spread in zip(extents, kernel, strides, dilation):
        reach = (size - 1) * spread + 1
        if isinstance(extent, int):
            total = same_total(extent, reach, stride)
        elif stride == 1:
            total = reach - 1
        else:
            raise DynamicShapeError(
                f"SAME padding with stride {stride} depends on the extent `{extent}`, which must be known at "
                "compile time"
            )
        before.append(total // 2)
        after.append(total - total // 2)
    return (*before, *after)
