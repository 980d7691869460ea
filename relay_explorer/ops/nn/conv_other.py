"""A convolution whose windows bend, and the gradient of a convolution's weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, DType, Ints, attr
from ...ir.expr import Call, Expr
from ...ir.op import OpPattern, Relation, RelationError, Reporter, size_of
from ...ir.show import show_shape
from ...ir.types import Dim, IncompleteType, Shape, TensorType, Type
from ..arguments import expr
from ..declare import declare
from ..relation import same_dim, tensor, times
from .conv import (
    CHANNELS,
    DATA_LAYOUT,
    DILATION,
    GROUPS,
    KERNEL_LAYOUT,
    KERNEL_SIZE,
    OUT_DTYPE,
    OUT_LAYOUT,
    PADDING,
    STRIDES,
    Conv2DAttrs,
)
from .conv_rules import check_sizes, conv_flops, conv_layouts, conv_weight, per_group
from .conv_values import deformable, weight_gradient
from .layout import layout_map
from .window import Sizes, both_sides, per_axis, total_padding, window_places

__all__ = ["conv2d_backward_weight", "deformable_conv2d"]


class DeformableConv2DAttrs(Attrs, key="relay.attrs.DeformableConv2DAttrs"):
    strides: Ints = attr((1, 1), STRIDES)
    padding: Ints = attr((0, 0), PADDING)
    dilation: Ints = attr((1, 1), DILATION)
    deformable_groups: int = attr(
        1, "Into how many groups the data's channels fall that share their offsets."
    )
    groups: int = attr(1, GROUPS)
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, KERNEL_SIZE)
    data_layout: str = attr("NCHW", DATA_LAYOUT)
    kernel_layout: str = attr("OIHW", KERNEL_LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)
    out_dtype: DType = attr("", OUT_DTYPE)


def _deformable(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Inputs (N, C, H, W), (N, 2 * kh * kw * deformable_groups, H', W') and (O, C / groups, kh, kw);
    output (N, O, H', W').
    """
    data, offset, weight, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    data_layout, kernel_layout, out_layout = conv_layouts(attrs, "NCHW", "OIHW")
    padding = total_padding(attrs.strides, attrs.dilation, attrs.padding, 2)
    shape = data_layout.forward(data.shape, 0, "the data")
    per_group(shape[1], attrs.deformable_groups)
    if isinstance(weight, TensorType) and weight.dtype != data.dtype:
        raise RelationError(
            f"the weight holds {weight.dtype}, but the data {data.dtype}",
            f'convert one of them: relay.cast(…, "{data.dtype}")',
            culprits=(0, 2),
        )
    kernel = conv_weight(data, shape, weight, 2, kernel_layout, attrs, reporter)
    if kernel is None:
        return False
    channels = kernel[0] if attrs.channels is None else attrs.channels
    places = window_places(shape[2:], kernel[2:], attrs.strides, attrs.dilation, padding)
    offsets = _offsets(shape[0], kernel, attrs.deformable_groups, places)
    _check_offset(offset, data_layout.backward(offsets))
    reporter.assign(offset, TensorType.of(data_layout.backward(offsets), data.dtype))
    reporter.assign(
        out, TensorType.of(out_layout.backward((shape[0], channels, *places)), attrs.out_dtype or data.dtype)
    )
    return True


def _offsets(batch: Dim, kernel: Shape, groups: int, places: Shape) -> Shape:
    """Two offsets, down and right, for each kernel element, deformable group and place."""
    height, width = kernel[2:]
    return (batch, times(times(2 * groups, height), width), *places)


def _check_offset(offset: Type, wanted: Shape) -> None:
    if isinstance(offset, IncompleteType):
        return
    have = tensor(offset, 1, "offset").shape
    if len(have) != len(wanted) or not all(map(same_dim, have, wanted)):
        raise RelationError(
            f"the offsets have shape {show_shape(have)}, but this call needs {show_shape(wanted)}",
            "there are two offsets for each kernel element, deformable group and place of the output",
            culprits=(1,),
        )


_DEFORMABLE_CONV2D = declare(
    "nn.deformable_conv2d",
    "A convolution over two axes that reads each window's elements at places moved by learnt offsets.",
    formula=(
        r"y_{n,o,i,j} = \sum_{c,u,v} x_{n,c,\,s i + d u - p + \Delta_{u,v,i,j},\,s j + d v - p + "
        r"\Delta'_{u,v,i,j}}\, w_{o,c,u,v}"
    ),
    relation=Relation("DeformableConv2D", _deformable, "{out} = {0} ∗ {2}, its windows moved by {1}"),
    inputs=("data", "offset", "weight"),
    attrs=DeformableConv2DAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=conv_flops("NCHW", weight=2),
    family="convolution",
    level=5,
    lenient_in_tvm="It accepted windows larger than the data and groups that do not divide the channels.",
    compute=deformable,
    lowering="convolution.deformable",
)


