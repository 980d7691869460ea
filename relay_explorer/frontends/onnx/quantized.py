"""Convert ONNX's quantized operators to plain arithmetic.

`quantize` and `dequantize` are the two conversions that all others are built from. They round half to even
and saturate, as ONNX defines. There is one scale for a whole tensor, for each index of an axis, or for each
block of an axis.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from ..base.source import Node
from . import registry
from .graph import Graph
from .matrix import matmul
from .registry import Inputs, converter
from .tools import normal_axis, operand, operands, optional
from .types import dtype_of

RANGES = {
    "uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767),
}  # fmt: skip
"""The smallest and the greatest value of each quantized element type."""


def quantize(
    g: Graph, x: Expr, scale: Expr, zero: Expr | None, dtype: str, axis: int = 1, block: int = 0
) -> Expr:
    """Return `saturate(round(x / scale) + zero)` as `dtype`."""
    if dtype not in RANGES:
        raise RelayError(f"values cannot be quantized to {dtype}, only to {', '.join(RANGES)}")
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
    scale = aligned(g, scale, x, axis, block)
    wide: Expr = relay.cast(x, "int32")
    if zero is not None:
        wide = relay.subtract(wide, relay.cast(aligned(g, zero, x, axis, block), "int32"))
    result = relay.multiply(relay.cast(wide, "float32"), relay.cast(scale, "float32"))
    return result if dtype == "float32" else relay.cast(result, dtype)


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
    number = g.attr(node, "output_dtype", 0)
    if number:
        dtype = dtype_of(number)
    else:
        dtype = "uint8" if zero is None else g.context.dtype(zero)
    precision = g.attr(node, "precision", 0)
    if precision and dtype_of(precision) not in ("float32", "float64"):
        raise RelayError(f"QuantizeLinear with precision={dtype_of(precision)} cannot be imported")
    return quantize(g, x, scale, zero, dtype, g.attr(node, "axis", 1), g.attr(node, "block_size", 0))


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
    return _product(g, a, b, optional(inputs, 2), optional(inputs, 3))


@converter("QLinearMatMul", since=10)
def qlinear_matmul(g: Graph, node: Node, inputs: Inputs) -> Expr:
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = operands(node, inputs, 8)
    total = _product(g, a, b, a_zero, b_zero)
    scale = relay.multiply(_of_rows(g, a_scale, a), _of_columns(g, b_scale))
    return requantized(g, total, scale, y_scale, y_zero)


@converter("ConvInteger", since=10)
def conv_integer(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, weight = operands(node, inputs, 2)
    return _convolution(g, node, x, weight, optional(inputs, 2), optional(inputs, 3), None)


@converter("QLinearConv", since=10)
def qlinear_conv(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, x_scale, x_zero, weight, w_scale, w_zero, y_scale, y_zero = operands(node, inputs, 8)
    total = _convolution(g, node, x, weight, x_zero, w_zero, optional(inputs, 8))
    scale = relay.multiply(aligned(g, x_scale, total, 1), aligned(g, w_scale, total, 1))
    return requantized(g, total, scale, y_scale, y_zero)


def requantized(g: Graph, total: Expr, scale: Expr, y_scale: Expr, y_zero: Expr) -> Expr:
    """Return int32 sums, which have a scale, quantized with the scale and the zero point of the result."""
    factor = relay.divide(relay.cast(scale, "float32"), relay.cast(aligned(g, y_scale, total, 1), "float32"))
    value = relay.multiply(relay.cast(total, "float32"), factor)
    return saturated(g, value, aligned(g, y_zero, total, 1), g.context.dtype(y_zero))


def _product(g: Graph, a: Expr, b: Expr, a_zero: Expr | None, b_zero: Expr | None) -> Expr:
    """Return the product of the matrices without their zero points, in int32."""
    a32: Expr = relay.cast(a, "int32")
    b32: Expr = relay.cast(b, "int32")
    if a_zero is not None:
        a32 = relay.subtract(a32, relay.cast(_of_rows(g, a_zero, a), "int32"))
    if b_zero is not None:
        b32 = relay.subtract(b32, relay.cast(_of_columns(g, b_zero), "int32"))
    return matmul(g, a32, b32, "int32")


def _of_rows(g: Graph, parameter: Expr, a: Expr) -> Expr:
    """Return a parameter of the left factor, with one value for each row, as a column."""
    shape = g.context.shape(parameter)
    if len(shape) != 1:
        return parameter
    if shape[0] == 1 or g.context.rank(a) < 2:
        return relay.reshape(parameter, []) if shape[0] == 1 else parameter
    return relay.expand_dims(parameter, 1)


def _of_columns(g: Graph, parameter: Expr) -> Expr:
    """Return a parameter of the right factor, with one value for each column."""
    return relay.reshape(parameter, []) if g.context.shape(parameter) == (1,) else parameter


def _convolution(
    g: Graph, node: Node, x: Expr, weight: Expr, x_zero: Expr | None, w_zero: Expr | None, bias: Expr | None
) -> Expr:
    """Return the convolution without the zero points, in int32: padding then adds zeros, as it should."""
    x32: Expr = relay.cast(x, "int32")
    w32: Expr = relay.cast(weight, "int32")
    if x_zero is not None:
        x32 = relay.subtract(x32, relay.cast(aligned(g, x_zero, x, 1), "int32"))
    if w_zero is not None:
        w32 = relay.subtract(w32, relay.cast(aligned(g, w_zero, weight, 0), "int32"))
    return by_operator("Conv", g, node, [x32, w32, bias])


def by_operator(operator: str, g: Graph, node: Node, inputs: Inputs, opset: int = 0) -> Expr:
    """Convert a node as if it were one of another operator of the standard, which has one result."""
    form = registry.find(registry.DEFAULT, operator, opset or g.opset)
    assert form is not None, f"{operator} has a converter"
    renamed = Node(
        operator, node.name, node.inputs, node.outputs, node.attrs, node.scope, node.location, node.original
    )
    result = form(g, renamed, list(inputs))
    assert isinstance(result, Expr)
    return result
