"""Values of PyTorch's graphs (tensors, numbers, lists) as flat lists of expressions, and back."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir.expr import Expr
from ..aten import Aten, Scalar, Value


class _Tensor:
    """Marks the place of a tensor."""


class _Number:
    """Marks the place of a number that is computed."""


def flattened(value: Value) -> tuple[list[Expr], Value]:
    """Return the expressions in a value, and its structure, from which `rebuilt` makes a value again."""
    exprs: list[Expr] = []
    return exprs, _structure(value, exprs)


def _structure(value: Value, exprs: list[Expr]) -> Value:
    if isinstance(value, Expr):
        exprs.append(value)
        return _Tensor
    if isinstance(value, Scalar):
        exprs.append(value.expr)
        return _Number
    if isinstance(value, (list, tuple)):
        return [_structure(part, exprs) for part in value]
    return value


def rebuilt(ctx: Aten, structure: Value, exprs: list[Expr]) -> Value:
    """Return a value of the structure with other expressions. A number that is known by now becomes one."""
    return _value(ctx, structure, iter(exprs))


def _value(ctx: Aten, structure: Value, exprs: Iterator[Expr]) -> Value:
    if structure is _Tensor:
        return next(exprs)
    if structure is _Number:
        return ctx.unwrapped(Scalar(next(exprs)))
    if isinstance(structure, list):
        return [_value(ctx, part, exprs) for part in structure]
    return structure
