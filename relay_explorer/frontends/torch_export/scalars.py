"""Arithmetic with the sizes of a program: Python's operators, applied to numbers that may be computed."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..aten import Aten, Scalar, Value

_Build = Callable[[Aten, list[Expr]], Expr]


def _pair(builder: Callable[[Expr, Expr], Expr]) -> _Build:
    """Make the rule of an operator of two numbers, which get the wider of their types."""

    def build(ctx: Aten, operands: list[Expr]) -> Expr:
        dtypes = {ctx.dtype(operand) for operand in operands}
        dtype = "float64" if "float64" in dtypes else "int64" if "int64" in dtypes else "bool"
        left, right = [ctx.cast(operand, dtype) for operand in operands]
        return builder(left, right)

    return build


def _divide(ctx: Aten, operands: list[Expr]) -> Expr:
    left, right = [ctx.cast(operand, "float64") for operand in operands]
    return relay.divide(left, right)


def _rounded(builder: Callable[[Expr], Expr]) -> _Build:
    def build(ctx: Aten, operands: list[Expr]) -> Expr:
        (x,) = operands
        return ctx.cast(builder(x), "int64") if ctx.dtype(x) == "float64" else x

    return build


def _floating(ctx: Aten, operands: list[Expr]) -> Expr:
    return ctx.cast(operands[0], "float64")


_PYTHON: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "floordiv": operator.floordiv,
    "truediv": operator.truediv, "mod": operator.mod, "neg": operator.neg, "pow": operator.pow,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt,
    "ge": operator.ge, "and_": operator.and_, "or_": operator.or_, "floor": math.floor, "ceil": math.ceil,
    "trunc": math.trunc, "sym_max": max, "sym_min": min, "sym_int": int, "sym_float": float,
    "sym_not": operator.not_, "not_": operator.not_, "_sym_sqrt": math.sqrt, "sqrt": math.sqrt,
}  # fmt: skip

_BUILDERS: dict[str, _Build] = {
    "add": _pair(relay.add),
    "sub": _pair(relay.subtract),
    "mul": _pair(relay.multiply),
    "floordiv": _pair(relay.floor_divide),
    "truediv": _divide,
    "mod": _pair(relay.floor_mod),
    "neg": lambda ctx, operands: relay.negative(operands[0]),
    "pow": _pair(relay.power),
    "eq": _pair(relay.equal),
    "ne": _pair(relay.not_equal),
    "lt": _pair(relay.less),
    "le": _pair(relay.less_equal),
    "gt": _pair(relay.greater),
    "ge": _pair(relay.greater_equal),
    "and_": _pair(relay.logical_and),
    "or_": _pair(relay.logical_or),
    "not_": lambda ctx, operands: relay.logical_not(operands[0]),
    "sym_not": lambda ctx, operands: relay.logical_not(operands[0]),
    "floor": _rounded(relay.floor),
    "ceil": _rounded(relay.ceil),
    "trunc": _rounded(relay.trunc),
    "sym_int": _rounded(relay.trunc),
    "sym_float": _floating,
    "sym_max": _pair(relay.maximum),
    "sym_min": _pair(relay.minimum),
    "_sym_sqrt": lambda ctx, operands: relay.sqrt(_floating(ctx, operands)),
    "sqrt": lambda ctx, operands: relay.sqrt(_floating(ctx, operands)),
}


def is_scalar_operator(name: str) -> bool:
    """Whether `name`, such as `operator::add`, is arithmetic with sizes."""
    return name.partition("::")[0] in ("operator", "math", "torch", "builtins") and _base(name) in _BUILDERS


def _base(name: str) -> str:
    return name.partition("::")[2]


def compute(ctx: Aten, name: str, args: list[Value]) -> Value:
    """Apply an operator to numbers: the result is a number if all are known, else a scalar."""
    base = _base(name)
    known = [ctx.unwrapped(arg) if isinstance(arg, Scalar) else arg for arg in args]
    if all(isinstance(value, (int, float)) for value in known):
        try:
            value: Value = _PYTHON[base](*known)
        except (ArithmeticError, ValueError) as error:
            raise RelayError(f"{base} of {', '.join(map(str, known))} has no value ({error})") from error
        return value
    operands = []
    for value in known:
        if not isinstance(value, (int, float, Scalar)):
            raise RelayError(f"{base} is applied to a value that is not a number")
        expr = ctx.tensor(value)
        operands.append(ctx.cast(expr, "float64") if isinstance(value, float) else expr)
    return ctx.scalar(_BUILDERS[base](ctx, operands))
