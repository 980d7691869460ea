"""Convolutions over one, two and three axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, DType, Ints, attr
from ...ir.expr import Call, Expr
from ...ir.op import OpPattern, Relation, RelationError, Reporter
from ...ir.types import IncompleteType, TensorType, Type
from ..arguments import expr
from ..declare import declare
from ..relation import tensor
from .conv_rules import conv_flops, conv_layouts, conv_weight
from .conv_values import convolution
from .window import Sizes, both_sides, per_axis, total_padding, window_places

__all__ = ["conv1d", "conv2d", "conv3d", "convolution_relation"]

STRIDES = "How far the window moves on each axis."
PADDING = (
    "How many zeros surround the data: one number an axis, or those before each axis and then those after."
)
DILATION = "The distance of neighbouring kernel elements on each axis."
GROUPS = "Into how many groups the channels fall; each output channel sees its own group only."
CHANNELS = "The number of output channels; the weight's where it is left out."
KERNEL_SIZE = "The kernel's size on each axis; the weight's where it is left out."
DATA_LAYOUT = "The order of the data's axes."
KERNEL_LAYOUT = "The order of the weight's axes: O output channels, I input channels of a group."
OUT_LAYOUT = "The order of the output's axes; the data's where it is left out."
OUT_DTYPE = "The output's element type; the data's where it is left out."


class Conv1DAttrs(Attrs, key="relay.attrs.Conv1DAttrs"):
    strides: Ints = attr((1,), STRIDES)
    padding: Ints = attr((0, 0), PADDING)
    dilation: Ints = attr((1,), DILATION)
    groups: int = attr(1, GROUPS)
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, KERNEL_SIZE)
    data_layout: str = attr("NCW", DATA_LAYOUT)
    kernel_layout: str = attr("OIW", KERNEL_LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)
    out_dtype: DType = attr("", OUT_DTYPE)


class Conv2DAttrs(Attrs, key="relay.attrs.Conv2DAttrs"):
    strides: Ints = attr((1, 1), STRIDES)
    padding: Ints = attr((0, 0), PADDING)
    dilation: Ints = attr((1, 1), DILATION)
    groups: int = attr(1, GROUPS)
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, KERNEL_SIZE)
    data_layout: str = attr("NCHW", DATA_LAYOUT)
    kernel_layout: str = attr("OIHW", KERNEL_LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)
    out_dtype: DType = attr("", OUT_DTYPE)


class Conv3DAttrs(Attrs, key="relay.attrs.Conv3DAttrs"):
    strides: Ints = attr((1, 1, 1), STRIDES)
    padding: Ints = attr((0, 0, 0), PADDING)
    dilation: Ints = attr((1, 1, 1), DILATION)
    groups: int = attr(1, GROUPS)
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, KERNEL_SIZE)
    data_layout: str = attr("NCDHW", DATA_LAYOUT)
    kernel_layout: str = attr("OIDHW", KERNEL_LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)
    out_dtype: DType = attr("", OUT_DTYPE)


def convolution_relation(name: str, data_axes: str, kernel_axes: str) -> Relation:
    """Inputs (N, C, d₁ …) and (O, C / groups, k₁ …), in any layout; output (N, O, (dᵢ + paddingᵢ -
    dilationᵢ·(kᵢ - 1) - 1) // strideᵢ + 1 …).
    """
    axes = len(data_axes) - 2

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        data, weight, out = types
        if isinstance(data, IncompleteType):
            return False
        data = tensor(data, 0, "data")
        data_layout, kernel_layout, out_layout = conv_layouts(attrs, data_axes, kernel_axes)
        padding = total_padding(attrs.strides, attrs.dilation, attrs.padding, axes)
        shape = data_layout.forward(data.shape, 0, "the data")
        if attrs.groups != 1:
            if axes == 2 and isinstance(weight, IncompleteType):
                return False  # the reference does not infer the weight then; something else must
            _groups_need(axes, attrs)
        kernel = conv_weight(data, shape, weight, 1, kernel_layout, attrs, reporter)
        if kernel is None:
            return False
        channels = kernel[0] if attrs.channels is None else attrs.channels
        places = window_places(shape[2:], kernel[2:], attrs.strides, attrs.dilation, padding)
        result = out_layout.backward((shape[0], channels, *places))
        reporter.assign(out, TensorType.of(result, attrs.out_dtype or data.dtype))
        return True

    return Relation(name, rule, "{out} = {0} ∗ {1}")


def _groups_need(axes: int, attrs: Anything) -> None:
    """The reference types a grouped convolution only where it is told this much."""
    if axes == 1 and (attrs.channels is None or attrs.kernel_size is None):
        raise RelationError(
            f"with groups={attrs.groups}, conv1d needs `channels` and `kernel_size`",
            "give both",
            culprits=(1,),
        )


_LAXER = (
    "It accepted windows larger than the padded data, groups that do not divide the channels, packed axes "
    "whose length is not the layout's, and strides, dilations or paddings that are not positive."
)


def _declare(axes: str, attrs: type[Attrs], index: str, window: str) -> Anything:
    n = len(axes)
    return declare(
        f"nn.conv{n}d",
        f"Slides a kernel over {('one axis', 'two axes', 'three axes')[n - 1]} and sums the products of "
        "window and weights.",
        formula=(
            rf"y_{{n,o,{index}}} = \sum_{{c,{','.join('uvw'[:n])}}} x_{{n,c,{window}}}\, "
            rf"w_{{o,c,{','.join('uvw'[:n])}}}"
        ),
        relation=convolution_relation(f"Conv{n}D", "NC" + axes, "OI" + axes),
        inputs=("data", "weight"),
        attrs=attrs,
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        flops=conv_flops("NC" + axes),
        compute=convolution(axes),
        family="convolution",
        level=2,
        lenient_in_tvm=_LAXER,
        gradient="convolution.convolution",
        lowering="convolution.convolution",
    )


_CONV1D = _declare("W", Conv1DAttrs, "i", "s i + d u - p")
_CONV2D = _declare("HW", Conv2DAttrs, "i,j", "s i + d u - p,\\, s j + d v - p")
_CONV3D = _declare("DHW", Conv3DAttrs, "i,j,k", "s i + d u - p,\\, s j + d v - p,\\, s k + d w - p")


def conv1d(
    data: Expr,
    weight: Expr,
    strides: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    data_layout: str = "NCW",
    kernel_layout: str = "OIW",
    out_layout: str = "",
    out_dtype: str = "",
) -> Call:
    """Convolves `data` (N, C, W) with `weight` (O, C / groups, k): (N, O, W')."""
    attrs = Conv1DAttrs(
        strides=per_axis(strides, 1),
        padding=both_sides(padding, 1),
        dilation=per_axis(dilation, 1),
        groups=groups,
        channels=channels,
        kernel_size=None if kernel_size is None else per_axis(kernel_size, 1),
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        out_layout=out_layout,
        out_dtype=out_dtype,
    )
    return Call(_CONV1D, [expr(data), expr(weight)], attrs)


def conv2d(
    data: Expr,
    weight: Expr,
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    dilation: Sizes = (1, 1),
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    data_layout: str = "NCHW",
    kernel_layout: str = "OIHW",
    out_layout: str = "",
    out_dtype: str = "",
) -> Call:
    """Convolves `data` (N, C, H, W) with `weight` (O, C / groups, kh, kw): (N, O, H', W')."""
    attrs = Conv2DAttrs(
        strides=per_axis(strides, 2),
        padding=both_sides(padding, 2),
        dilation=per_axis(dilation, 2),
        groups=groups,
        channels=channels,
        kernel_size=None if kernel_size is None else per_axis(kernel_size, 2),
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        out_layout=out_layout,
        out_dtype=out_dtype,
    )
    return Call(_CONV2D, [expr(data), expr(weight)], attrs)


def conv3d(
    data: Expr,
    weight: Expr,
    strides: Sizes = (1, 1, 1),
    padding: Sizes = (0, 0, 0),
    dilation: Sizes = (1, 1, 1),
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    data_layout: str = "NCDHW",
    kernel_layout: str = "OIDHW",
    out_layout: str = "",
    out_dtype: str = "",
) -> Call:
    """Convolves `data` (N, C, D, H, W) with `weight` (O, C / groups, kd, kh, kw): (N, O, D', H', W')."""
    attrs = Conv3DAttrs(
        strides=per_axis(strides, 3),
        padding=both_sides(padding, 3),
        dilation=per_axis(dilation, 3),
        groups=groups,
        channels=channels,
        kernel_size=None if kernel_size is None else per_axis(kernel_size, 3),
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        out_layout=out_layout,
        out_dtype=out_dtype,
    )
    return Call(_CONV3D, [expr(data), expr(weight)], attrs)
