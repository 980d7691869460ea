"""Quantization in exported programs (PT2E): real tensors and integers, with the scales as arguments.

A program has pairs that quantize and dequantize around its real operators. `FakeQuantizationToInteger`
replaces them with integers.
"""

from __future__ import annotations

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base import quantized as base
from .context import Aten
from .dense_groups import Groups
from .quantization import Quantization
from .quantized_tensors import given, per_channel
from .registry import aten
from .values import Value

_PREFIX = "quantized_decomposed::"


def within(x: Expr, low: int, high: int, dtype: str) -> Expr:
    """Clip integers to a range that is smaller than that of their type."""
    first, last = base.RANGES[dtype]
    if low < first or high > last or low > high:
        raise RelayError(f"{dtype} cannot represent the integers from {low} to {high}")
    return x if (low, high) == (first, last) else relay.clip(x, low, high)


def _quantized(ctx: Aten, x: Expr, by: Quantization, low: int, high: int) -> Expr:
    axis = -1 if by.axis is None else by.axis
    whole = base.quantized(ctx.cast(x, "float32"), by.scale, by.zero, by.dtype, axis)
    return within(whole, low, high, by.dtype)


def _dequantized(ctx: Aten, x: Expr, by: Quantization, dtype: str | None) -> Expr:
    axis = -1 if by.axis is None else by.axis
    result = base.dequantized(x, by.scale, by.zero, axis)
    return result if dtype is None or dtype == "float32" else ctx.cast(result, dtype)


@aten(f"{_PREFIX}quantize_per_tensor")
def quantize_per_tensor(
    ctx: Aten, x: Expr, scale: Value, zero: Value, low: Value, high: Value, dtype: str
) -> Value:
    bounds = ctx.integer(low, "quant_min"), ctx.integer(high, "quant_max")
    return _quantized(ctx, x, given(ctx, scale, zero, dtype), *bounds)


@aten(f"{_PREFIX}dequantize_per_tensor")
def dequantize_per_tensor(
    ctx: Aten,
    x: Expr,
    scale: Value,
    zero: Value,
    low: Value,
    high: Value,
    dtype: str,
    out_dtype: str | None = None,
) -> Value:
    return _dequantized(ctx, x, given(ctx, scale, zero, dtype), out_dtype)


def _of_channels(ctx: Aten, x: Expr, scales: Expr, zeros: Expr | None, axis: int, dtype: str) -> Quantization:
    where = ctx.axis(axis, ctx.rank(x))
    if zeros is None:
        zeros = const([0] * ctx.static_shape(scales)[0], "int32")
    return per_channel(ctx, scales, zeros, where, dtype)


@aten(f"{_PREFIX}quantize_per_channel")
def quantize_per_channel(
    ctx: Aten, x: Expr, scales: Expr, zeros: Expr, axis: int, low: int, high: int, dtype: str
) -> Value:
    return _quantized(ctx, x, _of_channels(ctx, x, scales, zeros, axis, dtype), low, high)


@aten(f"{_PREFIX}dequantize_per_channel")
def dequantize_per_channel(
    ctx: Aten,
    x: Expr,
    scales: Expr,
    zeros: Expr | None,
    axis: int,
    low: int,
    high: int,
    dtype: str,
    out_dtype: str | None = None,
) -> Value:
    return _dequantized(ctx, x, _of_channels(ctx, x, scales, zeros, axis, dtype), out_dtype)


# -- scales that are computed in every run


def _number(value: float, dtype: str = "float32") -> Expr:
    return const(value, dtype)


@aten(f"{_PREFIX}choose_qparams")
def choose_qparams(ctx: Aten, x: Expr, low: int, high: int, eps: float, dtype: str) -> Value:
    """Return the scale and the zero point with which all values of a tensor are represented."""
    scale, zero = _range(relay.min(x), relay.max(x), low, high, eps)
    return [_vector(scale, "float64"), _vector(zero, "int64")]


@aten(f"{_PREFIX}choose_qparams_symmetric")
def choose_qparams_symmetric(ctx: Aten, x: Expr, low: int, high: int, eps: float, dtype: str) -> Value:
    """Return the scale with which all values of a tensor are represented when zero is in the middle."""
    largest = relay.maximum(relay.negative(relay.min(x)), relay.max(x))
    largest = relay.maximum(largest, _number(0.0))
    scale = relay.maximum(relay.divide(largest, _number((high - low) / 2)), _number(eps))
    middle = (low + high + 1) // 2 if dtype == "uint8" else 0
    return [_vector(scale, "float64"), const([middle], "int64")]


def _range(smallest: Expr, greatest: Expr, low: int, high: int, eps: float) -> tuple[Expr, Expr]:
    smallest = relay.minimum(smallest, _number(0.0))
    greatest = relay.maximum(greatest, _number(0.0))
    width = relay.subtract(greatest, smallest)
    scale = relay.maximum(relay.divide(width, _number(float(high - low))), _number(eps))
    point = relay.subtract(_number(float(low)), relay.round(relay.divide(smallest, scale)))
    return scale, relay.clip(point, float(low), float(high))


def _vector(x: Expr, dtype: str) -> Expr:
    return relay.reshape(relay.cast(x, dtype), (1,))


