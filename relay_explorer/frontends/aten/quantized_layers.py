"""Quantized convolutions and linear layers of PyTorch.

The sums are integers of 32 bits, computed from the integers of the data and the weight. They are rescaled in
float32 and rounded half to even, as PyTorch's kernels do. The bias is rounded to the scale of the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr
from ...ops import namespaces as relay
from ...ops.numeric import Array, np
from ..base import quantized as base
from .context import Aten
from .convolution import FORWARD, LAYOUTS, TRANSPOSED, batched
from .linear import linear as real_linear
from .packed import Convolution, Packed
from .quantization import Quantization, marked, quantization_of, quantized, real
from .quantized_tensors import for_quantized, given, range_of
from .registry import aten, find
from .values import Value

_LARGEST_BIAS = 1 << 30  # a larger one is added to the sums as a real number


class Product:
    """The sums of a layer, in int32, with their scale and the axis of the channels."""

    def __init__(self, sums: Expr, data: Quantization, weight: Quantization, axis: int) -> None:
        self.sums = sums
        self.axis = axis
        self.per_channel = weight.axis is not None
        self.scale: Expr = relay.multiply(data.scale, weight.scale)
        if isinstance(data.scale, Constant) and isinstance(weight.scale, Constant):
            self.scale = base.float32(data.scale.data.numpy() * weight.scale.data.numpy())

    @property
    def along(self) -> int:
        """The axis of the scales; -1 where there is one."""
        return self.axis if self.per_channel else -1


# -- the sums


def _zero_of(weight: Quantization) -> Expr:
    """Return the zero point of a weight, or those of its channels where they differ."""
    assert isinstance(weight.zero, Constant)
    values = weight.zero.data.numpy().reshape(-1)
    return weight.zero if (values != values[0]).any() else base.int32(int(values[0]))


def _dense(ctx: Aten, x: Expr, data: Quantization, packed: Packed) -> Product:
    """Return the product of rows with a linear layer's weight."""
    whole, weight = packed.integers()
    features = ctx.integer(cast(Value, ctx.shape(whole)[1]), "the number of features")
    units = ctx.integer(cast(Value, ctx.shape(whole)[0]), "the number of units")
    rows = x if ctx.rank(x) == 2 else ctx.reshape(x, [-1, features])
    sums = relay.qnn.dense(rows, whole, data.zero, _zero_of(weight), data.scale, weight.scale, units=units)
    return Product(sums, data, weight, 1)


def _convolved(ctx: Aten, x: Expr, data: Quantization, packed: Packed) -> Product:
    """Return the convolution of data with a batch axis, in the layout NCHW or NCDHW."""
    sizes = packed.convolution
    if sizes is None:
        raise RelayError("the weight must be that of a convolution")
    whole, weight = packed.integers()
    extents = ctx.static_shape(whole)
    if len(extents) != 4 or (sizes.transposed and sizes.groups != 1):
        return _widened(ctx, x, data, whole, weight, sizes)
    options: dict[str, Any] = {
        "strides": tuple(sizes.stride), "padding": tuple(sizes.padding) * 2,
        "dilation": tuple(sizes.dilation), "groups": sizes.groups, "kernel_size": extents[2:],
    }  # fmt: skip
    operands = (x, whole, data.zero, _zero_of(weight), data.scale, weight.scale)
    if sizes.transposed:
        sums = relay.qnn.conv2d_transpose(
            *operands, channels=extents[1], kernel_layout="IOHW",
            output_padding=tuple(sizes.output_padding), **options,
        )  # fmt: skip
    else:
        sums = relay.qnn.conv2d(*operands, channels=extents[0], **options)
    return Product(sums, data, weight, 1)


def _widened(
    ctx: Aten, x: Expr, data: Quantization, whole: Expr, weight: Quantization, sizes: Convolution
) -> Product:
    """Convolve with integers of 32 bits, where the dialect has no convolution of this form."""
    extents = ctx.static_shape(whole)
    axes = len(extents) - 2
    layout, forward, backward = LAYOUTS[axes]
    left = relay.subtract(relay.cast(x, "int32"), data.zero)
    zero = _zero_of(weight)
    if ctx.rank(zero):
        channels = 0 if weight.axis is None else weight.axis
        zero = relay.expand_dims(zero, 1, len(extents) - 1 - channels)
    right = relay.subtract(relay.cast(whole, "int32"), zero)
    options = {
        "strides": tuple(sizes.stride), "padding": tuple(sizes.padding) * 2,
        "dilation": tuple(sizes.dilation), "groups": sizes.groups, "kernel_size": extents[2:],
        "data_layout": layout, "out_dtype": "int32",
    }  # fmt: skip
    if sizes.transposed:
        sums = TRANSPOSED[axes](
            left, right, channels=extents[1] * sizes.groups, kernel_layout=backward,
            output_padding=tuple(sizes.output_padding), **options,
        )  # fmt: skip
    else:
        sums = FORWARD[axes](left, right, channels=extents[0], kernel_layout=forward, **options)
    return Product(sums, data, weight, 1)


