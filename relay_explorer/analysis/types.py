"""The element types of programs, and a check for constants."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.expr import Constant, Expr, Tuple, Var
from ..ir.module import IRModule
from ..ir.types import TensorType, Type
from ..ir.walk import post_order, type_children


def all_dtypes(expr: Expr | IRModule) -> set[str]:
    """Return the element types of all tensors in a typed program, including those in tuples and function
    types. For an expression without a type, its annotation is used, if it has one.
    """
    roots = list(expr.functions.values()) if isinstance(expr, IRModule) else [expr]
    return {t.dtype for root in roots for node in post_order(root) for t in _tensors(_type(node))}


def _type(node: Expr) -> Type | None:
    if node._checked_type is None and isinstance(node, Var):
        return node.type_annotation
    return node._checked_type


def _tensors(type_: Type | None) -> Iterator[TensorType]:
    pending = [] if type_ is None else [type_]
    while pending:
        current = pending.pop()
        if isinstance(current, TensorType):
            yield current
        else:
            pending.extend(type_children(current))


def check_constant(expr: Expr) -> bool:
    """Whether an expression is a constant, or a nested tuple of constants."""
    return all(isinstance(node, (Constant, Tuple)) for node in post_order(expr))
