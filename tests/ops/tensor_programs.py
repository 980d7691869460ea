"""Builds one-expression programs, and says what type inference makes of them."""

from __future__ import annotations

from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Expr, Function, Var, var
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.tuple_wrapper import TupleWrapper
from relay_explorer.ir.types import TensorType, Type
from relay_explorer.ir.walk import free_vars
from relay_explorer.typing import infer_types


def t(*shape: object, dtype: str = "float32", name: str = "x") -> Var:
    """Make a variable of tensor type."""
    return var(name, TensorType(shape, dtype))


def ints(*shape: object, name: str = "i") -> Var:
    """A variable of int32 tensor type."""
    return t(*shape, dtype="int32", name=name)


def bools(*shape: object, name: str = "b") -> Var:
    """A variable of boolean tensor type."""
    return t(*shape, dtype="bool", name=name)


def type_of(expr: Expr | TupleWrapper) -> Type:
    """The type that inference gives `expr`, whose free variables become parameters."""
    body = expr.astuple() if isinstance(expr, TupleWrapper) else expr
    module = infer_types(IRModule.from_expr(Function(free_vars(body), body)))
    found = module["main"]
    assert isinstance(found, Function)
    return found.body.checked_type


def typed(expr: Expr | TupleWrapper) -> str:
    """`type_of` as text."""
    return str(type_of(expr))


def refused(expr: Expr | TupleWrapper) -> RelayError:
    """The error with which inference refuses `expr`."""
    try:
        found = typed(expr)
    except RelayError as error:
        return error
    raise AssertionError(f"accepted, as {found}")
