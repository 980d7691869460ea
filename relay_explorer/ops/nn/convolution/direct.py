"""Convolutions over one, two and three spatial axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ParamSpec, TypeVar

from ....ir.attrs import Attrs
from ....ir.declaration import Precision, Trait
from ....ir.expr import Call, var
from ....ir.op import OpPattern
from ...arguments import Operand
from ...examples import IMAGE, SIGNAL, VOLUME, t
from ...operator import Example, operator
from ...te.lowered import Lowered
from ...te.tensors import Tensor, Value, View, number, quotient, reduce_axes, sum_over, sum_type
from ...te.windows import positions, surrounded
from ..sliding import sides
from ..window import Sizes
from .attributes import Conv1DAttrs, Conv2DAttrs, Conv3DAttrs
from .gradients import CONVOLUTION
from .layouts import conv_layouts, follow_attributes
from .lowering import added_up, axes_of_space, by_output, input_channel, product, scaled
from .reference import convolution
from .relations import conv_flops, convolution_relation

__all__ = ["conv1d", "conv2d", "conv3d"]

P = ParamSpec("P")
R = TypeVar("R")


def _convolution_te(call: Lowered) -> list[Tensor]:
    """Sum the products of windows and weights over the channels of each output's group."""
    attrs, dtype, axes = call.attrs, call.out.dtype, axes_of_space(call)
    data_layout, kernel_layout, out_layout = conv_layouts(attrs, "NC" + axes, "OI" + axes)
    data, weight = View(call.inputs[0], data_layout), View(call.inputs[1], kernel_layout)
    pairs = sides(attrs.padding, len(axes))
    padded = surrounded(data, pairs, number(0, data.dtype), f"{call.name}_pad")
    channels = weight.shape[0] if attrs.channels is None else attrs.channels
    inputs, outputs = quotient(padded.shape[1], attrs.groups), quotient(channels, attrs.groups)
    read = by_output(weight, channels, attrs.groups)
    steps = list(zip(attrs.strides, attrs.dilation, strict=True))
    extents = [
        positions(dim, size, stride, dilation, (0, 0))
        for dim, size, (stride, dilation) in zip(padded.shape[2:], weight.shape[2:], steps, strict=True)
    ]
    c, *u = reduce_axes([inputs, *weight.shape[2:]])

    def term(n: Value, o: Value, *i: Value) -> Value:
        channel = input_channel(o, c, attrs.groups, inputs, outputs)
        at = [scaled(p, s) + scaled(k, d) for p, k, (s, d) in zip(i, u, steps, strict=True)]
        return product(padded(n, channel, *at), read(o, c, *u), sum_type(dtype))

    shape = (data.shape[0], channels, *extents)
    return [added_up(shape, out_layout, lambda *i: sum_over(term(*i), [c, *u]), dtype, call.name)]


_LENIENT = (
    "It accepted windows larger than the padded data, groups that do not divide the channels, packed axes "
    "whose length is not the layout's, and strides, dilations or paddings that are not positive."
)


def _convolution(
    axes: str,
    attrs: type[Attrs],
    index: str,
    window: str,
    example: Example,
    kernel_layouts: Mapping[str, str],
    *traits: Trait,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a convolution over the spatial `axes`; its formula uses the indices `index` of the output and
    `window` of the data.
    """
    n = len(axes)
    return operator(
        f"nn.conv{n}d",
        description=f"Convolves the data with a weight over {('one axis', 'two axes', 'three axes')[n - 1]}.",
        formula=(
            rf"y_{{n,o,{index}}} = \sum_{{c,{','.join('uvw'[:n])}}} x_{{n,c,{window}}}\, "
            rf"w_{{o,c,{','.join('uvw'[:n])}}}"
        ),
        family="convolution",
        level=2,
        relation=convolution_relation(f"Conv{n}D", "NC" + axes, "OI" + axes),
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        flops=conv_flops("NC" + axes),
        reference=convolution(axes),
        gradient=CONVOLUTION,
        lowering=_convolution_te,
        layout=follow_attributes,
        precision=Precision.ALWAYS,
        kernel_layouts=kernel_layouts,
        traits={Trait.CONVOLUTION, *traits},
        example=example,
        attrs=attrs,
        lenient_in_tvm=_LENIENT,
    )


@_convolution(
    "W",
    Conv1DAttrs,
    "i",
    "s i + d u - p",
    lambda build: build(SIGNAL, var("w"), padding=1, channels=8, kernel_size=3),
    {"NCW": "OIW", "NWC": "WIO"},
)
def conv1d(
    data: Operand,
    weight: Operand,
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
    """Convolve `data` (N, C, W) with `weight` (O, C / groups, k): (N, O, W')."""


@_convolution(
    "HW",
    Conv2DAttrs,
    "i,j",
    "s i + d u - p,\\, s j + d v - p",
    lambda build: [
        build(IMAGE, var("w"), strides=(2, 2), padding=(1, 1), channels=8, kernel_size=(3, 3)),
        build(IMAGE, t(4, 1, 3, 3, name="w"), groups=4, channels=4),
    ],
    {"NCHW": "OIHW", "NHWC": "HWIO", "HWNC": "HWOI"},
    Trait.MULTIPLY_ADD,
    Trait.LINEAR_IN_WEIGHT,
)
def conv2d(
    data: Operand,
    weight: Operand,
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
    """Convolve `data` (N, C, H, W) with `weight` (O, C / groups, kh, kw): (N, O, H', W')."""


@_convolution(
    "DHW",
    Conv3DAttrs,
    "i,j,k",
    "s i + d u - p,\\, s j + d v - p,\\, s k + d w - p",
    lambda build: build(VOLUME, t(2, 4, 3, 3, 3, name="w")),
    {"NCDHW": "OIDHW", "NDHWC": "DHWIO"},
    Trait.LINEAR_IN_WEIGHT,
)
def conv3d(
    data: Operand,
    weight: Operand,
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
    """Convolve `data` (N, C, D, H, W) with `weight` (O, C / groups, kd, kh, kw): (N, O, D', H', W')."""
