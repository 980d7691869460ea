"""Comparisons, logic and bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from . import scalars
from .context import Aten
from .dtypes import is_float
from .registry import aten
from .values import Number, Value, is_number

Binary = Callable[[Expr, Expr], Expr]


def _comparison(op: str, compare: Binary, *names: str) -> None:
    """Declare an operator that compares tensors, numbers, or (for equality) lists and strings."""

    def convert(ctx: Aten, x: Value, y: Value) -> Value:
        if is_number(x) and is_number(y):
            return scalars.binary(ctx, op, cast(Number, x), cast(Number, y))
        if isinstance(x, Expr) or isinstance(y, Expr):
            return compare(*ctx.operands(x, y))
        if op in ("eq", "ne") and not isinstance(x, list):
            return (x == y) == (op == "eq")
        if isinstance(x, list) and isinstance(y, list) and op in ("eq", "ne"):
            return _equal_lists(ctx, x, y) == (op == "eq")
        raise RelayError(f"{x!r} and {y!r} cannot be compared")

    aten(*names)(convert)


def _equal_lists(ctx: Aten, x: list[Value], y: list[Value]) -> bool:
    if len(x) != len(y):
        return False
    if all(is_number(value) for value in (*x, *y)):
        return [ctx.number(value, "an element") for value in x] == [ctx.number(value) for value in y]
    return x == y


_comparison("eq", relay.equal, "eq", "__eq__")
_comparison("ne", relay.not_equal, "ne", "not_equal", "__ne__")
_comparison("lt", relay.less, "lt", "less", "__lt__")
_comparison("le", relay.less_equal, "le", "less_equal", "__le__")
_comparison("gt", relay.greater, "gt", "greater", "__gt__")
_comparison("ge", relay.greater_equal, "ge", "greater_equal", "__ge__")


def truth(ctx: Aten, x: Value) -> Expr:
    """Return a tensor as bools: whether each element differs from zero."""
    tensor = ctx.tensor(x)
    dtype = ctx.dtype(tensor)
    return tensor if dtype == "bool" else relay.not_equal(tensor, const(0, dtype))


def _logical(combine: Binary, *names: str) -> None:
    def convert(ctx: Aten, x: Value, y: Value) -> Value:
        return combine(truth(ctx, x), truth(ctx, y))

    aten(*names)(convert)


_logical(relay.logical_and, "logical_and")
_logical(relay.logical_or, "logical_or")
_logical(relay.logical_xor, "logical_xor")


@aten("logical_not")
def logical_not(ctx: Aten, x: Expr) -> Value:
    return relay.logical_not(truth(ctx, x))


def _bitwise(op: str, on_bools: Binary | None, on_integers: Binary, *names: str) -> None:
    def convert(ctx: Aten, x: Value, y: Value) -> Value:
        if is_number(x) and is_number(y):
            return scalars.binary(ctx, op, cast(Number, x), cast(Number, y))
        a, b = ctx.operands(x, y)
        dtype = ctx.dtype(a)
        if is_float(dtype):
            raise RelayError(f"bitwise operators are not defined for {dtype} tensors")
        return on_bools(a, b) if on_bools is not None and dtype == "bool" else on_integers(a, b)

    aten(*names)(convert)


_bitwise("and", relay.logical_and, relay.bitwise_and, "bitwise_and", "__and__", "__iand__")
_bitwise("or", relay.logical_or, relay.bitwise_or, "bitwise_or", "__or__", "__ior__")
_bitwise("xor", relay.logical_xor, relay.bitwise_xor, "bitwise_xor", "__xor__", "__ixor__")
_bitwise("lshift", None, relay.left_shift, "bitwise_left_shift", "__lshift__", "__ilshift__")
_bitwise("rshift", None, relay.right_shift, "bitwise_right_shift", "__rshift__", "__irshift__")


@aten("bitwise_not")
def bitwise_not(ctx: Aten, x: Expr) -> Value:
    return relay.logical_not(x) if ctx.dtype(x) == "bool" else relay.bitwise_not(x)


@aten("isclose")
def isclose(
    ctx: Aten, x: Expr, y: Expr, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Value:
    a, b = ctx.operands(x, y)
    dtype = ctx.dtype(a)
    if not is_float(dtype):
        a, b, dtype = ctx.floating(a), ctx.floating(b), ctx.default_dtype
    bound = relay.add(const(atol, dtype), relay.multiply(const(rtol, dtype), relay.abs(b)))
    close = relay.less_equal(relay.abs(relay.subtract(a, b)), bound)
    close = relay.logical_or(relay.equal(a, b), relay.logical_and(close, relay.isfinite(relay.abs(b))))
    if equal_nan:
        close = relay.logical_or(close, relay.logical_and(relay.isnan(a), relay.isnan(b)))
    return close


@aten("equal")
def equal(ctx: Aten, x: Expr, y: Expr) -> Value:
    a, b = ctx.operands(x, y)
    if ctx.is_static(a) and ctx.is_static(b) and ctx.shape(a) != ctx.shape(b):
        return False
    return ctx.scalar(relay.all(relay.equal(a, b)))


@aten("__is__")
def is_(ctx: Aten, x: Value, y: Value) -> Value:
    if x is None or y is None:
        return x is None and y is None
    return x is y


@aten("__isnot__")
def is_not(ctx: Aten, x: Value, y: Value) -> Value:
    return not is_(ctx, x, y)


@aten("is_floating_point")
def is_floating_point(ctx: Aten, x: Expr) -> Value:
    return is_float(ctx.dtype(x))


@aten("is_complex")
def is_complex(ctx: Aten, x: Expr) -> Value:
    return False
