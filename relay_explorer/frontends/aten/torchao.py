"""Operators of torchao, whose scales belong to blocks of a tensor: the whole, channels, rows or groups.

A block size lists the extent of a block along each axis. Blocks that are a whole tensor or one channel, with
known scales, become `qnn.quantize` and `qnn.dequantize`; others are computed element by element.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr
from ...ir.lazy_dataclass import dataclass
from ...ops import namespaces as relay
from ..base import quantized as base
from .context import Aten
from .dense_groups import Groups
from .quantized_decomposed import within
from .quantized_tensors import given, per_channel
from .registry import aten
from .values import Int, Value

_PREFIX = "torchao::"
_SMALLEST = 1.1754943508222875e-38  # the smallest normal float32


@dataclass(frozen=True, eq=False)
class Blocks:
    """How a tensor is divided: `split` is its shape with each divided axis replaced by the number of blocks
    and their extent; `within` lists the axes of `split` along which elements share a scale; `counts` has the
    number of blocks along each axis of the tensor.
    """

    split: Sequence[Int]
    within: Sequence[int]
    counts: Sequence[Int]

    @property
    def each(self) -> list[Int]:
        """The shape of the scales that is broadcast to `split`."""
        return [1 if axis in self.within else extent for axis, extent in enumerate(self.split)]

    @property
    def is_divided(self) -> bool:
        """Whether a block is a part of an axis."""
        return len(self.split) != len(self.counts)

    @property
    def channel(self) -> int | None:
        """The only axis along which scales differ; -1 where all elements share one, else None."""
        several = [axis for axis, count in enumerate(self.counts) if count != 1]
        return None if self.is_divided or len(several) > 1 else several[0] if several else -1


def _blocks(ctx: Aten, x: Expr, sizes: Sequence[Int]) -> Blocks:
    if len(sizes) != ctx.rank(x):
        raise RelayError(f"a block with {len(sizes)} axes does not divide a tensor with {ctx.rank(x)}")
    split: list[Int] = []
    within: list[int] = []
    counts: list[Int] = []
    for axis, (size, extent) in enumerate(zip(sizes, ctx.sizes(x))):
        if size == 1:
            split.append(extent)
            counts.append(extent)
        elif ctx.dim(size) == ctx.shape(x)[axis]:
            within.append(len(split))
            split.append(extent)
            counts.append(1)
        else:
            block = ctx.integer(size, "the extent of a block")
            whole = ctx.integer(extent, "the extent of a divided axis")
            if block < 1 or whole % block:
                raise RelayError(f"blocks of {block} do not divide an axis of {whole} elements")
            split += [whole // block, block]
            within.append(len(split) - 1)
            counts.append(whole // block)
    return Blocks(split, within, counts)


def _reshaped(ctx: Aten, x: Expr, dims: Sequence[Int]) -> Expr:
    return x if list(ctx.shape(x)) == [ctx.dim(dim) for dim in dims] else ctx.reshape(x, dims)


def _limits(dtype: str, low: Value, high: Value) -> tuple[int, int]:
    """Return the bounds of the integers: those given, or those of a type of 1 to 64 bits."""
    match = re.fullmatch(r"(u?)int(\d+)", dtype)
    if match is None:
        raise RelayError(f"tensors cannot be quantized to {dtype}")
    unsigned, bits = bool(match[1]), int(match[2])
    first, last = (0, (1 << bits) - 1) if unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    chosen = []
    for value, bound in ((low, first), (high, last)):
        number = bound if value is None else value
        if not isinstance(number, (int, float)) or not float(number).is_integer():
            raise RelayError("the bounds of quantized integers must be integers")
        chosen.append(int(number))
    return chosen[0], chosen[1]


def _zeros(zero: Expr | None, ctx: Aten) -> Expr | None:
    """Return zero points; None where there are none, which torchao also writes as an empty tensor."""
    return None if zero is None or 0 in ctx.shape(zero) else zero


def _known(ctx: Aten, blocks: Blocks, scale: Expr, zero: Expr | None) -> bool:
    """Whether a tensor can be quantized by `qnn` operators."""
    values = [scale] if zero is None else [scale, zero]
    return blocks.channel is not None and all(
        isinstance(ctx.context.frozen(value), Constant) for value in values
    )


def _quantization(ctx: Aten, blocks: Blocks, scale: Expr, zero: Expr | None, dtype: str) -> tuple[Expr, Expr]:
    """Return the scale and the zero point, along the channels where they differ."""
    axis = blocks.channel
    assert axis is not None
    if axis < 0:
        by = given(ctx, _reshaped(ctx, scale, []), 0 if zero is None else _reshaped(ctx, zero, []), dtype)
    else:
        count = [blocks.counts[axis]]
        zeros = const([0] * ctx.integer(count[0]), "int32") if zero is None else _reshaped(ctx, zero, count)
        by = per_channel(ctx, _reshaped(ctx, scale, count), zeros, axis, dtype)
    return by.scale, by.zero


@aten(f"{_PREFIX}quantize_affine")
def quantize_affine(
    ctx: Aten,
    x: Expr,
    sizes: Sequence[Int],
    scale: Expr,
    zero: Expr | None,
    dtype: str,
    low: Value = None,
    high: Value = None,
) -> Value:
    """Multiply by the reciprocals of the scales, round half to even, and add the zero points."""
    first, last = _limits(dtype, low, high)
    blocks, zero = _blocks(ctx, x, sizes), _zeros(zero, ctx)
    if _known(ctx, blocks, scale, zero) and dtype in base.RANGES:
        by = _quantization(ctx, blocks, scale, zero, dtype)
        axis = -1 if blocks.channel is None else blocks.channel
        whole = base.quantized(ctx.cast(x, "float32"), *by, dtype, axis)
        return within(whole, first, last, dtype)
    factor = relay.divide(const(1.0, "float32"), ctx.cast(scale, "float32"))
    ratio = relay.multiply(
        _reshaped(ctx, ctx.cast(x, "float32"), blocks.split), _reshaped(ctx, factor, blocks.each)
    )
    rounded = relay.round(ratio)
    if zero is not None:
        rounded = relay.add(rounded, _reshaped(ctx, ctx.cast(zero, "float32"), blocks.each))
    integers = relay.cast(relay.clip(rounded, float(first), float(last)), dtype)
    return _reshaped(ctx, integers, ctx.sizes(x))


@aten(f"{_PREFIX}dequantize_affine")
def dequantize_affine(
    ctx: Aten,
    x: Expr,
    sizes: Sequence[Int],
    scale: Expr,
    zero: Expr | None,
    dtype: str,
    low: Value = None,
    high: Value = None,
    out_dtype: str = "float32",
) -> Value:
    """Subtract the zero points and multiply by the scales."""
    limits = _limits(dtype, low, high)
    blocks, zero = _blocks(ctx, x, sizes), _zeros(zero, ctx)
    result = _dequantized(ctx, x, blocks, scale, zero, out_dtype)
    few = limits[1] - limits[0] < 16  # a layer with more bits for each channel has integer kernels
    if ctx.rank(x) == 2 and sizes[0] == 1 and isinstance(sizes[1], int) and (few or blocks.is_divided):
        ctx.groups[result] = Groups(x, scale, zero, int(sizes[1]), *limits)
    return result


def _dequantized(ctx: Aten, x: Expr, blocks: Blocks, scale: Expr, zero: Expr | None, out_dtype: str) -> Expr:
    stored = ctx.dtype(x)
    if _known(ctx, blocks, scale, zero) and stored in base.RANGES:
        by = _quantization(ctx, blocks, scale, zero, stored)
        result = base.dequantized(x, *by, -1 if blocks.channel is None else blocks.channel)
        return ctx.cast(result, out_dtype)
    whole = _reshaped(ctx, relay.cast(x, "float32"), blocks.split)
    if zero is not None:
        whole = relay.subtract(whole, _reshaped(ctx, ctx.cast(zero, "float32"), blocks.each))
    result = relay.multiply(whole, _reshaped(ctx, ctx.cast(scale, "float32"), blocks.each))
    return ctx.cast(_reshaped(ctx, result, ctx.sizes(x)), out_dtype)


@aten(f"{_PREFIX}choose_qparams_affine")
def choose_qparams_affine(
    ctx: Aten,
    x: Expr,
    mapping: str,
    sizes: Sequence[Int],
    dtype: str,
    low: Value = None,
    high: Value = None,
    eps: float | None = None,
    scale_dtype: str | None = None,
    zero_dtype: str | None = None,
    keepdim: bool = False,
) -> Value:
    """Return the scales and the zero points with which the values of each block are represented."""
    first, last = _limits(dtype, low, high)
    blocks, own = _blocks(ctx, x, sizes), ctx.dtype(x)
    parts = _reshaped(ctx, ctx.cast(x, "float32"), blocks.split)
    nothing = const(0.0, "float32")
    smallest, greatest = parts, parts
    if blocks.within:
        smallest, greatest = (
            reduce(parts, list(blocks.within), keepdims=True) for reduce in (relay.min, relay.max)
        )
    smallest, greatest = relay.minimum(smallest, nothing), relay.maximum(greatest, nothing)
    least = const(_SMALLEST if eps is None else eps, "float32")
    if mapping == "ASYMMETRIC":
        width = relay.subtract(greatest, smallest)
        scale = relay.maximum(relay.divide(width, const(float(last - first), "float32")), least)
        point = relay.subtract(const(float(first), "float32"), relay.round(relay.divide(smallest, scale)))
        zero = relay.clip(point, float(first), float(last))
        zero_dtype = zero_dtype or "int32"
    elif mapping in ("SYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR"):
        scale = relay.maximum(_symmetric(smallest, greatest, first, last, mapping == "SYMMETRIC"), least)
        middle = const(float(int((last + first + 1) / 2)), "float32")
        zero = relay.add(relay.zeros_like(scale), middle)
    else:
        raise RelayError(f"scales cannot be chosen by the mapping {mapping}")
    if keepdim:
        shape = list(blocks.counts)
    else:
        shape = [extent for axis, extent in enumerate(blocks.split) if axis not in blocks.within]
    types = scale_dtype or own, zero_dtype or own
    return [ctx.cast(_reshaped(ctx, part, shape), type_) for part, type_ in zip((scale, zero), types)]


def _symmetric(smallest: Expr, greatest: Expr, first: int, last: int, is_balanced: bool) -> Expr:
    """Return scales for a zero in the middle: for both ends of the range alike, or for the end that needs the
    greater scale.
    """
    if is_balanced:
        most = relay.maximum(relay.negative(smallest), greatest)
        return relay.divide(most, const((last - first) / 2, "float32"))
    below = relay.divide(smallest, const(float(first), "float32"))
    above = relay.divide(greatest, const(float(last), "float32"))
    return relay.where(relay.greater(below, above), below, above)


# -- products of small integers, which torchao's layers call


@aten("_int_mm")
def int_mm(ctx: Aten, x: Expr, y: Expr) -> Value:
    """Return the product of matrices of integers of 8 bits, in int32."""
    zero, one = base.int32(0), base.float32(1.0)
    units = ctx.integer(ctx.size(y, 1), "the number of columns")
    return relay.qnn.dense(x, relay.transpose(y, (1, 0)), zero, zero, one, one, units=units)


@aten("_weight_int8pack_mm")
def weight_int8pack_mm(ctx: Aten, x: Expr, weight: Expr, scales: Expr) -> Value:
    """Return the product with a matrix of int8 that has a scale for each row."""
    product = relay.nn.dense(ctx.cast(x, "float32"), relay.cast(weight, "float32"))
    return ctx.cast(relay.multiply(product, ctx.cast(scales, "float32")), ctx.dtype(x))
