"""Expressions whose types are known."""

from __future__ import annotations

from .expr import Expr
from .types import TensorType, Type


def tensor_type(expr: Expr) -> TensorType:
    """Return the type of an expression that is a tensor and has been typed."""
    type_: Type = expr.checked_type
    assert isinstance(type_, TensorType), f"{expr} is not a tensor but {type_}"
    return type_
