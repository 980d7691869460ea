"""The gradients of operators that work on each element by itself, or on two that stand at one place."""

from __future__ import annotations

from ...ir.expr import Call, Expr
from ...ir.typed import tensor_type
from ..transform import cast as converted


def none(call: Call, grad: Expr) -> list[Expr | None]:
    """The value is constant between its jumps, or depends on no number: all derivatives are zero."""
    return [None] * len(call.args)


def same(call: Call, grad: Expr) -> list[Expr]:
    """The value is the argument."""
    return [grad]


def cast(call: Call, grad: Expr) -> list[Expr | None]:
    """Only floating-point numbers move smoothly."""
    x = call.args[0]
    by_data = converted(grad, tensor_type(x).dtype) if "float" in tensor_type(x).dtype else None
    return [by_data, *[None] * (len(call.args) - 1)]
