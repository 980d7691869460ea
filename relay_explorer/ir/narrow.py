"""Narrow an expression or a type to the class that it must have.

The parts of a program are typed as `Expr` and `Type`. Code that expects a subclass calls one of these
functions. Type checkers understand them, and a wrong assumption raises a TypeError that names both classes:

    as_call(module["main"].body).args
    as_tensor_type(param.checked_type).concrete_shape
"""

from __future__ import annotations

from typing import TypeVar

from .adt import Constructor, Match
from .expr import Call, Expr, Function, Let, Tuple
from .op import Op
from .types import FuncType, TensorType

T = TypeVar("T")


def as_a(cls: type[T], value: object) -> T:
    """Return `value`; raise a TypeError where it is not an instance of `cls`."""
    if isinstance(value, cls):
        return value
    raise TypeError(f"expected a {cls.__name__}, not a {type(value).__name__}: {value!s:.80}")


def as_call(expr: object) -> Call:
    """Return `expr`, which must be a call."""
    return as_a(Call, expr)


def as_function(expr: object) -> Function:
    """Return `expr`, which must be a function."""
    return as_a(Function, expr)


def as_tuple(expr: object) -> Tuple:
    """Return `expr`, which must be a tuple."""
    return as_a(Tuple, expr)


def as_let(expr: object) -> Let:
    """Return `expr`, which must be a `let`."""
    return as_a(Let, expr)


def as_match(expr: object) -> Match:
    """Return `expr`, which must be a match."""
    return as_a(Match, expr)


def as_op(expr: object) -> Op:
    """Return `expr`, which must be an operator."""
    return as_a(Op, expr)


def as_constructor(value: object) -> Constructor:
    """Return `value`, which must be a constructor."""
    return as_a(Constructor, value)


def as_tensor_type(value: object) -> TensorType:
    """Return `value`, which must be a tensor type, or the type of an expression whose type is one."""
    return as_a(TensorType, value.checked_type if isinstance(value, Expr) else value)


def as_func_type(value: object) -> FuncType:
    """Return `value`, which must be a function type."""
    return as_a(FuncType, value)
