"""Convert ONNX's quantized operators to those of the dialect `qnn`.

`quantize` and `dequantize` are the two conversions that all others are built from. They round half to even
and saturate, as ONNX defines. There is one scale for a whole tensor, for each index of an axis, or for each
block of an axis. What the dialect does not have (blocks, the float64 type, sums of other types) is plain
arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base import quantized as base
from ..base.errors import DynamicShapeError
from ..base.source import Node
from . import registry
from .convolution import with_bias
from .few_bits import of_result
from .graph import Graph
from .matrix import matmul
from .registry import Inputs, converter
from .tools import normal_axis, operand, operands, optional
from .types import dtype_of
from .windows import Window

RANGES = {name: base.RANGES[name] for name in ("uint8", "int8", "uint16", "int16")}
"""The smallest and the greatest value of each quantized element type."""
_BYTES = ("uint8", "int8")


def quantize(
    g: Graph, x: Expr, scale: Expr, zero: Expr | None, dtype: str, axis: int = 1, block: int = 0
) -> Expr:
    """Return `saturate(round(x / scale) + zero)` as `dtype`."""
    if dtype not in RANGES:
        raise RelayError(f"values cannot be quantized to {dtype}, only to {', '.join(RANGES)}")
    base.check_scale(g.context.frozen(scale))
    if not block and g.context.dtype(x) != "float64":
        own = parameters(g, x, scale, zero, axis)
        return base.quantized(_cast(g, x, "float32"), own.scale, own.zero, dtype, own.axis)
    scale = aligned(g, scale, x, axis, block)
    float_type = "float64" if g.context.dtype(x) == "float64" else "float32"
    ratio = relay.divide(relay.cast(x, float_type), relay.cast(scale, float_type))
    return saturated(g, ratio, None if zero is None else aligned(g, zero, x, axis, block), dtype)


def saturated(g: Graph, value: Expr, zero: Expr | None, dtype: str) -> Expr:
    """Return a real number rounded half to even, plus a zero point, within the range of `dtype`."""
    lowest, highest = RANGES[dtype]
    result: Expr = relay.round(value)
    if zero is not None:
        result = relay.add(result, relay.cast(zero, g.context.dtype(value)))
    return relay.cast(relay.clip(result, lowest, highest), dtype)


def dequantize(
    g: Graph, x: Expr, scale: Expr, zero: Expr | None, dtype: str, axis: int = 1, block: int = 0
) -> Expr:
    """Return `(x - zero) * scale` as `dtype`."""
    if not block and g.context.dtype(x) in base.RANGES:
        own = parameters(g, x, scale, zero, axis)
        return _cast(g, base.dequantized(x, own.scale, own.zero, own.axis), dtype)
    scale = aligned(g, scale, x, axis, block)
    wide: Expr = relay.cast(x, "int32")
    if zero is not None:
        wide = relay.subtract(wide, relay.cast(aligned(g, zero, x, axis, block), "int32"))
    result = relay.multiply(relay.cast(wide, "float32"), relay.cast(scale, "float32"))
    return result if dtype == "float32" else relay.cast(result, dtype)


class Parameters:
    """A scale (float32) and a zero point (int32) as the dialect's operators take them: with no axes or, along
    `axis`, one value for each index. `axis` is -1 where the whole tensor has one scale.
    """

    def __init__(self, scale: Expr, zero: Expr, axis: int) -> None:
        self.scale = scale
        self.zero = zero
        self.axis = axis


def parameters(g: Graph, x: Expr, scale: Expr, zero: Expr | None, axis: int) -> Parameters:
    """Return a scale and a zero point of a tensor, as constants where they are weights."""
    pair = [_parameter(g, scale, "float32")]
    pair.append(const(0, "int32") if zero is None else _parameter(g, zero, "int32"))
    if not any(map(g.context.rank, pair)):
        return Parameters(pair[0], pair[1], -1)
    return Parameters(pair[0], pair[1], normal_axis(axis, g.context.rank(x)))


def _parameter(g: Graph, given: Expr, dtype: str) -> Expr:
    shape = g.context.shape(given)
    if len(shape) > 1:
        raise RelayError(f"a scale with {len(shape)} axes requires the attribute block_size")
    value = _cast(g, g.context.frozen(given), dtype)
    return g.context.finish(relay.reshape(value, []) if shape == (1,) else value, None)


def _cast(g: Graph, x: Expr, dtype: str) -> Expr:
    return x if g.context.dtype(x) == dtype else relay.cast(x, dtype)


def aligned(g: Graph, parameter: Expr, x: Expr, axis: int, block: int = 0) -> Expr:
    """Return a scale or a zero point in a shape that is broadcast to that of `x`."""
    shape, rank = g.context.shape(parameter), g.context.rank(x)
    if not shape or (len(shape) == 1 and shape[0] == 1 and not block):
        return relay.reshape(parameter, []) if shape else parameter
    axis = normal_axis(axis, rank)
    if block:
        extent = g.context.shape(x)[axis]
        if len(shape) != rank:
            raise RelayError(
                f"with block_size, the scale must have as many axes as the data: {rank}, not {len(shape)}"
            )
        if not isinstance(extent, int):
            raise DynamicShapeError(
                f"block_size requires that the extent of axis {axis} is known at compile time"
            )
        wide: Expr = relay.repeat(parameter, block, axis)
        known = shape[axis]
        if isinstance(known, int) and known * block > extent:
            wide = relay.strided_slice(wide, [0], [extent], axes=[axis])
        return wide
    if len(shape) != 1:
        raise RelayError(f"a scale with {len(shape)} axes requires the attribute block_size")
    return relay.expand_dims(parameter, 1, rank - axis - 1) if axis < rank - 1 else parameter


# -- quantize, dequantize


@converter("QuantizeLinear", since=10)
def quantize_linear(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, scale = operands(node, inputs, 2)
    zero = optional(inputs, 2)
    few = of_result(g.importer, node, inputs)
    number = g.attr(node, "output_dtype", 0)
    if few is not None:
        dtype = few.dtype
    elif number:
        dtype = dtype_of(number)
    else:
        dtype = "uint8" if zero is None else g.context.dtype(zero)
    precision = g.attr(node, "precision", 0)
    if precision and dtype_of(precision) not in ("float32", "float64"):
        raise RelayError(f"QuantizeLinear with precision={dtype_of(precision)} cannot be imported")
    result = quantize(g, x, scale, zero, dtype, g.attr(node, "axis", 1), g.attr(node, "block_size", 0))
    return result if few is None else relay.clip(result, few.low, few.high)


@converter("DequantizeLinear", since=10)
def dequantize_linear(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, scale = operands(node, inputs, 2)
    number = g.attr(node, "output_dtype", 0)
    dtype = dtype_of(number) if number else g.context.dtype(scale)
    axis, block = g.attr(node, "axis", 1), g.attr(node, "block_size", 0)
    return dequantize(g, x, scale, optional(inputs, 2), dtype, axis, block)


@converter("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    return dynamically_quantized(g, operand(node, inputs))


def dynamically_quantized(g: Graph, x: Expr) -> tuple[Expr, Expr, Expr]:
    """Return a tensor quantized to the range of its own values, its scale and its zero point."""
    zero = const(0.0, "float32")
    lowest, highest = relay.minimum(relay.min(x), zero), relay.maximum(relay.max(x), zero)
    scale = relay.divide(relay.subtract(highest, lowest), const(255.0, "float32"))
    # All zeros have the scale 0, and any other scale serves them too.
    divisor = relay.where(relay.equal(scale, zero), const(1.0, "float32"), scale)
    point = saturated(g, relay.divide(relay.negative(lowest), divisor), None, "uint8")
    return quantize(g, x, divisor, point, "uint8"), scale, point


# -- products of quantized tensors


@converter("MatMulInteger", since=10)
def matmul_integer(g: Graph, node: Node, inputs: Inputs) -> Expr:
    a, b = operands(node, inputs, 2)
    return product(g, Factor(a, None, optional(inputs, 2)), Factor(b, None, optional(inputs, 3)))


@converter("QLinearMatMul", since=10)
def qlinear_matmul(g: Graph, node: Node, inputs: Inputs) -> Expr:
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = operands(node, inputs, 8)
    total = product(g, Factor(a, a_scale, a_zero), Factor(b, b_scale, b_zero))
    scale = relay.multiply(_of_rows(g, a_scale, a), _of_columns(g, b_scale))
    return requantized(g, total, scale, y_scale, y_zero, -1)


@converter("ConvInteger", since=10)
def conv_integer(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, weight = operands(node, inputs, 2)
    data, kernel = Factor(x, None, optional(inputs, 2)), Factor(weight, None, optional(inputs, 3))
    return _convolution(g, node, data, kernel, None)


@converter("QLinearConv", since=10)
def qlinear_conv(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, x_scale, x_zero, weight, w_scale, w_zero, y_scale, y_zero = operands(node, inputs, 8)
    data, kernel = Factor(x, x_scale, x_zero), Factor(weight, w_scale, w_zero)
    total = _convolution(g, node, data, kernel, optional(inputs, 8))
    scale = relay.multiply(_single(g, x_scale), _single(g, w_scale))
    return requantized(g, total, scale, y_scale, y_zero, 1)


class Factor:
    """An operand of a product: integers with their scale and zero point."""

    def __init__(self, whole: Expr, scale: Expr | None, zero: Expr | None) -> None:
        self.whole = whole
        self.scale = const(1.0, "float32") if scale is None else scale
        self.zero = zero


def _single(g: Graph, parameter: Expr) -> Expr:
    """Return a parameter in float32; without an axis if it has one element."""
    return _parameter(g, parameter, "float32")


def requantized(g: Graph, total: Expr, scale: Expr, y_scale: Expr, y_zero: Expr, axis: int) -> Expr:
    """Return int32 sums quantized with the scale and the zero point of the result. `scale`, that of the sums,
    is one number or has one for each index of `axis`.
    """
    dtype = g.context.dtype(y_zero)
    scale = g.context.finish(_cast(g, scale, "float32"), None)
    result = parameters(g, total, y_scale, y_zero, axis)
    base.check_scale(result.scale)
    if dtype in _BYTES and g.context.rank(scale) < 2 and result.axis == -1:
        along = normal_axis(axis, g.context.rank(total)) if g.context.rank(scale) else -1
        return base.requantized(total, scale, const(0, "int32"), result.scale, result.zero, dtype, along)
    if g.context.rank(scale) == 1 and axis == 1:
        scale = aligned(g, scale, total, 1)
    factor = relay.divide(scale, _cast(g, aligned(g, y_scale, total, axis), "float32"))
    value = relay.multiply(relay.cast(total, "float32"), factor)
    return saturated(g, value, aligned(g, y_zero, total, axis), dtype)


def product(g: Graph, a: Factor, b: Factor) -> Expr:
    """Return the product of matrices of integers, without their zero points, in int32."""
    dense = _dense(g, a, b)
    if dense is not None:
        return dense
    a32: Expr = relay.cast(a.whole, "int32")
    b32: Expr = relay.cast(b.whole, "int32")
    if a.zero is not None:
        a32 = relay.subtract(a32, relay.cast(_of_rows(g, a.zero, a.whole), "int32"))
    if b.zero is not None:
        b32 = relay.subtract(b32, relay.cast(_of_columns(g, b.zero), "int32"))
    return matmul(g, a32, b32, "int32")


def _dense(g: Graph, a: Factor, b: Factor) -> Expr | None:
    """Return the product as a dense layer or as one of batches of matrices; None if it is neither."""
    kinds = {g.context.dtype(a.whole), g.context.dtype(b.whole)}
    left, right = g.context.shape(a.whole), g.context.shape(b.whole)
    row_zero = a.zero is not None and g.context.shape(a.zero) not in ((), (1,))
    if not kinds <= set(_BYTES) or len(left) < 2 or len(right) < 2 or row_zero:
        return None
    data = parameters(g, a.whole, const(1.0, "float32"), a.zero, -1)
    scales = _scale(g, a.scale), _scale(g, b.scale)
    if len(right) == 2 and _at_most_one_axis(g, b.zero) and isinstance(right[1], int):
        weight = parameters(g, b.whole, const(1.0, "float32"), b.zero, -1)
        columns = relay.transpose(b.whole, [1, 0])
        return relay.qnn.dense(a.whole, columns, data.zero, weight.zero, *scales, units=right[1])
    if len(left) == len(right) == 3 and left[0] == right[0] and _at_most_one_axis(g, b.zero, 0):
        weight = parameters(g, b.whole, const(1.0, "float32"), b.zero, -1)
        columns = relay.transpose(b.whole, [0, 2, 1])
        return relay.qnn.batch_matmul(a.whole, columns, data.zero, weight.zero, *scales)
    return None


def _scale(g: Graph, scale: Expr) -> Expr:
    """Return a scale of an operand; where it is that of rows, which no operator of the dialect has, one."""
    shape = g.context.shape(scale)
    single = len(shape) < 2
    return _parameter(g, scale, "float32") if single else const(1.0, "float32")


def _at_most_one_axis(g: Graph, parameter: Expr | None, rank: int = 1) -> bool:
    shape = () if parameter is None else g.context.shape(parameter)
    return len(shape) <= rank or shape == (1,)


def _of_rows(g: Graph, parameter: Expr, a: Expr) -> Expr:
    """Return a parameter of the left factor, with one value for each row, as a column."""
    parameter = g.context.frozen(parameter)
    shape = g.context.shape(parameter)
    if len(shape) != 1:
        return parameter
    if shape[0] == 1 or g.context.rank(a) < 2:
        return relay.reshape(parameter, []) if shape[0] == 1 else parameter
    return relay.expand_dims(parameter, 1)


def _of_columns(g: Graph, parameter: Expr) -> Expr:
    """Return a parameter of the right factor, with one value for each column."""
    parameter = g.context.frozen(parameter)
    return relay.reshape(parameter, []) if g.context.shape(parameter) == (1,) else parameter


def _convolution(g: Graph, node: Node, x: Factor, weight: Factor, bias: Expr | None) -> Expr:
    """Return the convolution without the zero points, in int32: padding then adds zeros, as it should."""
    planar = _planar(g, node, x, weight)
    if planar is not None:
        return with_bias(planar, bias)
    x32: Expr = relay.cast(x.whole, "int32")
    w32: Expr = relay.cast(weight.whole, "int32")
    if x.zero is not None:
        x32 = relay.subtract(x32, relay.cast(aligned(g, x.zero, x.whole, 1), "int32"))
    if weight.zero is not None:
        w32 = relay.subtract(w32, relay.cast(aligned(g, weight.zero, weight.whole, 0), "int32"))
    return by_operator("Conv", g, node, [x32, w32, bias])


def _planar(g: Graph, node: Node, x: Factor, weight: Factor) -> Expr | None:
    """Return the convolution of images of 8-bit integers, or of sequences, which are images of one row; None
    for other data.
    """
    rank, kinds = g.context.rank(x.whole), {g.context.dtype(x.whole), g.context.dtype(weight.whole)}
    if rank not in (3, 4) or not kinds <= set(_BYTES) or not _at_most_one_axis(g, x.zero, 0):
        return None
    shape = g.context.static_shape(weight.whole)
    window = Window(g, node, x.whole, list(g.attr(node, "kernel_shape") or shape[2:]))
    data, pads = window.padding(g, node, x.whole, 0)
    if data is not x.whole or tuple(window.kernel) != shape[2:]:
        return None  # padded when it runs, or contradictory
    one = const(1.0, "float32")
    of_data = parameters(g, x.whole, one, x.zero, 1)
    of_weight = parameters(g, weight.whole, one, weight.zero, 0)
    rows = [1] * (4 - rank)  # the extent of the axis that sequences lack
    kernel = weight.whole
    if rows:
        data, kernel, pads = (
            relay.expand_dims(data, 2),
            relay.expand_dims(kernel, 2),
            [0, pads[0], 0, pads[1]],
        )
    result = relay.qnn.conv2d(
        data, kernel, of_data.zero, of_weight.zero, _scale(g, x.scale), _scale(g, weight.scale),
        kernel_size=[*rows, *window.kernel], channels=shape[0], strides=[*rows, *window.strides],
        padding=pads, dilation=[*rows, *window.dilations], groups=g.attr(node, "group", 1),
    )  # fmt: skip
    return relay.squeeze(result, [2]) if rows else result


def by_operator(operator: str, g: Graph, node: Node, inputs: Inputs, opset: int = 0) -> Expr:
    """Convert a node as if it were one of another operator of the standard, which has one result."""
    form = registry.find(registry.DEFAULT, operator, opset or g.opset)
    assert form is not None, f"{operator} has a converter"
    renamed = Node(
        operator, node.name, node.inputs, node.outputs, node.attrs, node.scope, node.location, node.original
    )
    result = form(g, renamed, list(inputs))
    if isinstance(result, list):
        (result,) = result
    assert isinstance(result, Expr)
    return result
