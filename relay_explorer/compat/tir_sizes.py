"""`tvm.tir` and `tvm.te`: functions of sizes, which old code calls where Python has no operator.

Sizes are simplified when they are created (see `relay_explorer.ir.size`), so there are no nodes to inspect.
"""

from __future__ import annotations

import builtins
from typing import Any

from ..ir.size import Size, Value, extreme, quotient, remainder, whole
from ..ir.size_parts import applied
from .tir import const


def Cast(dtype: str, value: Value, span: object = None) -> Any:  # noqa: N802  # its name in TVM
    """Convert `value` to another element type; conversion to an integer truncates."""
    if dtype.startswith(("int", "uint")):
        value = whole("trunc", value)
    return value if isinstance(value, Size) or not isinstance(value, (int, float)) else const(value, dtype)


def round(x: Value, span: object = None) -> Any:
    """Round to the nearest integer."""
    return whole("round", x)


def floor(x: Value, span: object = None) -> Any:
    """Round down to an integer."""
    return whole("floor", x)


def ceil(x: Value, span: object = None) -> Any:
    """Round up to an integer."""
    return whole("ceil", x)


def trunc(x: Value, span: object = None) -> Any:
    """Round towards zero to an integer."""
    return whole("trunc", x)


def floordiv(a: Value, b: Value, span: object = None) -> Any:
    """Return the quotient, rounded down."""
    return quotient(a, b)


def floormod(a: Value, b: Value, span: object = None) -> Any:
    """Return the remainder of `floordiv`."""
    return remainder(a, b)


def ceildiv(lhs: Value, rhs: Value, span: object = None) -> Any:
    """Return the quotient, rounded up."""
    return -quotient(-lhs, rhs)


def truncdiv(a: Value, b: Value, span: object = None) -> Any:
    """Return the quotient, rounded towards zero; for sizes, which are not negative, that is rounded down."""
    if isinstance(a, int) and isinstance(b, int):
        return (a // b) if (a < 0) == (b < 0) else -(-a // b)
    return quotient(a, b)


def truncmod(a: Value, b: Value, span: object = None) -> Any:
    """Return the remainder of `truncdiv`."""
    return a - truncdiv(a, b) * b


def max(a: Value, b: Value, span: object = None) -> Any:
    """Return the greater of two."""
    return builtins.max(a, b) if _numbers(a, b) else extreme("max", a, b)  # type: ignore[type-var]


def min(a: Value, b: Value, span: object = None) -> Any:
    """Return the lesser of two."""
    return builtins.min(a, b) if _numbers(a, b) else extreme("min", a, b)  # type: ignore[type-var]


def _numbers(*values: Value) -> bool:
    return all(isinstance(value, (int, float)) for value in values)


def Add(a: Value, b: Value, span: object = None) -> Any:  # noqa: N802
    return a + b


def Sub(a: Value, b: Value, span: object = None) -> Any:  # noqa: N802
    return a - b


def Mul(a: Value, b: Value, span: object = None) -> Any:  # noqa: N802
    return a * b


def call_intrin(dtype: str, func_name: str, *args: Value, span: object = None) -> Any:
    """Apply a function of sizes by its name in TVM, `"tir.round"`."""
    return applied(func_name.removeprefix("tir."), args)


div = truncdiv
indexdiv = FloorDiv = Div = floordiv
indexmod = FloorMod = Mod = floormod
Max, Min = max, min

__all__ = [
    "Add", "Cast", "Div", "FloorDiv", "FloorMod", "Max", "Min", "Mod", "Mul", "Sub", "call_intrin", "ceil",
    "ceildiv", "div", "floor", "floordiv", "floormod", "indexdiv", "indexmod", "max", "min", "round", "trunc",
    "truncdiv", "truncmod",
]  # fmt: skip
