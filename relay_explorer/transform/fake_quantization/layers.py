"""Rules for layers: convolutions and matrix products, whose accumulators are int32 with the product of their
operands' scales, and the bias that follows them.
"""

from __future__ import annotations

from ...ir.affine_type import TensorAffineType
from ...ir.expr import Call, Expr, const
from ...ir.typed import tensor_type
from ...ops.layouts.layout import Layout
from ..tools.typed_rewrite import call
from .affine import (
    NARROW_BITS,
    AffineTypes,
    Rule,
    StaysFloatError,
    bits,
    combined,
    constant,
    equal,
    is_vector,
    name_of,
    quantized,
    scalar_type,
    value_of,
    wrong_scale,
)

ACCUMULATOR = "int32"
MAX_BIAS = 2**30  # in steps; a greater one could overflow the accumulator that it is added to


def _narrow(node: Call, types: AffineTypes, operand: int) -> TensorAffineType:
    """Return the type of a layer's operand, whose integers must have at most 8 bits."""
    type_ = types.tensor(node.args[operand])
    if bits(type_.dtype) > NARROW_BITS:
        which = "data" if operand == 0 else "weight"
        raise StaysFloatError(f"the {which} of {name_of(node)} is {type_.dtype}, wider than 8 bits")
    return type_


def _data_and_weight(
    node: Call, types: AffineTypes, channel_axis: int
) -> tuple[TensorAffineType, TensorAffineType]:
    """Return the types of data and weight; the weight's scales may differ by output channel."""
    data, weight = _narrow(node, types, 0), _narrow(node, types, 1)
    if not scalar_type(data):
        raise StaysFloatError(
            f"the scales of the data of {name_of(node)} differ by channel, and its sums mix channels"
        )
    rank = len(tensor_type(node.args[1]).shape)
    if not scalar_type(weight) and weight.axis % rank != channel_axis:
        raise StaysFloatError(
            f"the scales of the weight of {name_of(node)} differ along axis {weight.axis}, not its outputs"
        )
    return data, weight


def _accumulated(data: TensorAffineType, weight: TensorAffineType, axis: int) -> TensorAffineType:
    """Return the type of accumulators: the product of both scales, and no zero point."""
    scale = combined(data.scale, weight.scale)
    if wrong := wrong_scale(scale):
        raise StaysFloatError(f"{wrong}: the product of the scales of data and weight")
    value = value_of(scale)
    zero: Expr = const(0)
    if value is not None and value.size > 1:
        zero = constant(0 * value, "int32")
    elif is_vector(scale):
        zero = call("cast", call("zeros_like", scale), dtype="int32")
    return TensorAffineType(scale, zero, ACCUMULATOR, axis)


def _convolution(quantized_operator: str, transposed: bool) -> Rule:
    def convolution(node: Call, types: AffineTypes) -> list[object]:
        """Multiply integers in a convolution, which corrects for the zero points of both operands."""
        attrs = node.attrs
        assert attrs is not None
        kernel = Layout(attrs["kernel_layout"])
        data, weight = _data_and_weight(node, types, kernel.index_of("O"))
        layout = Layout(attrs["out_layout"] or attrs["data_layout"])
        channels = layout.index_of("C")
        accumulated = _accumulated(data, weight, channels)
        fields = {name: attrs[name] for name in attrs if name != "out_dtype"}
        result = call(
            quantized_operator,
            *node.args,
            data.zero_point,
            weight.zero_point,
            data.scale,
            weight.scale,
            **fields,
            out_dtype=ACCUMULATOR,
        )
        return [result, _of_outputs(node, accumulated, transposed)]

    return convolution


