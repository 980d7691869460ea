"""Access the types of typed expressions."""

from __future__ import annotations

from .expr import Expr
from .types import TensorType, Type


def tensor_type(expr: Expr) -> TensorType:
    """Return the type of a typed expression that is a tensor."""
    type_: Type = expr.checked_type
    assert isinstance(type_, TensorType), f"{expr} is not a tensor but {type_}"
    return type_
