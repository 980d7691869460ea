"""Converters of convolutions and dense layers.

One with data of 8 bits is an operator of the dialect `qnn`, whose sums are integers of 32 bits; their scale
is that of the data times that of the weights. With activations of 16 bits, whose sums are larger, and for
volumes, the zero points are subtracted and the integers converted to those of the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ...ops.numeric import Array, np
from ..base import quantized as base
from ..base.padding import same_padding
from ..base.products import matmul, split_rows
from .hybrid import hybrid_matmul, hybrid_product, is_hybrid
from .operation import Operation, converter
from .quantization import RANGES, bounds, centered, limited, rescaled_to_16_bits, scale_of, zero_of
from .reader import Quantization
from .reference_kernels import layer

_SAME = 0
_MOST_FEATURES = 512  # whose sums of products of 16 and 8 bits, times a fraction of 31 bits, fit into 64 bits


def _weight(op: Operation, index: int, form: str, axes: Sequence[int], shape: Sequence[int] = ()) -> Expr:
    """Return the stored weights with their axes in another order, then in another shape."""
    tensor = op.tensor(index)
    if tensor.data is not None:
        return op.frame.weight(
            tensor, form, lambda values: values.transpose(axes).reshape(shape or values.transpose(axes).shape)
        )
    moved = relay.transpose(op.stored(index), axes)
    return relay.reshape(moved, shape) if shape else moved


def _is_quantized(op: Operation, weight: int, data: int) -> bool:
    """Whether the operator computes with integers."""
    whole = "int" in op.dtype(weight)
    if whole and (op.tensor(data).quantization is None or op.tensor(weight).quantization is None):
        raise RelayError(f"{op.name} has integer operands without quantization parameters")
    return whole


def _linear(
    op: Operation,
    data: int,
    weight: int,
    bias: int,
    arranged: Expr,
    product: Callable[[Expr, Expr, str], Expr],
    hybrid: Callable[[], Expr],
    of_integers: Callable[[Expr, Expr, base.Parameters], Expr] | None = None,
) -> Expr:
    """Return product(data, weights) plus the bias along the last axis, activated. `arranged` are the weights
    in the order that the product needs. `hybrid` returns the product of float data and quantized weights.
    `of_integers` is the product of 8-bit integers, called with the zero points and the scales of the data and
    the weights as well.

    The result are real values, which the importer quantizes, unless `op.mode` remains "own".
    """
    is_mixed = is_hybrid(op, weight, data)
    if is_mixed or not _is_quantized(op, weight, data):
        op.mode = "real"
        result = hybrid() if is_mixed else product(op.stored(data), arranged, "")
        if op.has(bias):
            result = relay.nn.bias_add(result, op.real(bias), axis=op.context.rank(result) - 1)
        return op.activated(result)
    wide = "int64" if op.dtype(data) == "int16" else "int32"
    of_data, of_weight = op.tensor(data).quantization, op.tensor(weight).quantization
    assert of_data is not None
    assert of_weight is not None
    if len(set(of_weight.zero_point)) > 1:
        raise RelayError(f"{op.name} with different zero points for the weight's channels cannot be imported")
    zero = const(of_weight.zero_point[0], "int32")
    if of_integers is not None and wide == "int32" and op.dtype(weight) in ("int8", "uint8"):
        parameters = (zero_of(of_data), zero, scale_of(of_data), scale_of(of_weight))
        return _finished(op, bias, of_integers(op.stored(data), arranged, parameters), of_data, of_weight)
    weights = relay.cast(arranged, wide)
    if of_weight.zero_point[0]:
        weights = relay.subtract(weights, const(of_weight.zero_point[0], wide))
    sums = product(centered(op.context, op.stored(data), of_data, wide), weights, wide)
    if op.has(bias):
        sums = relay.nn.bias_add(sums, relay.cast(op.stored(bias), wide), axis=op.context.rank(sums) - 1)
    scale = np.asarray(of_weight.scale, np.float64) * np.float64(np.float32(of_data.scale[0]))
    whole = _of_16_bits(op, weight, sums, scale) if wide == "int64" else None
    if whole is not None:
        return whole
    op.mode = "real"
    scales = const(np.asarray(scale if len(scale) > 1 else scale[0], np.float32))
    return op.activated(relay.multiply(relay.cast(sums, "float32"), scales))


def _of_16_bits(op: Operation, weight: int, sums: Expr, scale: Array) -> Expr | None:
    """Return int64 sums activated and quantized to 16 bits; None if the result is of another kind, or if the
    integers of a dense layer with many features could exceed 64 bits.
    """
    result, short = op.result().quantization, op.name != "FULLY_CONNECTED"
    if result is None or op.result().dtype != "int16" or result.per_channel:
        return None
    limits = bounds(result, "int16", int(op.attr("fused_activation_function")))
    if limits is None or not (short or op.extents(weight, (1,))[0] <= _MOST_FEATURES):
        return None
    whole = rescaled_to_16_bits(sums, scale / np.float64(np.float32(result.scale[0])), short)
    return relay.cast(relay.clip(whole, *limits), "int16")


def _finished(op: Operation, bias: int, sums: Expr, data: Quantization, weight: Quantization) -> Expr:
    """Return sums of integers with the bias, activated and quantized; as real values where the result is not
    quantized or the activation function is not a restriction of the range.
    """
    scale = const(np.asarray(weight.scale, np.float32) * np.float32(data.scale[0]))
    along = op.context.rank(sums) - 1
    axis = along
    if len(weight.scale) == 1:
        scale, axis = const(np.float32(weight.scale[0]) * np.float32(data.scale[0])), -1
    if op.has(bias):
        sums = relay.nn.bias_add(sums, relay.cast(op.stored(bias), "int32"), axis=along)
    result, dtype = op.result().quantization, op.result().dtype
    limits = None
    if result is not None and dtype in RANGES and not result.per_channel:
        limits = bounds(result, dtype, int(op.attr("fused_activation_function")))
    zero = const(0, "int32")
    if limits is None or result is None:
        op.mode = "real"
        return op.activated(base.dequantized(sums, scale, zero, axis))
    if op.frame.importer.reference:
        scales = np.asarray(weight.scale if axis >= 0 else weight.scale[0], np.float32).astype(np.float64)
        factors = scales * np.float64(np.float32(data.scale[0])) / np.float64(np.float32(result.scale[0]))
        return layer(op, sums, factors, result, dtype, along)
    whole = base.requantized(sums, scale, zero, scale_of(result), zero_of(result), dtype, axis)
    return limited(whole, dtype, limits)


def _strides(op: Operation) -> tuple[int, int]:
    return _positive(op, "stride_h"), _positive(op, "stride_w")


def _positive(op: Operation, name: str) -> int:
    value = int(op.attr(name, 1))
    if value < 1:
        raise RelayError(f"`{name}` must be positive, not {value}")
    return value


def _dilation(op: Operation) -> tuple[int, int]:
    return _positive(op, "dilation_h_factor"), _positive(op, "dilation_w_factor")


def _padding(
    op: Operation, data: int, kernel: Sequence[int], strides: Sequence[int], dilation: Sequence[int]
) -> tuple[int, ...]:
    if int(op.attr("padding")) != _SAME:
        return (0,) * (2 * len(kernel))
    return same_padding(op.shape(data)[1:-1], kernel, strides, dilation)


def _hybrid_convolution(
    op: Operation,
    weights: Expr,
    product: Any,
    padding: Sequence[int],
    axes: Sequence[int],
    summed: Sequence[int],
) -> Expr:
    """Return the product of float data, which gets its padding before it is quantized, and the weights. Data
    along `axes` has one scale; the product sums over the axes `summed` of the weights.
    """
    top, left, bottom, right = padding
    x = op.stored(0)
    if any(padding):
        x = relay.nn.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), 0.0)

    def inside(data: Expr, weight: Expr, dtype: str) -> Expr:
        result: Expr = product(data, weight, dtype, (0, 0, 0, 0))
        return result

    return hybrid_product(op, x, 1, weights, inside, axes, summed)


@converter("CONV_2D", mode="own")
def _conv_2d(op: Operation) -> Expr:
    outputs, height, width, inputs = op.extents(1, (0, 1, 2, 3))
    (channels,) = op.extents(0, (3,))
    if inputs < 1 or channels % inputs:
        raise RelayError(f"{channels} channels cannot be convolved with a filter of {inputs} channels")
    groups = channels // inputs
    strides, dilation = _strides(op), _dilation(op)
    padding = _padding(op, 0, (height, width), strides, dilation)

    def product(data: Expr, weight: Expr, dtype: str, padding: Sequence[int] = padding) -> Expr:
        return relay.nn.conv2d(
            data, weight, strides, padding, dilation, groups=groups, channels=outputs,
            kernel_size=(height, width), data_layout="NHWC", kernel_layout="HWIO", out_dtype=dtype,
        )  # fmt: skip

    def hybrid() -> Expr:
        # The default kernel of a convolution of single pixels is that of a dense layer.
        is_dense = (height, width, groups, *strides) == (1, 1, 1, 1, 1) and not op.frame.importer.reference
        axes = (3,) if is_dense else (1, 2, 3)
        return _hybrid_convolution(op, weights, product, padding, axes, (0, 1, 2))

    def of_integers(data: Expr, weight: Expr, parameters: base.Parameters) -> Expr:
        return relay.qnn.conv2d(
            data, weight, *parameters, kernel_size=(height, width), channels=outputs, strides=strides,
            padding=padding, dilation=dilation, groups=groups, data_layout="NHWC", kernel_layout="HWIO",
        )  # fmt: skip

    weights = _weight(op, 1, "HWIO", (1, 2, 3, 0))
    return _linear(op, 0, 1, 2, weights, product, hybrid, of_integers)


@converter("DEPTHWISE_CONV_2D", mode="own")
def _depthwise_conv_2d(op: Operation) -> Expr:
    _, height, width, outputs = op.extents(1, (0, 1, 2, 3))
    (channels,) = op.extents(0, (3,))
    if channels < 1 or outputs % channels:
        raise RelayError(
            f"the output channels of a depthwise convolution, {outputs}, must be a multiple of its input "
            f"channels, {channels}"
        )
    strides, dilation = _strides(op), _dilation(op)
    padding = _padding(op, 0, (height, width), strides, dilation)
    layout = "HWOI" if channels > 1 else "HWIO"  # with one channel it is an ordinary convolution

    def product(data: Expr, weight: Expr, dtype: str, padding: Sequence[int] = padding) -> Expr:
        return relay.nn.conv2d(
            data, weight, strides, padding, dilation, groups=channels, channels=outputs,
            kernel_size=(height, width), data_layout="NHWC", kernel_layout=layout, out_dtype=dtype,
        )  # fmt: skip

    def hybrid() -> Expr:
        return _hybrid_convolution(op, weights, product, padding, (1, 2, 3), (0, 1))

    def of_integers(data: Expr, weight: Expr, parameters: base.Parameters) -> Expr:
        return relay.qnn.conv2d(
            data, weight, *parameters, kernel_size=(height, width), channels=outputs, strides=strides,
            padding=padding, dilation=dilation, groups=channels, data_layout="NHWC", kernel_layout=layout,
        )  # fmt: skip

    shape = (height, width, channels, outputs // channels)
    weights = _weight(op, 1, layout, (1, 2, 0, 3), shape)
    return _linear(op, 0, 1, 2, weights, product, hybrid, of_integers)


def _transposed(
    extents: Sequence[int], result: Sequence[int], kernel: Sequence[int], strides: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the padding and the output padding with which a transposed convolution has the extents
    `result`.
    """
    before, after, extra = [], [], []
    for extent, wanted, size, stride in zip(extents, result, kernel, strides):
        whole = (extent - 1) * stride + size
        total = max(whole - wanted, 0)
        before.append(total // 2)
        after.append(total - total // 2)
        extra.append(max(wanted - whole, 0))
    return (*before, *after), tuple(extra)


@converter("TRANSPOSE_CONV", mode="own")
def _transpose_conv(op: Operation) -> Expr:
    outputs, height, width, _ = op.extents(1, (0, 1, 2, 3))
    strides = _strides(op)
    wanted = op.ints(0, "the output shape")
    padding, extra = _transposed(op.extents(2, (1, 2)), wanted[1:3], (height, width), strides)

    def product(data: Expr, weight: Expr, dtype: str) -> Expr:
        result = relay.nn.conv2d_transpose(
            relay.transpose(data, (0, 3, 1, 2)), weight, strides, padding, channels=outputs,
            kernel_size=(height, width), output_padding=extra, out_dtype=dtype,
        )  # fmt: skip
        return relay.transpose(result, (0, 2, 3, 1))

    def of_integers(data: Expr, weight: Expr, parameters: base.Parameters) -> Expr:
        result = relay.qnn.conv2d_transpose(
            relay.transpose(data, (0, 3, 1, 2)), weight, *parameters, strides=strides, padding=padding,
            channels=outputs, kernel_size=(height, width), kernel_layout="IOHW", output_padding=extra,
        )  # fmt: skip
        return relay.transpose(result, (0, 2, 3, 1))

    weights = _weight(op, 1, "IOHW", (3, 0, 1, 2))

    def hybrid() -> Expr:
        return hybrid_product(op, op.stored(2), 1, weights, product, (1, 2, 3), None)

    return _linear(op, 2, 1, 3, weights, product, hybrid, of_integers)


def _volume(op: Operation) -> tuple[tuple[int, ...], tuple[int, ...]]:
    strides = tuple([_positive(op, f"stride_{axis}") for axis in "dhw"])
    return strides, tuple([_positive(op, f"dilation_{axis}_factor") for axis in "dhw"])


@converter("CONV_3D", mode="own")
def _conv_3d(op: Operation) -> Expr:
    *kernel, inputs, outputs = op.extents(1, range(5))
    (channels,) = op.extents(0, (4,))
    if inputs < 1 or channels % inputs:
        raise RelayError(f"{channels} channels cannot be convolved with a filter of {inputs} channels")
    strides, dilation = _volume(op)
    padding = _padding(op, 0, kernel, strides, dilation)

    def product(data: Expr, weight: Expr, dtype: str) -> Expr:
        return relay.nn.conv3d(
            data, weight, strides, padding, dilation, groups=channels // inputs, channels=outputs,
            kernel_size=kernel, data_layout="NDHWC", kernel_layout="DHWIO", out_dtype=dtype,
        )  # fmt: skip

    def hybrid() -> Expr:
        return hybrid_product(op, op.stored(0), 1, op.stored(1), product, (1, 2, 3, 4), None)

    return _linear(op, 0, 1, 2, op.stored(1), product, hybrid)


@converter("CONV_3D_TRANSPOSE", mode="own")
def _conv_3d_transpose(op: Operation) -> Expr:
    *kernel, outputs, _ = op.extents(1, range(5))
    strides, dilation = _volume(op)
    if any(factor != 1 for factor in dilation):
        raise RelayError("a transposed convolution with dilation cannot be imported")
    wanted = op.ints(0, "the output shape")
    padding, extra = _transposed(op.extents(2, (1, 2, 3)), wanted[1:4], kernel, strides)

    def product(data: Expr, weight: Expr, dtype: str) -> Expr:
        result = relay.nn.conv3d_transpose(
            relay.transpose(data, (0, 4, 1, 2, 3)), weight, strides, padding, channels=outputs,
            kernel_size=kernel, output_padding=extra, out_dtype=dtype,
        )  # fmt: skip
        return relay.transpose(result, (0, 2, 3, 4, 1))

    weights = _weight(op, 1, "IODHW", (4, 3, 0, 1, 2))

    def hybrid() -> Expr:
        return hybrid_product(op, op.stored(2), 1, weights, product, (1, 2, 3, 4), None)

    return _linear(op, 2, 1, 3, weights, product, hybrid)


@converter("FULLY_CONNECTED", mode="own")
def _fully_connected(op: Operation) -> Expr:
    if int(op.attr("weights_format")):
        raise RelayError("FULLY_CONNECTED with shuffled weights cannot be imported")
    units, features = op.extents(1, (0, 1))
    keeps = bool(op.attr("keep_num_dims", False)) and op.rank(0) > 2

    def of_rows(rows: Expr, weight: Expr, dtype: str) -> Expr:
        return relay.nn.dense(rows, weight, units=units, out_dtype=dtype)

    def product(data: Expr, weight: Expr, dtype: str) -> Expr:
        result = of_rows(relay.reshape(data, (-1, features)), weight, dtype)
        return split_rows(op.context, result, data) if keeps else result

    def of_integers(data: Expr, weight: Expr, parameters: base.Parameters) -> Expr:
        rows = relay.reshape(data, (-1, features))
        result = relay.qnn.dense(rows, weight, *parameters, units=units)
        return split_rows(op.context, result, data) if keeps else result

    def hybrid() -> Expr:
        rows, weights = relay.reshape(op.stored(0), (-1, features)), op.stored(1)
        result = hybrid_product(op, rows, 1, weights, of_rows, [1], [1])
        return split_rows(op.context, result, op.stored(0)) if keeps else result

    return _linear(op, 0, 1, 2, op.stored(1), product, hybrid, of_integers)


@converter("BATCH_MATMUL")
def _batch_matmul(op: Operation) -> Expr:
    left, right, dtype = op[0], op[1], op.result().dtype
    if op.result().quantization is None and dtype == "int32":  # integers without scales
        left, right = relay.cast(op.stored(0), dtype), relay.cast(op.stored(1), dtype)
    elif is_hybrid(op, 1, 0):
        return hybrid_matmul(op)
    return matmul(op.context, left, right, bool(op.attr("adj_x", False)), bool(op.attr("adj_y", False)))