# -- what follows the sums


def _with_bias(ctx: Aten, product: Product, packed: Packed) -> tuple[Expr, Array | None]:
    """Return the sums with the bias, or without it and the bias as real numbers, where its integers would be
    too large or the scale is not known.
    """
    bias = packed.bias_values()
    if bias is None or not bias.any():
        return product.sums, None
    if not isinstance(product.scale, Constant):
        return product.sums, bias
    whole = np.rint(bias.astype("float64") / product.scale.data.numpy().astype("float64"))
    if np.abs(whole).max() > _LARGEST_BIAS:
        return product.sums, bias
    parameter = packed.parameter("bias", whole.astype("int32"))
    return relay.nn.bias_add(product.sums, parameter, axis=product.axis), None


def _real_sums(ctx: Aten, product: Product, packed: Packed, rounded: bool) -> Expr:
    """Return the sums as real numbers, with the bias: rounded to their scale, or as it is."""
    sums, bias = _with_bias(ctx, product, packed) if rounded else (product.sums, packed.bias_values())
    result = base.dequantized(sums, product.scale, base.int32(0), product.along)
    if bias is None:
        return result
    return relay.nn.bias_add(result, packed.parameter("bias", bias), axis=product.axis)


def _rescaled(ctx: Aten, product: Product, packed: Packed, result: Quantization) -> Expr:
    """Return the sums with the bias, quantized."""
    sums, bias = _with_bias(ctx, product, packed)
    if bias is not None:
        return quantized(ctx, _real_sums(ctx, product, packed, True), result)
    whole = base.requantized(
        sums, product.scale, base.int32(0), result.scale, result.zero, result.dtype, product.along
    )
    return marked(ctx, whole, result)


Sums = Callable[[Aten, Expr, Quantization, Packed], Product]
Epilogue = Callable[[Aten, Product, Packed], Expr]


def _layer(ctx: Aten, x: Expr, packed: Packed, finish: Epilogue) -> Expr:
    """Apply a convolution or a linear layer to a quantized tensor."""
    return _applied(ctx, x, quantization_of(ctx, x, "the data"), packed, finish)


def _applied(ctx: Aten, x: Expr, data: Quantization, packed: Packed, finish: Epilogue) -> Expr:
    if packed.convolution is None:
        result = finish(ctx, _dense(ctx, x, data, packed), packed)
        if ctx.rank(x) == 2:
            return result
        ctx.type(result)
        units = ctx.shape(result)[1]
        return _carried(ctx, result, ctx.reshape(result, [*ctx.sizes(x)[:-1], cast(int, units)]))
    flat = len(packed.convolution.stride) == 2 and ctx.rank(x) == 3 and packed.weight.dim() == 4
    if flat and packed.weight.shape[2] == 1:  # a convolution in one dimension
        whole = finish(ctx, _convolved(ctx, relay.expand_dims(x, 2), data, packed), packed)
        return _carried(ctx, whole, relay.squeeze(whole, [2]))
    rank = len(packed.convolution.stride) + 2
    inner: list[Expr] = []

    def convert(batch: Expr) -> Expr:
        inner.append(finish(ctx, _convolved(ctx, batch, data, packed), packed))
        return inner[0]

    return _carried(ctx, None, batched(ctx, x, rank, convert), inner)


def _carried(ctx: Aten, before: Expr | None, after: Expr, inner: Sequence[Expr] = ()) -> Expr:
    """Note that a result has the quantization of the integers that it was reshaped from."""
    source = before if before is not None else inner[0]
    if after is not source and source in ctx.quantized:
        marked(ctx, after, ctx.quantized[source])
    return after


def _result(scale: float, zero: int, like: Quantization) -> Quantization:
    return Quantization.of(scale, zero, like.dtype)


def _quantized_layer(activation: Callable[[Aten, Expr], Expr] | None) -> Callable[..., Value]:
    """Return the converter of a layer that is followed by an activation function."""

    def convert(ctx: Aten, x: Expr, packed: Packed, *args: Value) -> Value:
        scale, zero = cast("tuple[float, int]", args[-2:])  # older schemas repeat the sizes before them
        result = _result(scale, zero, quantization_of(ctx, x, "the data"))
        whole = _layer(ctx, x, packed, lambda ctx, product, packed: _rescaled(ctx, product, packed, result))
        return whole if activation is None else activation(ctx, whole)

    return convert


def _relu(ctx: Aten, x: Expr) -> Expr:
    conversion = find("aten::relu")
    assert conversion is not None
    return cast(Expr, for_quantized("aten::relu", conversion)(ctx, x))


