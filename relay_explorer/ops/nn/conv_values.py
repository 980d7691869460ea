"""The values of convolutions of all kinds, in any layout and with groups."""

from __future__ import annotations

from typing import Any as Anything

from ...ir.op import Compute
from ..numeric import Array, element_type, np
from .conv_rules import conv_layouts
from .layout import layout_map
from .sliding import cropped, padded, sides, under, windows
from .transposed_layout import transposed_layouts


def _parts(x: Array, axis: int, groups: int) -> list[Array]:
    return list(np.split(x, groups, axis))


def _products(seen: Array, weight: Array) -> Array:
    """The windows `seen` (batch, channels, places …, kernel …) times `weight` (outputs, channels, kernel …):
    (batch, outputs, places …).
    """
    axes = weight.ndim - 2
    within = [1, *range(seen.ndim - axes, seen.ndim)]
    return np.moveaxis(np.tensordot(seen, weight, (within, list(range(1, weight.ndim)))), -1, 1)


def convolution(axes: str) -> Compute:
    """Each group's windows times its weights."""

    def compute(attrs: Anything, x: Array, weight: Array) -> Array:
        data_layout, kernel_layout, out_layout = conv_layouts(attrs, "NC" + axes, "OI" + axes)
        dtype = element_type(attrs.out_dtype or x.dtype)
        data, kernel = (
            data_layout.unpack(x).astype(dtype, copy=False),
            kernel_layout.unpack(weight).astype(dtype, copy=False),
        )
        size = kernel.shape[2:]
        data = padded(data, sides(attrs.padding, len(axes)), 0)
        # a depthwise weight may also be (input channels, outputs of each): the same numbers in the same order
        kernel = kernel.reshape(attrs.channels or len(kernel), data.shape[1] // attrs.groups, *size)
        seen = windows(data, size, attrs.strides, attrs.dilation)
        groups = zip(_parts(seen, 1, attrs.groups), _parts(kernel, 0, attrs.groups), strict=True)
        return out_layout.pack(np.concatenate([_products(part, weights) for part, weights in groups], 1))

    return compute


def transposed(axes: str) -> Compute:
    """Each element, times each weight, is added where the weight's place in the window lies."""

    def compute(attrs: Anything, x: Array, weight: Array) -> Array:
        data_layout, kernel_layout, out_layout = transposed_layouts(attrs, axes)
        dtype = element_type(attrs.out_dtype or x.dtype)
        data, kernel = (
            data_layout.unpack(x).astype(dtype, copy=False),
            kernel_layout.unpack(weight).astype(dtype, copy=False),
        )
        groups = zip(_parts(data, 1, attrs.groups), _parts(kernel, 0, attrs.groups), strict=True)
        whole = np.concatenate([_spread(attrs, part, weights) for part, weights in groups], 1)
        return out_layout.pack(cropped(whole, sides(attrs.padding, len(axes))))

    return compute


def _spread(attrs: Anything, data: Array, kernel: Array) -> Array:
    """`data` (batch, channels, space …) spread by `kernel` (channels, outputs, size …), nothing cut off."""
    places, size = data.shape[2:], kernel.shape[2:]
    extents = [
        s * (d - 1) + step * (k - 1) + 1 + more
        for s, d, step, k, more in zip(
            attrs.strides, places, attrs.dilation, size, attrs.output_padding, strict=True
        )
    ]
    y = np.zeros((data.shape[0], kernel.shape[1], *extents), data.dtype)
    for within in np.ndindex(*size):
        added = np.moveaxis(np.tensordot(data, kernel[(..., *within)], (1, 0)), -1, 1)
        y[(..., *under(within, places, attrs.strides, attrs.dilation))] += added
    return y


def weight_gradient(attrs: Anything, grad: Array, x: Array) -> Array:
    """The sum over batch and places of each gradient times each element of its window."""
    dtype = element_type(attrs.out_dtype or grad.dtype)
    upper = layout_map(attrs.data_layout, "NCHW").unpack(grad).astype(dtype)
    data = layout_map(attrs.kernel_layout, "NCHW").unpack(x).astype(dtype)
    seen = windows(padded(data, sides(attrs.padding, 2), 0), attrs.kernel_size, attrs.strides, attrs.dilation)
    groups = zip(_parts(upper, 1, attrs.groups), _parts(seen, 1, attrs.groups), strict=True)
    kernel = [np.tensordot(grads, part, ([0, 2, 3], [0, 2, 3])) for grads, part in groups]
    return layout_map(attrs.out_layout, "OIHW").pack(np.concatenate(kernel, 0))


def deformable(attrs: Anything, x: Array, offset: Array, weight: Array) -> Array:
    """A convolution whose windows are read between the data's elements, at places that `offset` moves."""
    data_layout, kernel_layout, out_layout = conv_layouts(attrs, "NCHW", "OIHW")
    dtype = element_type(attrs.out_dtype or x.dtype)
    data, kernel, moves = data_layout.unpack(x), kernel_layout.unpack(weight), data_layout.unpack(offset)
    size, places = kernel.shape[2:], moves.shape[2:]
    moves = moves.reshape(len(data), attrs.deformable_groups, *size, 2, *places)
    seen = np.empty((*data.shape[:2], *places, *size), dtype)
    pairs = sides(attrs.padding, 2)
    rows, columns = (np.arange(places[axis]) * attrs.strides[axis] - pairs[axis][0] for axis in range(2))
    shared = data.shape[1] // attrs.deformable_groups
    for n, g, u, v in np.ndindex(len(data), attrs.deformable_groups, *size):
        down, right = moves[n, g, u, v]
        i, j = rows[:, None] + u * attrs.dilation[0] + down, columns + v * attrs.dilation[1] + right
        channels = slice(g * shared, (g + 1) * shared)
        seen[n, channels, :, :, u, v] = _between(data[n, channels], i, j)
    kernel = kernel.astype(dtype).reshape(attrs.channels or len(kernel), data.shape[1] // attrs.groups, *size)
    groups = zip(_parts(seen, 1, attrs.groups), _parts(kernel, 0, attrs.groups), strict=True)
    return out_layout.pack(np.concatenate([_products(part, weights) for part, weights in groups], 1))


def _between(images: Array, i: Array, j: Array) -> Array:
    """`images` (channels, rows, columns) at row `i`, column `j`, between elements; 0 outside."""
    height, width = images.shape[1:]
    outside = (i < 0) | (j < 0) | (i >= height) | (j >= width)
    i, j = np.where(outside, 0, i), np.where(outside, 0, j)
    top, left = np.floor(i).astype("int64"), np.floor(j).astype("int64")
    low, right = np.minimum(top + 1, height - 1), np.minimum(left + 1, width - 1)
    down, across = i - top, j - left
    above = images[:, top, left] * (1 - across) + images[:, top, right] * across
    below = images[:, low, left] * (1 - across) + images[:, low, right] * across
    return np.where(outside, 0, above * (1 - down) + below * down)
