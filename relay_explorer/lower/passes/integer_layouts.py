"""Chooses the layouts of products of small integers: as many input channels innermost as one lane of the
processor's dot instruction adds products of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs
from ...ir.expr import Call, Expr, const
from ...ir.op import Op
from ...ir.types import TensorType
from ...ops.nn.layout import layout_map
from ...ops.nn.sliding import sides
from ...transform.tools.typed_rewrite import call
from ..targets.dots import Dot, columns_dot, dot_for
from ..targets.target import Target
from .blocks import block_of, is_blocked, is_known, is_static, packed

BYTES = ("int8", "uint8")


def sums_in_16_bits(types: Sequence[Anything]) -> bool:
    """Whether a product of bytes is accumulated in 16 bits. A vector holds twice as many such sums as sums of
    32 bits, and processors multiply and add in them directly, so the layouts are those of floating point.
    """
    data, weight, out = types
    return (
        all(map(is_static, types)) and out.dtype == "int16" and data.dtype in BYTES and weight.dtype in BYTES
    )


def convolution(
    target: Target, attrs: Attrs, inputs: list[Expr], types: Sequence[Anything], out: Anything
) -> Call | None:
    """Rewrite a convolution to data (N, C / b, H, W, b) and weight (O / b, I / p, h, w, b, p): one vector for
    p input channels and each position in the window. The blocks of data and result may differ.
    """
    data, weight = types[0], types[1]
    dot = dot_for(target, data.dtype, weight.dtype)
    if dot is None or not all(map(is_static, [data, weight, out])) or is_blocked(attrs):
        return None
    channels = layout_map(attrs["data_layout"], "NCHW").forward(data.shape, 0, "the data")[1]
    outputs = layout_map(attrs["kernel_layout"], "OIHW").forward(weight.shape, 1, "the weight")[0]
    groups = attrs["groups"]
    assert isinstance(channels, int)
    assert isinstance(outputs, int)
    block, within = (block_of(count // groups, dot.lanes) for count in (outputs, channels))
    if 1 in (block, within):
        return None
    return packed(
        "nn.contrib_conv2d_NCHWc", attrs, inputs, within, f"OIHW{block}o{dot.products}i", block, weight
    )


def depthwise(
    target: Target, attrs: Attrs, inputs: list[Expr], types: Sequence[Anything], out: Anything
) -> Call | None:
    """Rewrite a depthwise convolution to data (N, C / b, H, W, b) and weight (C / b, 1, h, w, 1, b)."""
    data, weight = types[0], types[1]
    if not all(map(is_static, [data, weight, out])) or is_blocked(attrs):
        return None
    outputs = layout_map(attrs["kernel_layout"], "OIHW").forward(weight.shape, 1, "the weight")[0]
    assert isinstance(outputs, int)
    block = block_of(outputs, target.lanes(out.dtype))
    if block == 1:
        return None
    dot = columns_dot(target, data.dtype, weight.dtype)
    if dot is not None and block == dot.lanes and attrs["dilation"][1] == 1:
        attrs, inputs, weight = _whole_groups(attrs, inputs, weight, dot)
    return packed("nn.contrib_depthwise_conv2d_NCHWc", attrs, inputs, block, f"OIHW1i{block}o", block, weight)


def _whole_groups(
    attrs: Attrs, inputs: list[Expr], weight: TensorType, dot: Dot
) -> tuple[Attrs, list[Expr], TensorType]:
    """Pad the columns of a kernel with zeros to whole groups of products. The data is padded by as many
    columns on the right, so that the result has the same columns.
    """
    axis = attrs["kernel_layout"].index("W")
    shape = list(weight.concrete_shape)
    missing = -shape[axis] % dot.products
    if not missing:
        return attrs, inputs, weight
    widths = [(0, missing if place == axis else 0) for place in range(len(shape))]
    shape[axis] += missing
    (top, bottom), (left, right) = sides(attrs["padding"], 2)
    values = {**dict(attrs.items()), "padding": (top, left, bottom, right + missing)}
    kernel = call("nn.pad", inputs[1], const(0, weight.dtype), pad_width=tuple(widths))
    return type(attrs)(**values), [inputs[0], kernel], TensorType(tuple(shape), weight.dtype)


def dense(
    target: Target, attrs: Attrs, inputs: list[Expr], types: Sequence[Anything], out: Anything
) -> Call | None:
    """Rewrite a matrix product to weight (N / b, K / p, b, p): one vector for each p input features."""
    data, weight = types[0], types[1]
    dot = dot_for(target, data.dtype, weight.dtype)
    if dot is None or not all(map(is_static, [data, weight, out])) or not is_known(inputs[1]):
        return None
    block = block_of(weight.shape[0], dot.lanes)
    if block == 1 or weight.shape[1] % dot.products:
        return None
    op = Op.get("nn.contrib_dense_pack")
    assert op.attrs_class is not None
    layout = f"NC{block}n{dot.products}c"
    return Call(
        op,
        inputs,
        op.attrs_class(units=weight.shape[0], out_dtype=attrs["out_dtype"], weight_layout=layout),
    )