aten("quantized::conv1d", "quantized::conv2d", "quantized::conv3d")(_quantized_layer(None))
aten("quantized::conv1d_relu", "quantized::conv2d_relu", "quantized::conv3d_relu")(_quantized_layer(_relu))
aten("quantized::conv_transpose1d", "quantized::conv_transpose2d", "quantized::conv_transpose3d")(
    _quantized_layer(None)
)
aten("quantized::linear")(_quantized_layer(None))
aten("quantized::linear_relu")(_quantized_layer(_relu))


def _with_activation(
    ctx: Aten, x: Expr, packed: Packed, scale: float, zero: int, name: str, *args: Value
) -> Value:
    """Apply a layer, then a function of the real sums, and quantize its result."""
    result = _result(scale, zero, quantization_of(ctx, x, "the data"))

    def finish(ctx: Aten, product: Product, packed: Packed) -> Expr:
        conversion = find(f"aten::{name}")
        assert conversion is not None
        return quantized(
            ctx, cast(Expr, conversion(ctx, _real_sums(ctx, product, packed, True), *args)), result
        )

    return _layer(ctx, x, packed, finish)


@aten("quantized::linear_leaky_relu")
def linear_leaky_relu(ctx: Aten, x: Expr, packed: Packed, scale: float, zero: int, slope: float) -> Value:
    return _with_activation(ctx, x, packed, scale, zero, "leaky_relu", slope)


@aten("quantized::linear_tanh")
def linear_tanh(ctx: Aten, x: Expr, packed: Packed, scale: float, zero: int) -> Value:
    return _with_activation(ctx, x, packed, scale, zero, "tanh")


def _with_addend(is_bounded: bool) -> Callable[..., Value]:
    """Return the converter of a convolution to which another tensor is added before the result is
    quantized.
    """

    def convert(ctx: Aten, x: Expr, addend: Expr, packed: Packed, scale: float, zero: int) -> Value:
        result = _result(scale, zero, quantization_of(ctx, x, "the data"))

        def finish(ctx: Aten, product: Product, packed: Packed) -> Expr:
            total = relay.add(_real_sums(ctx, product, packed, True), real(ctx, addend))
            return quantized(ctx, relay.nn.relu(total) if is_bounded else total, result)

        return _layer(ctx, x, packed, finish)

    return convert


aten("quantized::conv2d_add")(_with_addend(False))
aten("quantized::conv2d_add_relu")(_with_addend(True))


# -- layers that quantize their data in every run


def dynamically(ctx: Aten, x: Expr, packed: Packed, reduce_range: bool = False) -> Expr:
    """Apply a layer to real values, which it quantizes to the range of its data; the result is real."""
    if not getattr(packed.weight, "is_quantized", False):  # a weight that was rounded to float16
        weight = packed.parameter("weight", packed.weight.float().numpy())
        bias = packed.bias_values()
        return cast(
            Expr,
            real_linear(ctx, x, weight, None if bias is None else packed.parameter("bias", bias)),
        )
    range_ = range_of(ctx, x, "uint8", reduce_range)
    whole = quantized(ctx, x, range_)
    return _applied(
        ctx, whole, range_, packed, lambda ctx, product, packed: _real_sums(ctx, product, packed, False)
    )


def _dynamic(is_bounded: bool) -> Callable[..., Value]:
    def convert(ctx: Aten, x: Expr, packed: Packed, reduce_range: bool = False) -> Value:
        result = dynamically(ctx, x, packed, reduce_range)
        return relay.nn.relu(result) if is_bounded else result

    return convert


aten(
    "quantized::linear_dynamic", "quantized::linear_dynamic_fp16", "quantized::conv1d_dynamic",
    "quantized::conv2d_dynamic", "quantized::conv3d_dynamic", "quantized::conv_transpose1d_dynamic",
    "quantized::conv_transpose2d_dynamic", "quantized::conv_transpose3d_dynamic",
)(_dynamic(False))  # fmt: skip
aten("quantized::linear_relu_dynamic", "quantized::linear_relu_dynamic_fp16")(_dynamic(True))


def _around_real(is_bounded: bool) -> Callable[..., Value]:
    """Return the converter of a linear layer with real data and a real result between which it computes with
    integers.
    """

    def convert(ctx: Aten, x: Expr, scale: float, zero: int, packed: Packed) -> Value:
        whole = quantized(ctx, x, given(ctx, scale, zero, "uint8"))
        result = _layer(
            ctx, whole, packed, lambda ctx, product, packed: _real_sums(ctx, product, packed, True)
        )
        return relay.nn.relu(result) if is_bounded else result

    return convert


aten("quantized::linear_with_input_q_dq_qweight_dq_output_fp32")(_around_real(False))
aten("quantized::linear_with_input_q_dq_qweight_dq_relu_output_fp32")(_around_real(True))