def deformable_conv2d(
    data: Expr,
    offset: Expr,
    weight: Expr,
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    dilation: Sizes = (1, 1),
    deformable_groups: int = 1,
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    data_layout: str = "NCHW",
    kernel_layout: str = "OIHW",
    out_layout: str = "",
    out_dtype: str = "",
) -> Call:
    """A deformable convolution (arXiv 1703.06211)

    `offset` is (N, 2 * kh * kw * deformable_groups, H', W').
    """
    attrs = DeformableConv2DAttrs(
        strides=per_axis(strides, 2),
        padding=both_sides(padding, 2),
        dilation=per_axis(dilation, 2),
        deformable_groups=deformable_groups,
        groups=groups,
        channels=channels,
        kernel_size=None if kernel_size is None else per_axis(kernel_size, 2),
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        out_layout=out_layout,
        out_dtype=out_dtype,
    )
    return Call(_DEFORMABLE_CONV2D, [expr(data), expr(offset), expr(weight)], attrs)


def _backward_weight(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """The attributes are Conv2DAttrs with other meanings: data_layout is the gradient's, kernel_layout the
    data's, out_layout the result's.
    """
    grad, data, out = types
    if isinstance(grad, IncompleteType) or isinstance(data, IncompleteType):
        return False
    grad, data = tensor(grad, 0, "grad"), tensor(data, 1, "data")
    padding = total_padding(attrs.strides, attrs.dilation, attrs.padding, 2)
    upper = layout_map(attrs.data_layout, "NCHW").forward(grad.shape, 0, "the gradient")
    shape = layout_map(attrs.kernel_layout, "NCHW").forward(data.shape, 1, "the data")
    if attrs.kernel_size is None:
        raise RelationError(
            "`kernel_size` is needed: several kernels give an output of the gradient's size",
            "give the convolution's kernel_size",
        )
    check_sizes(attrs.channels, attrs.kernel_size, 2)
    places = window_places(shape[2:], attrs.kernel_size, attrs.strides, attrs.dilation, padding)
    wanted = (shape[0], upper[1] if attrs.channels is None else attrs.channels, *places)
    if not all(map(same_dim, upper, wanted)):
        raise RelationError(
            f"the gradient {show_shape(upper)} is not that of this convolution, whose output is "
            f"{show_shape(wanted)}",
            "give the strides, padding, dilation and kernel_size of the convolution",
            culprits=(0, 1),
        )
    kernel: Shape = (upper[1], per_group(shape[1], attrs.groups), *attrs.kernel_size)
    reporter.assign(
        out,
        TensorType.of(layout_map(attrs.out_layout, "OIHW").backward(kernel), attrs.out_dtype or grad.dtype),
    )
    return True


def _backward_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """As many as the convolution itself: each product of a weight and a datum becomes one of a gradient and a
    datum.
    """
    grad = inputs[0]
    channels = 1
    if isinstance(grad, TensorType):
        found = layout_map(attrs.data_layout, "NCHW").forward(grad.shape, 0, "the gradient")[1]
        channels = found if isinstance(found, int) and found else 1
    return 2 * size_of(grad) * size_of(output) // channels


_CONV2D_BACKWARD_WEIGHT = declare(
    "nn.conv2d_backward_weight",
    "The gradient of a convolution with respect to its weight.",
    formula=(
        r"\frac{\partial L}{\partial w_{o,c,u,v}} = \sum_{n,i,j} \frac{\partial L}{\partial y_{n,o,i,j}}\, "
        r"x_{n,c,\,s i + d u - p,\, s j + d v - p}"
    ),
    relation=Relation(
        "Conv2DBackwardWeight",
        _backward_weight,
        "{0} = {1} ∗ {out}",
    ),
    inputs=("grad", "data"),
    attrs=Conv2DAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_backward_flops,
    family="training",
    level=2,
    lenient_in_tvm="It did not compare the gradient's shape with the convolution's output.",
    compute=weight_gradient,
    gradient="convolution.backward_weight",
    lowering="convolution.weight_gradient",
)


def conv2d_backward_weight(
    grad: Expr,
    data: Expr,
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    dilation: Sizes = (1, 1),
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    grad_layout: str = "NCHW",
    data_layout: str = "NCHW",
    kernel_layout: str = "OIHW",
    out_dtype: str = "",
) -> Call:
    """The weight's gradient (O, C / groups, kh, kw) from the output's `grad` (N, O, H', W') and the
    convolution's `data` (N, C, H, W).
    """
    attrs = Conv2DAttrs(
        strides=per_axis(strides, 2),
        padding=both_sides(padding, 2),
        dilation=per_axis(dilation, 2),
        groups=groups,
        channels=channels,
        kernel_size=None if kernel_size is None else per_axis(kernel_size, 2),
        data_layout=grad_layout,
        kernel_layout=data_layout,
        out_layout=kernel_layout,
        out_dtype=out_dtype,
    )
    return Call(_CONV2D_BACKWARD_WEIGHT, [expr(grad), expr(data)], attrs)
