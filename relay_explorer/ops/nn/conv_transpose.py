"""Transposed convolutions: each data element spreads over a window of the output, as in the gradient of a
convolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, DType, Ints, attr
from ...ir.expr import Call, Expr
from ...ir.op import Op, OpPattern, Relation, RelationError, Reporter, size_of
from ...ir.show import show_shape
from ...ir.types import Dim, IncompleteType, Shape, TensorType, Type
from ..arguments import expr
from ..declare import declare
from ..relation import same_dim, tensor, times
from .conv import CHANNELS, DATA_LAYOUT, DILATION, GROUPS, KERNEL_SIZE, OUT_DTYPE, OUT_LAYOUT
from .conv_rules import channels_of, check_sizes, compare_weight, per_group
from .conv_values import transposed
from .layout import LayoutMap, divided
from .transposed_layout import transposed_layouts
from .window import Sizes, both_sides, matching_size, per_axis, total_padding

__all__ = ["conv1d_transpose", "conv2d_transpose", "conv3d_transpose"]

STRIDES = "How far apart the windows of neighbouring data elements lie on each axis."
PADDING = (
    "How much is cut off the output: one number an axis, or the amounts before each axis and then those "
    "after."
)
KERNEL_LAYOUT = "The order of the weight's axes: I the data's channels, O the output's channels of a group."
AS_IN_REFERENCE = KERNEL_LAYOUT[:-1] + '; "{}" means the same as "{}", as in the reference.'
OUTPUT_PADDING = (
    "How much each output axis is longer than needed: tells apart the sizes that a strided convolution maps "
    "to one."
)


class Conv1DTransposeAttrs(Attrs, key="relay.attrs.Conv1DTransposeAttrs"):
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, KERNEL_SIZE)
    strides: Ints = attr((1,), STRIDES)
    output_padding: Ints = attr((0,), OUTPUT_PADDING)
    padding: Ints = attr((0,), PADDING)
    dilation: Ints = attr((1,), DILATION)
    groups: int = attr(1, GROUPS)
    data_layout: str = attr("NCW", DATA_LAYOUT)
    kernel_layout: str = attr("IOW", AS_IN_REFERENCE.format("OIW", "IOW"))
    out_layout: str = attr("", OUT_LAYOUT)
    out_dtype: DType = attr("", OUT_DTYPE)


class Conv2DTransposeAttrs(Attrs, key="relay.attrs.Conv2DTransposeAttrs"):
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, KERNEL_SIZE)
    strides: Ints = attr((1, 1), STRIDES)
    output_padding: Ints = attr((0, 0), OUTPUT_PADDING)
    padding: Ints = attr((0, 0), PADDING)
    dilation: Ints = attr((1, 1), DILATION)
    groups: int = attr(1, GROUPS)
    data_layout: str = attr("NCHW", DATA_LAYOUT)
    kernel_layout: str = attr("IOHW", KERNEL_LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)
    out_dtype: DType = attr("", OUT_DTYPE)


class Conv3DTransposeAttrs(Attrs, key="relay.attrs.Conv3DTransposeAttrs"):
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, KERNEL_SIZE)
    strides: Ints = attr((1, 1, 1), STRIDES)
    output_padding: Ints = attr((0, 0, 0), OUTPUT_PADDING)
    padding: Ints = attr((0, 0, 0), PADDING)
    dilation: Ints = attr((1, 1, 1), DILATION)
    groups: int = attr(1, GROUPS)
    data_layout: str = attr("NCDHW", DATA_LAYOUT)
    kernel_layout: str = attr("IODHW", AS_IN_REFERENCE.format("OIDHW", "IODHW"))
    out_layout: str = attr("", OUT_LAYOUT)
    out_dtype: DType = attr("", OUT_DTYPE)


def _transposed(name: str, axes_of_space: str) -> Relation:
    """Inputs (N, C, d₁ …) and (C, O / groups, k₁ …); output (N, O, strideᵢ·(dᵢ - 1) + dilationᵢ·(kᵢ - 1) + 1
    - paddingᵢ + output_paddingᵢ …).
    """
    axes = len(axes_of_space)

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        data, weight, out = types
        if isinstance(data, IncompleteType):
            return False
        data = tensor(data, 0, "data")
        data_layout, kernel_layout, out_layout = transposed_layouts(attrs, axes_of_space)
        padding = total_padding(attrs.strides, attrs.dilation, attrs.padding, axes)
        matching_size("output_padding", attrs.output_padding, axes)
        if min(attrs.output_padding) < 0:
            raise RelationError(
                f"output_padding={list(attrs.output_padding)} must not be negative",
                "more padding cuts more off",
            )
        shape = data_layout.forward(data.shape, 0, "the data")
        kernel = _weight(data, shape, weight, kernel_layout, attrs, reporter)
        if kernel is None:
            return False
        channels = kernel[1] if attrs.channels is None else attrs.channels
        result = out_layout.backward((shape[0], channels, *_spread(shape[2:], kernel[2:], padding, attrs)))
        reporter.assign(out, TensorType.of(result, attrs.out_dtype or data.dtype))
        return True

    return Relation(name, rule, "{out} = {0} ∗ᵀ {1}")


def _weight(
    data: TensorType, shape: Shape, weight: Type, layout: LayoutMap, attrs: Anything, reporter: Reporter
) -> Shape | None:
    """The weight's shape as (input channels, channels a group, kernel …), and None where neither the
    attributes nor a type tell it.
    """
    channels, size, groups = attrs.channels, attrs.kernel_size, attrs.groups
    per_group(shape[1], groups)
    each = (
        None
        if channels is None
        else divided(
            channels,
            groups,
            "the number of output channels",
            "groups must divide the channels of data and output",
        )
    )
    check_sizes(channels, size, len(shape) - 2)
    if channels is None and groups != 1:
        raise RelationError(
            f"with groups={groups}, `channels` is needed",
            "give the number of output channels of all groups together",
        )
    known = None if isinstance(weight, IncompleteType) else tensor(weight, 1, "weight")
    have = None if known is None else layout.forward(known.shape, 1, "the weight")
    if known is not None and have is not None:
        if not same_dim(have[0], shape[1]):
            raise RelationError(
                f"the data has {shape[1]} channels, but the weight {show_shape(known.shape)} is for "
                f"{have[0]}",
                f"the kernel layout is {layout.name}: a transposed convolution's weight has its input "
                f"channels on axis {layout.canonical[0]}",
                culprits=(0, 1),
            )
        compare_weight(have, _all_groups(have[1], groups), attrs, 1)
    if each is None or size is None:
        return have
    wanted: Shape = (shape[1], each, *size)
    if known is None:
        reporter.assign(weight, TensorType.of(layout.backward(wanted), data.dtype))
    return wanted


def _all_groups(channels: Dim, groups: int) -> Dim:
    return times(channels, groups)


def _spread(dims: Shape, kernel: Shape, padding: tuple[int, ...], attrs: Anything) -> Shape:
    out: list[Dim] = []
    for i, (dim, size) in enumerate(zip(dims, kernel, strict=True)):
        length = (
            attrs.strides[i] * (dim - 1)
            + attrs.dilation[i] * (size - 1)
            + 1
            - padding[i]
            + attrs.output_padding[i]
        )
        if isinstance(length, int) and length < 1:
            raise RelationError(
                f"the padding cuts off {padding[i]}, but the windows cover only {length + padding[i]}",
                "use less padding",
                culprits=(0,),
            )
        out.append(length)
    return tuple(out)


_LAXER = (
    "It accepted outputs of no or negative length, groups that do not divide the channels, and strides, "
    "dilations or paddings that are not positive; "
    "and with groups but without `channels` it gave the channels of one group."
)


def _declare(axes: str, attrs: type[Attrs]) -> Op:
    n = len(axes)
    data_axes = "NC" + axes
    places = ",".join("ijk"[:n])
    window = ",".join("uvw"[:n])
    conditions = r",\, ".join(
        f"s {x} + d {u} - p = {t}" for x, u, t in zip("ijk"[:n], "uvw"[:n], "abc"[:n], strict=True)
    )

    def flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
        """A multiply and an add for each data element and each weight that its channel has."""
        return (
            2
            * size_of(inputs[0])
            * size_of(inputs[1])
            // channels_of(inputs[0], attrs.data_layout, data_axes)
        )

    return declare(
        f"nn.conv{n}d_transpose",
        "Spreads each element over a window of the output, on "
        f"{('one axis', 'two axes', 'three axes')[n - 1]}: the transpose of a convolution.",
        formula=(
            rf"y_{{n,o,{','.join('abc'[:n])}}} = \sum_{{c}} \sum_{{{conditions}}} x_{{n,c,{places}}}\, "
            rf"w_{{c,o,{window}}}"
        ),
        relation=_transposed(f"Conv{n}DTranspose", axes),
        inputs=("data", "weight"),
        attrs=attrs,
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        flops=flops,
        compute=transposed(axes),
        family="convolution",
        level=2,
        lenient_in_tvm=_LAXER,
        gradient="convolution.transposed",
        lowering="convolution.transposed",
    )


_CONV1D_TRANSPOSE = _declare("W", Conv1DTransposeAttrs)
_CONV2D_TRANSPOSE = _declare("HW", Conv2DTransposeAttrs)
_CONV3D_TRANSPOSE = _declare("DHW", Conv3DTransposeAttrs)


def conv1d_transpose(
    data: Expr,
    weight: Expr,
    strides: Sizes = (1,),
    padding: Sizes = (0,),
    dilation: Sizes = (1,),
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    data_layout: str = "NCW",
    kernel_layout: str = "OIW",
    out_layout: str = "",
    output_padding: Sizes = (0,),
    out_dtype: str = "",
) -> Call:
    """A transposed convolution of `data` (N, C, W) with `weight`, which is (C, O / groups, k) unless
    `kernel_layout` says otherwise: (N, O, W').
    """
    attrs = Conv1DTransposeAttrs(
        channels=channels,
        kernel_size=kernel_size,
        strides=strides,
        output_padding=output_padding,
        padding=padding,
        dilation=dilation,
        groups=groups,
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        out_layout=out_layout,
        out_dtype=out_dtype,
    )
    return Call(_CONV1D_TRANSPOSE, [expr(data), expr(weight)], attrs)


def conv2d_transpose(
    data: Expr,
    weight: Expr,
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    dilation: Sizes = (1, 1),
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    data_layout: str = "NCHW",
    kernel_layout: str = "IOHW",
    out_layout: str = "",
    output_padding: Sizes = (0, 0),
    out_dtype: str = "",
) -> Call:
    """A transposed convolution of (N, C, H, W) with `weight` (C, O / groups, kh, kw): (N, O, H', W')."""
    attrs = Conv2DTransposeAttrs(
        channels=channels,
        kernel_size=None if kernel_size is None else per_axis(kernel_size, 2),
        strides=per_axis(strides, 2),
        output_padding=per_axis(output_padding, 2),
        padding=both_sides(padding, 2),
        dilation=per_axis(dilation, 2),
        groups=groups,
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        out_layout=out_layout,
        out_dtype=out_dtype,
    )
    return Call(_CONV2D_TRANSPOSE, [expr(data), expr(weight)], attrs)


def conv3d_transpose(
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
    output_padding: Sizes = (0, 0, 0),
    out_dtype: str = "",
) -> Call:
    """A transposed convolution of `data` (N, C, D, H, W) with `weight`, (C, O / groups, kd, kh, kw) unless
    `kernel_layout` says otherwise.
    """
    attrs = Conv3DTransposeAttrs(
        channels=channels,
        kernel_size=None if kernel_size is None else per_axis(kernel_size, 3),
        strides=per_axis(strides, 3),
        output_padding=per_axis(output_padding, 3),
        padding=both_sides(padding, 3),
        dilation=per_axis(dilation, 3),
        groups=groups,
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        out_layout=out_layout,
        out_dtype=out_dtype,
    )
    return Call(_CONV3D_TRANSPOSE, [expr(data), expr(weight)], attrs)
