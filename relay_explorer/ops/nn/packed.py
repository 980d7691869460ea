"""Layers whose channels lie in blocks of a vector's width, and whose weights are packed to match: what a
compiler turns `nn.conv2d` and `nn.dense` into, once it knows how wide the machine's vectors are.

No program begins with them; AlterOpLayout puts them there, and FoldConstant packs the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, DType, attr
from ...ir.expr import Call, Expr
from ...ir.op import Op, OpPattern, Relation, RelationError, Reporter, size_of
from ...ir.show import show_shape
from ...ir.types import IncompleteType, TensorType, Type
from ..arguments import expr
from ..declare import declare
from ..numeric import Array, element_type, np
from ..relation import same_dim, tensor
from .conv import Conv2DAttrs, convolution_relation
from .conv_rules import conv_flops
from .conv_values import convolution
from .layout import layout_map
from .product import OUT_DTYPE
from .window import Sizes, both_sides, per_axis

__all__ = ["contrib_conv2d_nchwc", "contrib_dense_pack", "contrib_depthwise_conv2d_nchwc"]


class DensePackAttrs(Attrs, key="relay.attrs.DensePackAttrs"):
    units: int | None = attr(None, "The number of output features; the weight's where it is left out.")
    out_dtype: DType = attr("", OUT_DTYPE)
    weight_layout: str = attr("NC", "The order of the weight's axes: N output features in blocks, C input.")


def _declare(name: str, what: str, relation: str) -> Op:
    return declare(
        name,
        f"{what} whose channels lie in blocks, with a weight packed to match.",
        formula=(
            r"y_{n,O,i,j,o} = \sum_{C,u,v,c} x_{n,C,\,s i + d u - p,\, s j + d v - p,\,c}\, w_{O,C,u,v,c,o}"
        ),
        relation=convolution_relation(relation, "NCHW", "OIHW"),
        inputs=("data", "weight"),
        attrs=Conv2DAttrs,
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        flops=conv_flops("NCHW"),
        compute=convolution("HW"),
        family="convolution",
        level=2,
        lenient_in_tvm="It did not compare the channels of data and weight.",
        lowering="packed.convolution",
    )


_CONV2D = _declare("nn.contrib_conv2d_NCHWc", "A convolution over two axes", "Conv2DNCHWc")
_DEPTHWISE = _declare(
    "nn.contrib_depthwise_conv2d_NCHWc", "A convolution of each channel by itself", "DepthwiseConv2DNCHWc"
)


def _dense_pack(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Inputs (…, k) and, in blocks of b, (units / b, k, b); output (…, units)."""
    data, weight, out = types
    if isinstance(data, IncompleteType) or isinstance(weight, IncompleteType):
        return False
    data, weight = tensor(data, 0, "data"), tensor(weight, 1, "weight")
    if not data.shape:
        raise RelationError("the data is a single number, but must have at least one axis", culprits=(0,))
    units, features = layout_map(attrs.weight_layout, "NC").forward(weight.shape, 1, "the weight")
    if not same_dim(features, data.shape[-1]):
        raise RelationError(
            f"the data has {data.shape[-1]} features, but the weight {show_shape(weight.shape)} takes "
            f"{features}",
            f'its layout is "{attrs.weight_layout}": N counts output features, C input features',
            culprits=(0, 1),
        )
    if attrs.units is not None and not same_dim(units, attrs.units):
        raise RelationError(
            f"units={attrs.units}, but the weight {show_shape(weight.shape)} makes {units} features",
            f"give units={units}, or leave it out",
            culprits=(1,),
        )
    reporter.assign(out, TensorType.of((*data.shape[:-1], units), attrs.out_dtype or data.dtype))
    return True


def _dense_pack_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """A multiply and an add for each output element and input feature."""
    data = inputs[0]
    features = data.shape[-1] if isinstance(data, TensorType) and data.shape else 1
    return 2 * size_of(output) * (features if isinstance(features, int) else 1)


def _dense_pack_value(attrs: Anything, x: Array, weight: Array) -> Array:
    dtype = element_type(attrs.out_dtype or x.dtype)
    plain = layout_map(attrs.weight_layout, "NC").unpack(weight)
    return np.matmul(x.astype(dtype, copy=False), plain.T.astype(dtype, copy=False))


_DENSE_PACK = declare(
    "nn.contrib_dense_pack",
    "Multiplies by a weight matrix whose output features lie in blocks.",
    formula=r"y_{\ldots,J b + j} = \sum_{k} x_{\ldots,k}\, w_{J,k,j}",
    relation=Relation("DensePack", _dense_pack, "{out} = {0} · {1}ᵀ, {1} in blocks"),
    inputs=("data", "weight"),
    attrs=DensePackAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_dense_pack_flops,
    compute=_dense_pack_value,
    family="matmul",
    level=10,
    lenient_in_tvm="It never compared the inner dimensions of data and weight.",
    lowering="packed.dense",
)


def contrib_conv2d_nchwc(
    data: Expr,
    kernel: Expr,
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    dilation: Sizes = (1, 1),
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    data_layout: str = "NCHW8c",
    kernel_layout: str = "OIHW",
    out_layout: str = "",
    out_dtype: str = "",
) -> Call:
    """Convolves `data`, (N, C / b, H, W, b) for "NCHW8c", with `kernel` in the layout named."""
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
    return Call(_CONV2D, [expr(data), expr(kernel)], attrs)


def contrib_depthwise_conv2d_nchwc(
    data: Expr,
    kernel: Expr,
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    dilation: Sizes = (1, 1),
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    data_layout: str = "NCHW8c",
    kernel_layout: str = "OIHW",
    out_layout: str = "",
    out_dtype: str = "",
) -> Call:
    """The same with `groups` as many as there are channels: each is convolved by itself."""
    made = contrib_conv2d_nchwc(
        data, kernel, strides, padding, dilation, groups, channels, kernel_size, data_layout, kernel_layout,
        out_layout, out_dtype,
    )  # fmt: skip
    return Call(_DEPTHWISE, made.args, made.attrs)


def contrib_dense_pack(
    data: Expr, weight: Expr, weight_layout: str = "NC", units: int | None = None, out_dtype: str = ""
) -> Call:
    """`data` (…, k) times `weight`, (units / b, k, b) in the layout "NC8n" for b = 8: (…, units)."""
    attrs = DensePackAttrs(units=units, out_dtype=out_dtype, weight_layout=weight_layout)
    return Call(_DENSE_PACK, [expr(data), expr(weight)], attrs)
