"""Attribute schemas of convolutions."""

from __future__ import annotations

from functools import partial

from ....ir.attrs import Attrs, DType, Ints, attr
from ..window import both_sides, per_axis

STRIDES = "The step of the window on each axis."
PADDING = "The padding of zeros: one number per axis, or the amounts before each axis and then those after."
DILATION = "The distance between adjacent kernel elements on each axis."
GROUPS = (
    "The number of groups into which the channels are divided; each output channel reads its own group only."
)
CHANNELS = "The number of output channels; by default the weight's."
KERNEL_SIZE = "The kernel's size on each axis; by default the weight's."
DATA_LAYOUT = "The order of the data's axes."
KERNEL_LAYOUT = "The order of the weight's axes: O output channels, I input channels of a group."
OUT_LAYOUT = "The order of the output's axes; by default the data's."
OUT_DTYPE = "The output's element type; by default the data's."


class Conv1DAttrs(Attrs, key="relay.attrs.Conv1DAttrs"):
    strides: Ints = attr((1,), STRIDES, normal=partial(per_axis, axes=1))
    padding: Ints = attr((0, 0), PADDING, normal=partial(both_sides, axes=1))
    dilation: Ints = attr((1,), DILATION, normal=partial(per_axis, axes=1))
    groups: int = attr(1, GROUPS)
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, KERNEL_SIZE, normal=partial(per_axis, axes=1))
    data_layout: str = attr("NCW", DATA_LAYOUT)
    kernel_layout: str = attr("OIW", KERNEL_LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)
    out_dtype: DType = attr("", OUT_DTYPE)


class Conv2DAttrs(Attrs, key="relay.attrs.Conv2DAttrs"):
    strides: Ints = attr((1, 1), STRIDES, normal=partial(per_axis, axes=2))
    padding: Ints = attr((0, 0), PADDING, normal=partial(both_sides, axes=2))
    dilation: Ints = attr((1, 1), DILATION, normal=partial(per_axis, axes=2))
    groups: int = attr(1, GROUPS)
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, KERNEL_SIZE, normal=partial(per_axis, axes=2))
    data_layout: str = attr("NCHW", DATA_LAYOUT)
    kernel_layout: str = attr("OIHW", KERNEL_LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)
    out_dtype: DType = attr("", OUT_DTYPE)


class PackedConv2DAttrs(Conv2DAttrs, key="relay.attrs.PackedConv2DAttrs"):
    pad_value: int = attr(0, "The value of the padding: the zero point, where the data is quantized.")


class Conv3DAttrs(Attrs, key="relay.attrs.Conv3DAttrs"):
    strides: Ints = attr((1, 1, 1), STRIDES, normal=partial(per_axis, axes=3))
    padding: Ints = attr((0, 0, 0), PADDING, normal=partial(both_sides, axes=3))
    dilation: Ints = attr((1, 1, 1), DILATION, normal=partial(per_axis, axes=3))
    groups: int = attr(1, GROUPS)
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, KERNEL_SIZE, normal=partial(per_axis, axes=3))
    data_layout: str = attr("NCDHW", DATA_LAYOUT)
    kernel_layout: str = attr("OIDHW", KERNEL_LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)
    out_dtype: DType = attr("", OUT_DTYPE)
