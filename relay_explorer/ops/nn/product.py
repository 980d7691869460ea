"""Shared by the operators of matrix products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

from ...ir.expr import Call, Expr
from ...ir.op import RelationError
from ...ir.typed import tensor_type
from ..calls import relay
from ..numeric import Array, element_type, np

OUT_DTYPE = "The output's element type; by default the first argument's."


def check_units(units: int | None) -> None:
    if units is not None and units < 1:
        raise RelationError(f"units={units} must be positive")


def product(attrs: Anything, a: Array, b: Array) -> Array:
    """Compute the matrix product in the output's element type."""
    dtype = element_type(attrs.out_dtype or a.dtype)
    return np.matmul(a.astype(dtype, copy=False), b.astype(dtype, copy=False))


def _swapped(matrices: Array, turn: bool) -> Array:
    """Transpose the matrices if `turn`."""
    return np.swapaxes(matrices, -1, -2) if turn else matrices


def turned_product(attrs: Anything, a: Array, b: Array) -> Array:
    return product(attrs, _swapped(a, attrs.transpose_a), _swapped(b, attrs.transpose_b))


# -- gradients


def as_operand(derivative: Expr, call: Call, place: int) -> Expr:
    """Cast a derivative to the element type of an operand: the product's may be wider."""
    operand = call.args[place]
    same = tensor_type(operand).dtype == tensor_type(call).dtype
    return derivative if same else relay.cast_like(derivative, operand)


def widened(operand: Expr, call: Call) -> Expr:
    """Cast an operand to the element type of the result."""
    return (
        operand if tensor_type(operand).dtype == tensor_type(call).dtype else relay.cast_like(operand, call)
    )


def derivatives(
    product: Callable[..., Expr], a: Expr, b: Expr, grad: Expr, turn_a: bool, turn_b: bool
) -> tuple[Expr, Expr]:
    """Return the derivatives of the product of `a` and `b`, each of which may be transposed."""
    if turn_a:
        by_a = product(b, grad, transpose_a=turn_b, transpose_b=True)
    else:
        by_a = product(grad, b, transpose_a=False, transpose_b=not turn_b)
    if turn_b:
        by_b = product(grad, a, transpose_a=True, transpose_b=turn_a)
    else:
        by_b = product(a, grad, transpose_a=not turn_a, transpose_b=False)
    return by_a, by_b