@aten(f"{_PREFIX}choose_qparams_per_token_asymmetric", f"{_PREFIX}_choose_qparams_per_token_asymmetric_impl")
def choose_qparams_per_token_asymmetric(ctx: Aten, x: Expr, dtype: str) -> Value:
    """Return a scale and a zero point for each row."""
    smallest, greatest = relay.min(x, -1, keepdims=True), relay.max(x, -1, keepdims=True)
    low, high = base.RANGES[dtype]
    scale, zero = _range(ctx.cast(smallest, "float32"), ctx.cast(greatest, "float32"), low, high, _EPSILON)
    return [relay.cast(scale, "float64"), relay.cast(zero, "int64")]


_EPSILON = 1.1920928955078125e-07  # that of float32
_SMALLEST_ROW = 1e-5  # a row with smaller values has the scale of one with this value


@aten(f"{_PREFIX}choose_qparams_per_token")
def choose_qparams_per_token(ctx: Aten, x: Expr, dtype: str) -> Value:
    """Return a scale for each row, for a zero in the middle of the range."""
    if dtype != "int8":
        raise RelayError(f"scales of rows with a zero in the middle must be for int8, not {dtype}")
    largest = ctx.cast(relay.max(relay.abs(x), -1, keepdims=True), "float32")
    scale = relay.divide(relay.maximum(largest, _number(_SMALLEST_ROW)), _number(127.0))
    return [relay.cast(scale, "float64"), relay.cast(relay.zeros_like(scale), "int64")]


@aten(f"{_PREFIX}quantize_per_token")
def quantize_per_token(
    ctx: Aten, x: Expr, scales: Expr, zeros: Expr, low: int, high: int, dtype: str
) -> Value:
    """Quantize each row with its own scale and zero point, which have an axis of one element in its place."""
    ratio = relay.divide(ctx.cast(x, "float32"), ctx.cast(scales, "float32"))
    whole = relay.round(relay.add(ratio, ctx.cast(zeros, "float32")))
    return relay.cast(relay.clip(whole, float(low), float(high)), dtype)


@aten(f"{_PREFIX}dequantize_per_token")
def dequantize_per_token(
    ctx: Aten, x: Expr, scales: Expr, zeros: Expr, low: int, high: int, dtype: str, out_dtype: str
) -> Value:
    whole = relay.subtract(relay.cast(x, "float32"), ctx.cast(zeros, "float32"))
    return ctx.cast(relay.multiply(whole, ctx.cast(scales, "float32")), out_dtype)


def _grouped(ctx: Aten, x: Expr, parameter: Expr | None, group: int, dtype: str) -> Expr:
    """Return the parameters of groups of columns, one for each element of a matrix."""
    columns = ctx.static_shape(x)[1]
    if group < 1 or columns % group:
        raise RelayError(f"{columns} columns cannot be divided into groups of {group}")
    if parameter is None:
        return const(0, dtype)
    rows = ctx.static_shape(x)[0]
    return relay.repeat(relay.reshape(ctx.cast(parameter, dtype), (rows, columns // group)), group, 1)


@aten(f"{_PREFIX}quantize_per_channel_group")
def quantize_per_channel_group(
    ctx: Aten, x: Expr, scales: Expr, zeros: Expr, low: int, high: int, dtype: str, group: int
) -> Value:
    ratio = relay.divide(ctx.cast(x, "float32"), _grouped(ctx, x, scales, group, "float32"))
    whole = relay.add(relay.round(ratio), _grouped(ctx, x, zeros, group, "float32"))
    return relay.cast(relay.clip(whole, float(low), float(high)), dtype)


@aten(f"{_PREFIX}dequantize_per_channel_group")
def dequantize_per_channel_group(
    ctx: Aten,
    x: Expr,
    scales: Expr,
    zeros: Expr | None,
    low: int,
    high: int,
    dtype: str,
    group: int,
    out_dtype: str,
) -> Value:
    columns = ctx.static_shape(x)[1]
    group = columns if group > columns and ctx.static_shape(scales)[-1] == 1 else group
    whole = relay.subtract(relay.cast(x, "float32"), _grouped(ctx, x, zeros, group, "float32"))
    result = ctx.cast(relay.multiply(whole, _grouped(ctx, x, scales, group, "float32")), out_dtype)
    ctx.groups[result] = Groups(x, scales, zeros, group, low, high)
    return result


@aten(f"{_PREFIX}convert_element_type.no_fuse")
def convert_element_type(ctx: Aten, x: Expr, dtype: str) -> Value:
    return ctx.cast(x, dtype)


# -- fake quantization: real values that are rounded to those which integers represent


def _type_of_bounds(low: int, high: int) -> str:
    for dtype in ("uint8", "int8", "uint16", "int16", "int32"):
        first, last = base.RANGES[dtype]
        if first <= low <= high <= last:
            return dtype
    raise RelayError(f"the integers from {low} to {high} cannot be imported")


@aten("fake_quantize_per_tensor_affine")
def fake_quantize_per_tensor(
    ctx: Aten, x: Expr, scale: Value, zero: Value, low: int, high: int, *enabled: Value
) -> Value:
    by = given(ctx, scale, zero, _type_of_bounds(low, high))
    return _dequantized(ctx, _quantized(ctx, x, by, low, high), by, None)


@aten("fake_quantize_per_channel_affine", f"{_PREFIX}fake_quant_per_channel")
def fake_quantize_per_channel(
    ctx: Aten, x: Expr, scales: Expr, zeros: Expr, axis: int, low: int, high: int
) -> Value:
    by = _of_channels(ctx, x, scales, zeros, axis, _type_of_bounds(low, high))
    return _dequantized(ctx, _quantized(ctx, x, by, low, high), by, None)