def _of_outputs(node: Call, type_: TensorAffineType, transposed: bool) -> TensorAffineType:
    """Return the type of accumulators with a scale for each output channel.

    The groups of a transposed convolution share the scales of the weight's output channels, and a depthwise
    weight may have several outputs for each of its channels.
    """
    import numpy

    channels, scale = tensor_type(node).shape[type_.axis], value_of(type_.scale)
    if scalar_type(type_) or tensor_type(type_.scale).shape[0] == channels:
        return type_
    if scale is None or not isinstance(channels, int) or channels % scale.size:
        raise StaysFloatError(f"the scales of the weight of {name_of(node)} are not one for each output")
    numbers = (numpy.tile if transposed else numpy.repeat)(scale, channels // scale.size)
    zeros = constant(0 * numbers, "int32")
    return TensorAffineType(constant(numbers, str(scale.dtype)), zeros, type_.dtype, type_.axis)


def conv1d(node: Call, types: AffineTypes) -> list[object]:
    """Convolve sequences as images of one row, for which there is a quantized operator."""
    attrs = node.attrs
    assert attrs is not None
    kernel, layout = Layout(attrs["kernel_layout"]), Layout(attrs["data_layout"])
    out_layout = Layout(attrs["out_layout"] or attrs["data_layout"])
    data, weight = _data_and_weight(node, types, kernel.index_of("O"))
    accumulated = _accumulated(data, weight, out_layout.index_of("C"))
    operands = [
        call("expand_dims", operand, axis=own.index_of("W"), num_newaxis=1)
        for operand, own in zip(node.args, (layout, kernel), strict=True)
    ]
    width = tensor_type(node.args[1]).shape[kernel.index_of("W")]
    left, right = attrs["padding"]
    result = call(
        "qnn.conv2d",
        *operands,
        data.zero_point,
        weight.zero_point,
        data.scale,
        weight.scale,
        kernel_size=(1, width),
        channels=tensor_type(node).shape[out_layout.index_of("C")],
        strides=(1, *attrs["strides"]),
        padding=(0, left, 0, right),
        dilation=(1, *attrs["dilation"]),
        groups=attrs["groups"],
        data_layout=_of_image(layout),
        kernel_layout=_of_image(kernel),
        out_layout=_of_image(out_layout),
        out_dtype=ACCUMULATOR,
    )
    return [call("squeeze", result, axis=(out_layout.index_of("W"),)), accumulated]


def _of_image(layout: Layout) -> str:
    return str(layout).replace("W", "HW")


def dense(node: Call, types: AffineTypes) -> list[object]:
    """Multiply integers in a matrix product, which corrects for the zero points of both operands."""
    data, weight = _data_and_weight(node, types, 0)
    assert node.attrs is not None
    result = call(
        "qnn.dense",
        *node.args,
        data.zero_point,
        weight.zero_point,
        data.scale,
        weight.scale,
        units=node.attrs["units"],
        out_dtype=ACCUMULATOR,
    )
    return [result, _accumulated(data, weight, len(tensor_type(node.args[0]).shape) - 1)]


def matmul(node: Call, types: AffineTypes) -> list[object]:
    """Multiply integers in a matrix product, with the operands transposed as `qnn.dense` reads them."""
    attrs = node.attrs
    assert attrs is not None
    data, weight = _data_and_weight(node, types, 0 if attrs["transpose_b"] else 1)
    left, right = node.args
    if attrs["transpose_a"]:
        left = call("transpose", left, axes=None)
    if not attrs["transpose_b"]:
        right = call("transpose", right, axes=None)
    result = call(
        "qnn.dense",
        left,
        right,
        data.zero_point,
        weight.zero_point,
        data.scale,
        weight.scale,
        units=attrs["units"],
        out_dtype=ACCUMULATOR,
    )
    return [result, _accumulated(data, weight, len(tensor_type(node.args[0]).shape) - 1)]


def batch_matmul(node: Call, types: AffineTypes) -> list[object]:
    """Multiply integers in products of matrices, which correct for the zero points of both operands."""
    attrs = node.attrs
    assert attrs is not None
    x, y = _narrow(node, types, 0), _narrow(node, types, 1)
    if not (scalar_type(x) and scalar_type(y)):
        raise StaysFloatError("the scales of an operand of `nn.batch_matmul` differ by channel")
    left, right = node.args
    if attrs["transpose_a"]:
        left = call("transpose", left, axes=(0, 2, 1))
    if not attrs["transpose_b"]:
        right = call("transpose", right, axes=(0, 2, 1))
    result = call(
        "qnn.batch_matmul",
        left,
        right,
        x.zero_point,
        y.zero_point,
        x.scale,
        y.scale,
        out_dtype=ACCUMULATOR,
        transpose_a=False,
        transpose_b=True,
    )
    return [result, _accumulated(x, y, -1)]


def bias_add(node: Call, types: AffineTypes) -> list[object]:
    """Add a bias in the type of the accumulators."""
    assert node.attrs is not None
    data, bias = node.args
    type_ = types.tensor(data)
    axis = node.attrs["axis"] % len(tensor_type(data).shape)
    if type_.dtype != ACCUMULATOR or _any(type_.zero_point):
        raise StaysFloatError("a bias is added to values that are no accumulators")
    if not scalar_type(type_) and type_.axis % len(tensor_type(data).shape) != axis:
        raise StaysFloatError("a bias is added along another axis than that of the scales")
    return [call("nn.bias_add", data, as_accumulators(bias, type_, types), axis=node.attrs["axis"]), type_]


def _any(zero_point: Expr) -> bool:
    value = value_of(zero_point)
    return value is None or bool(value.any())


def as_accumulators(bias: Expr, type_: TensorAffineType, types: AffineTypes) -> Expr:
    """Return a bias, a vector along the channels, as integers of the accumulators' type."""
    if bias not in types:
        return quantized(bias, type_, "the bias")
    own = types.tensor(bias)
    if own.dtype == ACCUMULATOR and equal(own.scale, type_.scale) and not _any(own.zero_point):
        amount = value_of(bias)
        if amount is not None and (abs(amount.astype("int64")) > MAX_BIAS).any():
            raise StaysFloatError("the bias exceeds 2³⁰ steps, so that adding it could overflow")
        return bias
    if not scalar_type(type_):
        raise StaysFloatError("the bias has another scale than the accumulators, which differs by channel")
    return types.requantized(bias, own, type_)


RULES: dict[str, Rule] = {
    "nn.conv1d": conv1d,
    "nn.conv2d": _convolution("qnn.conv2d", False),
    "nn.conv2d_transpose": _convolution("qnn.conv2d_transpose", True),
    "nn.dense": dense,
    "nn.matmul": matmul,
    "nn.batch_matmul": batch_matmul,
    "nn.bias_add": bias_add,
}
