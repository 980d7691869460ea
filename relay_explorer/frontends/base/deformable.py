"""Deformable convolutions, whose windows read at positions that an operand gives."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.expr import Constant, Expr, const
from ...ir.ndarray import NDArray
from ...ops import namespaces as relay
from .context import Context
from .errors import ModelFileError


def deformable_conv2d(
    context: Context,
    x: Expr,
    offset: Expr,
    weight: Expr,
    mask: Expr | None,
    *,
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
    groups: int,
    offset_groups: int,
) -> Expr:
    """Convolve data (batch, channels, height, width) whose windows read at positions shifted by `offset`.

    `padding` is that before the first row and column, and `offset` has, for each group of channels and each
    element of the window, the shifts down and across. `mask` scales what is read.

    Relay's own deformable convolution cannot be used: it has no mask, and it takes zero for every position
    beyond the centres of the outer elements, where ONNX and PyTorch interpolate between those elements and
    zero.
    """
    units, inner, *kernel = context.static_shape(weight)
    sizes = (strides, padding, dilations)
    columns = _columns(context, x, offset, mask, kernel, sizes, offset_groups)
    flat = relay.reshape(weight, [units, inner * kernel[0] * kernel[1], 1, 1])
    return relay.nn.conv2d(columns, flat, groups=groups, channels=units, kernel_size=[1, 1])


def _columns(
    context: Context,
    x: Expr,
    offset: Expr,
    mask: Expr | None,
    kernel: Sequence[int],
    sizes: tuple[Sequence[int], Sequence[int], Sequence[int]],
    groups: int,
) -> Expr:
    """Return (batch, channels * window, height, width): the elements that each window reads, times the
    mask.
    """
    strides, padding, dilations = sizes
    batch, channels, height, width = context.static_shape(x)
    offset_shape = context.static_shape(offset)
    taps = kernel[0] * kernel[1]
    expected = (batch, groups * taps, *offset_shape[2:])
    fits = len(offset_shape) == 4 and offset_shape[:2] == (batch, 2 * groups * taps)
    if not fits or channels % groups or (mask is not None and context.static_shape(mask) != expected):
        raise ModelFileError(
            "the shapes of the offsets, the mask and the data of a deformable convolution are inconsistent"
        )
    rows, columns = offset_shape[2:]
    # A border of zeros, so that the coordinates of an image with a single row are defined.
    padded = relay.nn.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], const(0, context.dtype(x)))
    parts = [padded] if groups == 1 else list(relay.split(padded, groups, 1))
    samples: list[Expr] = []
    for tap in range(taps):
        place = divmod(tap, kernel[1])
        of_groups: list[Expr] = []
        for group, part in enumerate(parts):
            index = group * taps + tap
            at: list[Expr] = []
            for axis, (extent, count) in enumerate(((height, rows), (width, columns))):
                start = place[axis] * dilations[axis] - padding[axis] + 1
                shift = _channel(offset, 2 * index + axis)
                at.append(_relative(context, shift, start, strides[axis], extent + 2, count, axis))
            grid = relay.stack(at[::-1], 1)  # across, then down
            value = relay.image.grid_sample(part, grid, "bilinear", "NCHW", "zeros", True)
            if mask is not None:
                value = relay.multiply(value, relay.expand_dims(_channel(mask, index), 1))
            of_groups.append(value)
        samples.append(of_groups[0] if groups == 1 else relay.concatenate(of_groups, 1))
    return relay.reshape(relay.stack(samples, 2), [batch, channels * taps, rows, columns])


def _channel(x: Expr, index: int) -> Expr:
    return relay.squeeze(relay.strided_slice(x, [index], [index + 1], [1], axes=[1]), [1])


def _relative(
    context: Context, shift: Expr, start: int, stride: int, extent: int, count: int, axis: int
) -> Expr:
    """Return coordinates of which -1 and 1 are the centres of the first and the last element of an axis."""
    import numpy as np

    dtype = context.dtype(shift)
    places = (
        (start + stride * np.arange(count)).astype(dtype).reshape((count, 1) if axis == 0 else (1, count))
    )
    absolute = relay.add(shift, Constant(NDArray.sharing(places)))
    scaled = relay.multiply(absolute, const(2 / (extent - 1), dtype))
    return relay.subtract(scaled, const(1, dtype))
