"""Shared by the reference implementations of convolutions."""

from __future__ import annotations

from typing import Any as Anything

from ....ir.op import Reference
from ...numeric import Array, element_type, np
from ..sliding import padded, sides, windows
from .layouts import conv_layouts


def split_groups(x: Array, axis: int, groups: int) -> list[Array]:
    """Split an array along an axis into one part per group."""
    return list(np.split(x, groups, axis))


def grouped_products(patches: Array, weight: Array, groups: int) -> Array:
    """Multiply each group's windows by its weights.

    Windows (batch, channels, positions …, kernel …) and weights (outputs, channels of a group, kernel …) give
    (batch, outputs, positions …).
    """
    axes = weight.ndim - 2
    within = [1, *range(patches.ndim - axes, patches.ndim)]
    products = [
        np.moveaxis(np.tensordot(part, weights, (within, list(range(1, weight.ndim)))), -1, 1)
        for part, weights in zip(
            split_groups(patches, 1, groups), split_groups(weight, 0, groups), strict=True
        )
    ]
    return np.concatenate(products, 1)


def convolution(axes: str) -> Reference:
    """Build the reference implementation of a convolution over `axes`, such as "HW"."""

    def compute(attrs: Anything, x: Array, weight: Array) -> Array:
        data_layout, kernel_layout, out_layout = conv_layouts(attrs, "NC" + axes, "OI" + axes)
        dtype = element_type(attrs.out_dtype or x.dtype)
        data, kernel = (
            data_layout.unpack(x).astype(dtype, copy=False),
            kernel_layout.unpack(weight).astype(dtype, copy=False),
        )
        size = kernel.shape[2:]
        data = padded(data, sides(attrs.padding, len(axes)), getattr(attrs, "pad_value", 0))
        # a depthwise weight may also be (input channels, outputs of each): the same elements in order
        kernel = kernel.reshape(attrs.channels or len(kernel), data.shape[1] // attrs.groups, *size)
        patches = windows(data, size, attrs.strides, attrs.dilation)
        return out_layout.pack(grouped_products(patches, kernel, attrs.groups))

    return compute
