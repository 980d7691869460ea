"""What the operators of PyTorch do with quantized tensors, and the operators that quantize and dequantize.

An operator that only moves or selects values works on the integers. Another one is computed with the real
values, and its result is quantized: like its operand, or, for functions with a fixed range, with the scale
that PyTorch gives to all results of that function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr
from ...ops import namespaces as relay
from ..base import quantized as base
from .context import Aten
from .quantization import (
    Quantization,
    marked,
    quantization_of,
    quantized,
    real,
    same,
)
from .registry import Conversion, aten
from .values import Value

# Operators whose results are integers of their operand, so that it keeps its quantization.
_MOVING = frozenset([
    "view", "reshape", "flatten", "unflatten", "_unsafe_view", "view_as", "reshape_as", "unsqueeze",
    "squeeze", "permute", "transpose", "t", "swapaxes", "swapdims", "movedim", "moveaxis", "numpy_T",
    "contiguous", "clone", "detach", "alias", "lift_fresh", "lift_fresh_copy", "select", "slice",
    "narrow", "index", "index_select", "take", "masked_select", "chunk", "split",
    "split_with_sizes", "unbind", "unsafe_chunk", "unsafe_split", "tensor_split", "expand", "expand_as",
    "broadcast_to", "repeat", "repeat_interleave", "tile", "flip", "pixel_shuffle",
    "pixel_unshuffle", "channel_shuffle", "dropout", "feature_dropout", "alpha_dropout", "max_pool1d",
    "max_pool2d", "max_pool3d", "quantized_max_pool1d", "quantized_max_pool2d", "quantized_max_pool3d",
    "upsample_nearest1d",
    "upsample_nearest2d", "upsample_nearest3d", "upsample_nearest_exact1d", "upsample_nearest_exact2d",
    "_upsample_nearest_exact2d", "unfold", "reflection_pad1d", "reflection_pad2d",
    "replication_pad1d", "replication_pad2d", "rot90",
])  # fmt: skip
# Operators that multiply with their operand when its scale is changed: a mean of halves is half the mean.
_HOMOGENEOUS = frozenset([
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d",
    "adaptive_avg_pool3d", "mean", "upsample_bilinear2d", "upsample_linear1d", "upsample_trilinear3d",
])  # fmt: skip
# Operators whose first result are values of their operand, and the second their positions.
_SELECTING = frozenset(["max", "min", "sort", "topk"])
# Operators whose results PyTorch quantizes like their operand, although they are computed.
_LIKE_OPERAND = frozenset(["leaky_relu", "gelu", "std"])
_COMPARISONS = frozenset(["eq", "ne", "lt", "le", "gt", "ge"])
# Functions with a fixed range: the scale and zero point of quint8 and of qint8.
_FIXED: dict[str, tuple[float, int, int]] = {
    "sigmoid": (1 / 256, 0, -128), "hardsigmoid": (1 / 256, 0, -128), "tanh": (2 / 256, 128, 0),
}  # fmt: skip
# Operators of quantized tensors, and those that ask for a form or for the order of the elements only.
_READING = frozenset([
    "dequantize", "int_repr", "q_scale", "q_zero_point", "size", "dim", "len", "numel", "stride",
    "is_floating_point", "is_complex", "ndimension", "is_contiguous", "storage_offset", "zeros_like",
    "ones_like", "full_like", "empty_like", "new_zeros", "new_ones", "new_full", "new_empty",
])  # fmt: skip


def chosen(ctx: Aten, kind: str, conversion: Conversion, operands: Sequence[Expr]) -> Conversion:
    """Return the converter of an operator for its operands, which may be quantized tensors."""
    quantized_ = any(operand in ctx.quantized for operand in operands)
    return for_quantized(kind, conversion) if quantized_ else conversion


def for_quantized(kind: str, conversion: Conversion) -> Conversion:
    """Return the converter of an operator that has quantized operands. Raise a RelayError where PyTorch's
    operator does not accept them or its result is not defined here.
    """
    namespace, _, name = kind.partition("::")
    name = name[:-1] if name.endswith("_") and not name.endswith("__") else name
    if namespace != "aten" or name in _READING:
        return conversion
    if name in _OWN:
        return _OWN[name]
    if name in ("pad", "constant_pad_nd"):
        return _padded(conversion, name == "pad")
    if name in _MOVING:
        return _moving(conversion)
    if name in _SELECTING:
        return _selecting(conversion)
    if name in _COMPARISONS:
        return _compared(conversion)
    if name in _HOMOGENEOUS:
        return _homogeneous(name, conversion)
    if name in _LIKE_OPERAND:
        return _computed(conversion, lambda quantization: quantization)
    if name in _FIXED:
        return _computed(conversion, lambda quantization: _fixed(name, quantization.dtype))
    raise RelayError(
        f"{kind} of a quantized tensor cannot be imported", help=["dequantize the tensor before it"]
    )


def _fixed(name: str, dtype: str) -> Quantization:
    scale, unsigned, signed = _FIXED[name]
    if dtype not in ("uint8", "int8"):
        raise RelayError(f"{name} of a quantized tensor must have 8 bits, not the type {dtype}")
    return Quantization.of(scale, unsigned if dtype == "uint8" else signed, dtype)


def _whole(ctx: Aten, x: Expr) -> Quantization:
    """Return the quantization of a tensor that has one scale for all its channels."""
    quantization = quantization_of(ctx, x)
    if quantization.axis is not None:
        raise RelayError("the operator requires one scale for the whole tensor, not one for each channel")
    return quantization


def _moving(conversion: Conversion) -> Conversion:
    def convert(ctx: Aten, x: Expr, *args: Value) -> Value:
        quantization = _whole(ctx, x)
        result = conversion(ctx, x, *args)
        parts = [result] if isinstance(result, Expr) else cast("Sequence[Value]", result)
        for part in parts:
            assert isinstance(part, Expr)
            if ctx.quantized.get(part) is not quantization:
                marked(ctx, part, quantization)
        return result

    return convert


def _selecting(conversion: Conversion) -> Conversion:
    def convert(ctx: Aten, x: Expr, *args: Value) -> Value:
        result = conversion(ctx, x, *args)
        values = result if isinstance(result, Expr) else cast("Sequence[Value]", result)[0]
        assert isinstance(values, Expr)
        marked(ctx, values, _whole(ctx, x))
        return result

    return convert


def _compared(conversion: Conversion) -> Conversion:
    def convert(ctx: Aten, *args: Value) -> Value:
        return conversion(ctx, *[real(ctx, arg) if arg in ctx.quantized else arg for arg in args])

    return convert


def _homogeneous(name: str, conversion: Conversion) -> Conversion:
    """Compute with the differences to an even point, which are exact, so that halves are rounded to even as
    in PyTorch, which adds the zero point before it rounds.
    """

    def convert(ctx: Aten, x: Expr, *args: Value) -> Value:
        quantization = _whole(ctx, x)
        one, zero = base.float32(1.0), quantization.zero
        is_odd = isinstance(zero, Constant) and bool(int(zero.data.numpy().item()) % 2)
        if is_odd:
            zero = base.int32(quantization.numbers[1] - 1)
        if is_odd and not _keeps_constants(name, args):  # an addition of 1 before is not one of 1 after it
            result = cast(Expr, conversion(ctx, base.dequantized(x, one, quantization.zero), *args))
            result = relay.add(result, base.float32(1.0))
        else:
            result = cast(Expr, conversion(ctx, base.dequantized(x, one, zero), *args))
        return marked(ctx, base.quantized(result, one, zero, quantization.dtype), quantization)

    return convert


def _keeps_constants(name: str, args: Sequence[Value]) -> bool:
    """Whether an operator returns the constant of a constant tensor: a pool does without padding and without
    a divisor of its own.
    """
    if not name.startswith("avg_pool"):
        return True
    padding, divisor = args[2], args[5] if len(args) > 5 else None
    listed = padding if isinstance(padding, (list, tuple)) else [padding]
    return divisor is None and all(pad == 0 for pad in listed)


def _computed(conversion: Conversion, of: Callable[[Quantization], Quantization]) -> Conversion:
    def convert(ctx: Aten, x: Expr, *args: Value) -> Value:
        quantization = of(_whole(ctx, x))
        return quantized(ctx, cast(Expr, conversion(ctx, real(ctx, x), *args)), quantization)

    return convert


# -- operators of ATen that have converters of their own for quantized tensors


def _relu(ctx: Aten, x: Expr) -> Value:
    return _bounded(ctx, x, 0.0, None)


def _bounded(ctx: Aten, x: Expr, low: float | None, high: float | None) -> Expr:
    """Clip the integers to the integers of the bounds."""
    quantization = _whole(ctx, x)
    _, zero = quantization.numbers
    first, last = quantization.bounds
    smallest = first if low is None else zero if low == 0 else integer_of(quantization, low)
    greatest = last if high is None else integer_of(quantization, high)
    if (smallest, greatest) == (first, last):
        return x
    return marked(ctx, relay.clip(x, smallest, greatest), quantization)


def integer_of(quantization: Quantization, value: float) -> int:
    """Return the integer that represents a real number."""
    import numpy as np

    scale, zero = quantization.numbers
    first, last = quantization.bounds
    return int(min(max(np.rint(np.float32(value) / np.float32(scale)) + zero, first), last))


def _clamp(ctx: Aten, x: Expr, low: float | None = None, high: float | None = None) -> Value:
    return _bounded(ctx, x, low, high)


def _relu6(ctx: Aten, x: Expr, *_: Value) -> Value:
    return _bounded(ctx, x, 0.0, 6.0)


def requantized(ctx: Aten, x: Expr, target: Quantization) -> Expr:
    """Return a quantized tensor with another quantization; itself where it has that."""
    return x if same(_whole(ctx, x), target) else quantized(ctx, real(ctx, x), target)


def _joined(join: Callable[[Sequence[Expr], int], Expr]) -> Conversion:
    def convert(ctx: Aten, parts: Sequence[Expr], dim: int = 0) -> Value:
        first = _whole(ctx, parts[0])
        extra = 1 if join is _stacked else 0
        axis = ctx.axis(dim, ctx.rank(parts[0]) + extra)
        return marked(ctx, join([requantized(ctx, part, first) for part in parts], axis), first)

    return convert


def _concatenated(parts: Sequence[Expr], axis: int) -> Expr:
    return relay.concatenate(list(parts), axis)


def _stacked(parts: Sequence[Expr], axis: int) -> Expr:
    return relay.stack(list(parts), axis)


def _padded(conversion: Conversion, has_mode: bool) -> Conversion:
    """Return the converter of `constant_pad_nd`, or of `pad`, which has a mode before the value."""

    def convert(ctx: Aten, x: Expr, pads: Value, *args: Value) -> Value:
        quantization = _whole(ctx, x)
        value = args[-1] if args and args[-1] is not None else 0
        mode = [args[0]] if has_mode else []
        fill = [integer_of(quantization, ctx.number(value))] if mode in ([], ["constant"]) else [None]
        return marked(ctx, cast(Expr, conversion(ctx, x, pads, *mode, *fill)), quantization)

    return convert


def threshold(ctx: Aten, x: Expr, bound: float, value: float) -> Value:
    """Replace elements whose real value is not greater than the bound."""
    import numpy as np

    quantization = _whole(ctx, x)
    scale, zero = quantization.numbers
    first, last = quantization.bounds
    near = int(min(max(np.floor(bound / scale) + zero, first - 2), last + 2))
    passing = [i for i in range(near - 1, near + 3) if np.float32(i - zero) * np.float32(scale) > bound]
    smallest = passing[0] if passing else last + 1
    if smallest <= first:
        return x
    other = const(integer_of(quantization, value), quantization.dtype)
    if smallest > last:
        return marked(ctx, relay.full_like(x, other), quantization)
    is_greater = relay.greater_equal(x, const(smallest, quantization.dtype))
    return marked(ctx, relay.where(is_greater, x, other), quantization)


def _masked_fill(ctx: Aten, x: Expr, mask: Expr, value: Value) -> Value:
    quantization = _whole(ctx, x)
    filler = const(integer_of(quantization, ctx.number(value)), quantization.dtype)
    return marked(ctx, relay.where(mask, filler, x), quantization)


def _to(ctx: Aten, x: Expr, *args: Value) -> Value:
    """Accept only a change of the device or the memory format."""
    if any(isinstance(value, str) and value.startswith(("int", "uint", "float")) for value in args):
        raise RelayError("a quantized tensor cannot be converted to another element type")
    return x


_OWN: dict[str, Conversion] = {
    "relu": _relu, "relu6": _relu6, "clamp": _clamp, "hardtanh": _clamp, "cat": _joined(_concatenated),
    "concat": _joined(_concatenated), "stack": _joined(_stacked), "to": _to, "threshold": threshold,
    "masked_fill": _masked_fill,
}  # fmt: skip


# -- quantize, dequantize


@aten("quantize_per_tensor", "quantize_per_tensor.tensor_qparams")
def quantize_per_tensor(ctx: Aten, x: Expr, scale: Value, zero: Value, dtype: str) -> Value:
    return quantized(ctx, x, given(ctx, scale, zero, dtype))


def given(ctx: Aten, scale: Value, zero: Value, dtype: str) -> Quantization:
    """Return the quantization of a whole tensor with numbers or tensors of one element of the model."""
    if dtype not in base.RANGES:
        raise RelayError(f"tensors cannot be quantized to {dtype}")
    if isinstance(scale, (int, float)) and isinstance(zero, (int, float)):
        return Quantization.of(scale, int(zero), dtype)
    numbers = []
    for value, wanted in ((scale, "float32"), (zero, "int32")):
        expr = ctx.context.frozen(ctx.tensor(value))
        expr = ctx.cast(expr, wanted)
        expr = relay.reshape(expr, ()) if ctx.rank(expr) else expr
        ctx.type(expr)
        numbers.append(ctx.context.finish(expr, None))
    base.check_scale(numbers[0])
    return Quantization(numbers[0], numbers[1], dtype)


@aten("quantize_per_channel")
def quantize_per_channel(ctx: Aten, x: Expr, scales: Expr, zeros: Expr, axis: int, dtype: str) -> Value:
    return quantized(ctx, x, per_channel(ctx, scales, zeros, ctx.axis(axis, ctx.rank(x)), dtype))


def per_channel(ctx: Aten, scales: Expr, zeros: Expr, axis: int, dtype: str) -> Quantization:
    """Return the quantization with a scale and a zero point for each index of an axis."""
    scale = ctx.context.finish(ctx.cast(ctx.context.frozen(scales), "float32"), None)
    zero = ctx.context.finish(ctx.cast(ctx.context.frozen(zeros), "int32"), None)
    base.check_scale(scale)
    return Quantization(scale, zero, dtype, axis)


@aten("quantize_per_tensor_dynamic")
def quantize_per_tensor_dynamic(ctx: Aten, x: Expr, dtype: str, reduce_range: bool) -> Value:
    return quantized(ctx, x, range_of(ctx, x, dtype, reduce_range))


def range_of(ctx: Aten, x: Expr, dtype: str = "uint8", reduce_range: bool = False) -> Quantization:
    """Return the quantization that represents all values of a tensor, and zero exactly.

    With `reduce_range`, only half of the integers are used: products of 8 bits then fit into 16 bits.
    """
    low, high = base.RANGES[dtype]
    if reduce_range:
        low, high = low // 2, high // 2
    zero = const(0.0, "float32")
    smallest, greatest = relay.minimum(relay.min(x), zero), relay.maximum(relay.max(x), zero)
    width = relay.subtract(relay.cast(greatest, "float64"), relay.cast(smallest, "float64"))
    scale = relay.cast(relay.divide(width, const(float(high - low), "float64")), "float32")
    # Zeros only: any scale serves.
    scale = relay.where(relay.equal(scale, zero), const(0.1, "float32"), scale)
    offset = relay.round(relay.divide(smallest, scale))
    point = relay.clip(relay.subtract(const(float(low), "float32"), offset), low, high)
    point = relay.cast(point, "int32")
    ctx.type(scale)
    ctx.type(point)
    return Quantization(scale, point, dtype)


@aten("dequantize", "dequantize.self", "dequantize.tensor", "dequantize.any")
def dequantize(ctx: Aten, x: Value) -> Value:
    if isinstance(x, (list, tuple)):
        return [dequantize(ctx, part) for part in x]
    assert isinstance(x, Expr)
    if x not in ctx.quantized and ctx.dtype(x).startswith("float"):
        return x
    return real(ctx, x)


@aten("int_repr")
def int_repr(ctx: Aten, x: Expr) -> Value:
    quantization_of(ctx, x)
    return relay.copy(x)


@aten("q_scale")
def q_scale(ctx: Aten, x: Expr) -> Value:
    return quantization_of(ctx, x).numbers[0]


@aten("q_zero_point")
def q_zero_point(ctx: Aten, x: Expr) -> Value:
    return quantization_of(ctx, x).numbers[1]


@aten("_make_per_tensor_quantized_tensor")
def make_quantized(ctx: Aten, x: Expr, scale: float, zero: int) -> Value:
    return marked(ctx, relay.copy(x), Quantization.of(scale, zero, ctx.dtype(x)))
