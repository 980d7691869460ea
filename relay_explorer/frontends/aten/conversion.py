"""Conversions of element types, and operators that return their operand unchanged."""

from __future__ import annotations

from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from .comparison import truth
from .context import Aten
from .dtypes import dtype_name
from .registry import aten
from .values import Value


def converted(ctx: Aten, x: Expr, dtype: str | None) -> Expr:
    """Convert a tensor's element type; for bool, anything but zero is true."""
    if dtype is None or ctx.dtype(x) == dtype:
        return x
    return truth(ctx, x) if dtype == "bool" else relay.cast(x, dtype)


@aten("to.device")
def to_device(ctx: Aten, x: Expr, device: object, dtype: str, *rest: object) -> Value:
    return converted(ctx, x, dtype)


@aten("to.dtype", "to.dtype_layout", "_to_copy", "type.dtype")
def to_dtype(ctx: Aten, x: Expr, dtype: str | None = None, *rest: object) -> Value:
    return converted(ctx, x, dtype)


@aten("to.other")
def to_other(ctx: Aten, x: Expr, other: Expr, *rest: object) -> Value:
    return converted(ctx, x, ctx.dtype(other))


@aten("to.prim_Device")
def to_prim_device(ctx: Aten, x: Expr, device: object, dtype: int | None = None, *rest: object) -> Value:
    return converted(ctx, x, dtype_name(dtype))


@aten("to.prim_dtype")
def to_prim_dtype(ctx: Aten, x: Expr, dtype: int | None = None, *rest: object) -> Value:
    return converted(ctx, x, dtype_name(dtype))


@aten("to.prim_other")
def to_prim_other(ctx: Aten, x: Expr, *rest: object) -> Value:
    return x


@aten("type_as")
def type_as(ctx: Aten, x: Expr, other: Expr) -> Value:
    return converted(ctx, x, ctx.dtype(other))


def _cast(dtype: str, *names: str) -> None:
    def convert(ctx: Aten, x: Expr, *rest: object) -> Value:
        return converted(ctx, x, dtype)

    aten(*names)(convert)


_cast("float32", "float", "_cast_Float")
_cast("float64", "double", "_cast_Double")
_cast("float16", "half", "_cast_Half")
_cast("bfloat16", "bfloat16")
_cast("int64", "long", "_cast_Long")
_cast("int32", "int", "_cast_Int")
_cast("int16", "short", "_cast_Short")
_cast("int8", "char", "_cast_Char")
_cast("uint8", "byte", "_cast_Byte")
_cast("bool", "bool")


@aten(
    "contiguous", "clone", "detach", "alias", "cpu", "cuda", "requires_grad_", "lift", "lift_fresh",
    "lift_fresh_copy", "resolve_conj", "resolve_neg", "conj", "real", "_conj", "detach_copy", "alias_copy",
    "_reshape_alias_copy", "pin_memory", "view_as_real_copy", "data", "sym_constrain_range",
    "positive_copy", "_unsafe_view_copy", "to_dense", "retain_grad",
)  # fmt: skip
def unchanged(ctx: Aten, x: Value, *rest: object) -> Value:
    return x


@aten("copy_", "copy")
def copy_(ctx: Aten, x: Any, source: Any = None, non_blocking: bool = False) -> Value:
    """Return the elements of `source` in the shape and element type of `x`; for a list or a dictionary, which
    have no source, a copy.
    """
    if source is None:
        copied: Value = x
        return copied
    return ctx.broadcast_to(converted(ctx, ctx.tensor(source), ctx.dtype(x)), ctx.sizes(x))


@aten("view.dtype")
def view_dtype(ctx: Aten, x: Expr, dtype: str) -> Value:
    if ctx.dtype(x) == dtype:
        return x
    if _bits(dtype) != _bits(ctx.dtype(x)):
        raise RelayError(f"a {ctx.dtype(x)} tensor cannot be viewed as {dtype}: the element sizes differ")
    return relay.reinterpret(x, dtype)


def _bits(dtype: str) -> int:
    digits = "".join(character for character in dtype if character.isdigit())
    return 8 if dtype == "bool" else int(digits)


@aten("complex", "view_as_complex", "view_as_real", "polar", "imag", "fft_fft", "fft_rfft", "fft_ifft")
def complex_(ctx: Aten, *args: Value) -> Value:
    raise RelayError(
        "Relay has no complex numbers",
        help=["write the model with real and imaginary parts", "or give a converter in convert_map"],
    )


@aten("numel", "sym_numel")
def numel(ctx: Aten, x: Expr) -> Value:
    if ctx.is_static(x):
        count = 1
        for extent in ctx.static_shape(x):
            count *= extent
        return count
    return ctx.scalar(relay.cast(relay.ndarray_size(x, "int64"), "int64"))


@aten("dim", "ndimension")
def dim(ctx: Aten, x: Expr) -> Value:
    return ctx.rank(x)


@aten("size", "sym_size")
def sizes(ctx: Aten, x: Expr) -> Value:
    return ctx.sizes(x)


@aten("size.int", "sym_size.int")
def size(ctx: Aten, x: Expr, axis: int) -> Value:
    return ctx.size(x, ctx.axis(ctx.integer(axis, "the axis"), ctx.rank(x)))


@aten("len.Tensor")
def length(ctx: Aten, x: Expr) -> Value:
    return ctx.size(x, 0)


@aten("_shape_as_tensor")
def shape_as_tensor(ctx: Aten, x: Expr) -> Value:
    return relay.shape_of(x, dtype="int64")


@aten("is_contiguous", "is_same_size")
def true(ctx: Aten, x: Expr, *rest: object) -> Value:
    return True


@aten(
    "is_cuda",
    "is_mkldnn",
    "is_quantized",
    "is_sparse",
    "is_neg",
    "is_conj",
    "is_grad_enabled",
    "is_inference",
)
def false(ctx: Aten, *rest: object) -> Value:
    return False
