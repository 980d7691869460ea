"""Transposed convolutions of quantized data with quantized weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.declaration import NotApplicable, Precision
from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, const
from ...ir.op import Op, OpPattern
from ...ir.types import Dim, TensorType, Type
from ..arguments import Operand
from ..calls import relay
from ..examples import t
from ..nn.convolution.layouts import follow_transposed_attributes, transposed_layouts
from ..nn.convolution.transposed import Conv2DTransposeAttrs
from ..nn.window import Sizes
from ..numeric import Array, np
from ..operator import operator
from ..relation import times
from .documents import INTEGERS
from .layouts import beside
from .parameters import BYTES, NARROW, is_single
from .plain import cast, centered, is_zero, operand_type, spread
from .products import PARAMETERS, SUMS, product_relation, shifted, wrapped

__all__ = ["conv2d_transpose"]

_PLAIN = "nn.conv2d_transpose"


def _channels(attrs: Anything, data: TensorType, weight: TensorType) -> tuple[Dim, ...]:
    """Return the number of output channels: those of a group, and of all groups together."""
    each = transposed_layouts(attrs, "HW")[1].forward(weight.shape, 1, "the weight")[1]
    return (times(each, attrs.groups), each)


def _flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    return Op.get(_PLAIN).flops(attrs, inputs[:2], output)


def _reference(
    attrs: Anything, x: Array, weight: Array, zero_point: Array, kernel_zero: Array, *scales: Array
) -> Array:
    plain = Op.get(_PLAIN).reference
    assert plain is not None
    layout = transposed_layouts(attrs, "HW")[1]
    kernel = layout.unpack(weight)  # (input channels, output channels of a group, …)
    inputs, each = kernel.shape[:2]
    if kernel_zero.size == each * attrs.groups > each:  # input channels of one group share the outputs
        per_group = kernel_zero.reshape(attrs.groups, each).repeat(inputs // attrs.groups, 0)
        shift = per_group[:, :, None, None]
    else:
        shift = kernel_zero.reshape((1, -1, 1, 1)) if kernel_zero.size > 1 else kernel_zero.reshape(())
    moved = layout.pack(np.asarray(shifted(kernel, shift)))
    sums = plain(attrs.replace(out_dtype="float64"), shifted(x, zero_point.reshape(())), moved)
    return wrapped(np.asarray(sums), attrs.out_dtype)


def _canonical(call: Call, operands: Sequence[Expr]) -> Expr:
    """Subtract the zero points first: the number of weights under an element of the result differs."""
    attrs = call.attrs
    assert attrs is not None
    x, weight, zero_point, kernel_zero = operands[:4]
    types = [operand_type(call, operand) for operand in range(4)]
    acc = "int64" if attrs["out_dtype"] == "int64" else "int32"
    shift = _beside_weight(call, kernel_zero, types[3], types[1])
    of_data = spread(zero_point, types[2], 0, 0)
    if not (is_zero(of_data) and is_zero(kernel_zero)):
        x, weight = centered(x, types[0].dtype, of_data), centered(weight, types[1].dtype, shift)
    product = relay.nn.conv2d_transpose(
        x,
        weight,
        attrs["strides"],
        attrs["padding"],
        attrs["dilation"],
        attrs["groups"],
        attrs["channels"],
        attrs["kernel_size"],
        attrs["data_layout"],
        attrs["kernel_layout"],
        attrs["out_layout"],
        attrs["output_padding"],
        acc,
    )
    return cast(product, acc, attrs["out_dtype"])


def _beside_weight(call: Call, kernel_zero: Expr, type_: TensorType, weight: TensorType) -> Expr:
    """Return the kernel's zero point in a shape that broadcasts with its weight."""
    attrs = call.attrs
    assert attrs is not None
    layout = transposed_layouts(attrs, "HW")[1]
    inputs, each = layout.forward(weight.shape, 1, "the weight")[:2]
    outputs = layout.places[1]
    if is_single(type_) or type_.shape[0] == each:
        return spread(kernel_zero, type_, outputs, 4)
    groups = attrs["groups"]
    if not isinstance(inputs, int) or not isinstance(each, int):
        raise RelayError(
            f"`{call.op}` with groups and a zero point per channel needs a static weight, not {weight}",
            call.span,
            help=["give the program's parameters shapes without `?`"],
        )
    rows = relay.repeat(relay.reshape(kernel_zero, (groups, -1)), inputs // groups, 0)
    shape = [1, 1, 1, 1]
    shape[layout.places[0]], shape[outputs] = -1, each
    if layout.places[0] > outputs:
        rows = relay.transpose(rows)
    return relay.reshape(rows, shape)


@operator(
    "qnn.conv2d_transpose",
    description="Computes the transposed convolution of quantized data with a quantized weight.",
    formula=r"y_{n,o} = \sum_c (w_{c,o} - z_w) \ast^{\mathsf T} (x_{n,c} - z_x)",
    family="quantization",
    level=11,
    relation=product_relation(
        "QnnConv2DTranspose",
        _PLAIN,
        "{out} = {0} ∗ᵀ {1}, in `out_dtype`",
        _channels,
        NARROW,
        BYTES,
        ("int16", *SUMS),
    ),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_flops,
    reference=_reference,
    gradient=NotApplicable(INTEGERS),
    canonical=_canonical,
    layout=beside(follow_transposed_attributes, 2),
    kernel_layouts={"NCHW": "IOHW", "NHWC": "HWIO"},
    precision=Precision.UNLISTED,
    attrs=Conv2DTransposeAttrs,
    inputs=("data", "weight", *PARAMETERS),
    example=lambda build: build(
        t(1, 4, 5, 5, dtype="uint8"), t(4, 8, 3, 3, dtype="int8", name="w"),
        const(120), const(0), const(0.1), const(0.2), strides=(2, 2), padding=(1, 1), channels=8,
        kernel_size=(3, 3),
    ),
)  # fmt: skip
def conv2d_transpose(
    data: Operand,
    weight: Operand,
    input_zero_point: Operand,
    kernel_zero_point: Operand,
    input_scale: Operand,
    kernel_scale: Operand,
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
    out_dtype: str = "int32",
) -> Call:
    """Compute the transposed convolution of `data` (N, C, H, W) with `weight` (C, O / groups, kh, kw):
    (N, O, H', W'), sums of integers.

    The scale of the result is input_scale · kernel_scale, and its zero point 0. Those of the kernel may be
    vectors with an element per output channel.
    """
