"""Pooling windows whose extents are rounded up (`ceil_mode`), as PyTorch and ONNX define them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...ir.errors import RelayError
from ...ir.types import Dim
from .errors import DynamicShapeError


class PoolWindows(NamedTuple):
    """The attributes of a pool of Relay: the window, the padding before each axis and then after each, and
    whether extents are rounded up.
    """

    kernel: list[int]
    pads: list[int]
    ceil: bool


def last_start(dim: int, before: int, after: int, stride: int, reach: int) -> int:
    """Return the number of windows in ceil_mode: none starts in the padding after the data."""
    count = -(-(dim + before + after - reach) // stride) + 1
    return count - 1 if (count - 1) * stride >= dim + before else count


def rounded_up(
    dims: Sequence[Dim],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    counted: bool,
) -> PoolWindows:
    """Return the windows of a pool in ceil_mode over axes of the extents `dims`.

    Relay rounds up whenever a window fits in part, but in the frameworks no window starts in the padding
    after the data; where rounding up would add one, extents are rounded down. A window that is larger than
    the padded axis is cut to it, since Relay refuses such windows and their kernels would take long.
    `counted` says that padding counts in a mean, so that it cannot be enlarged instead of rounding up. Raise
    a RelayError where the result depends on an extent that is unknown.
    """
    kernel, pads, rank = list(kernel), list(pads), len(dims)
    rounded: list[bool] = []
    for axis, dim in enumerate(dims):
        before, after, stride = pads[axis], pads[axis + rank], strides[axis]
        if isinstance(dim, int) and dilations[axis] == 1 and kernel[axis] > dim + before + after:
            kernel[axis] = dim + before + after
        reach = (kernel[axis] - 1) * dilations[axis] + 1
        if stride + after <= reach:
            rounded.append(True)
        elif isinstance(dim, int):
            ceiling = -(-(dim + before + after - reach) // stride) + 1
            rounded.append(last_start(dim, before, after, stride, reach) == ceiling)
        else:
            raise DynamicShapeError(
                f"pooling with ceil_mode requires that the extent of axis {axis + 2} is known at compile time"
            )
    if all(rounded) or not any(rounded):
        return PoolWindows(kernel, pads, all(rounded))
    if counted:
        raise RelayError(
            "average pooling with ceil_mode cannot be imported when some of the output's extents are "
            "rounded up and others down, because a last window would start in the padding",
            help=["set ceil_mode or count_include_pad to false"],
        )
    for axis, (dim, up) in enumerate(zip(dims, rounded)):
        if up and isinstance(dim, int):
            reach = (kernel[axis] - 1) * dilations[axis] + 1
            count = last_start(dim, pads[axis], pads[axis + rank], strides[axis], reach)
            pads[axis + rank] = (count - 1) * strides[axis] + reach - dim - pads[axis]
    return PoolWindows(kernel, pads, False)
