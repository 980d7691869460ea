"""The expressions in the arguments and results of converters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from ...ir.expr import Expr
from ...ir.tuple_wrapper import TupleWrapper
from ..aten import Aten, Scalar, Value

Parts = Sequence[Value]


def tensors(value: Value) -> list[Expr]:
    """Return the tensors in an argument."""
    if isinstance(value, Expr):
        return [value]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in tensors(item)]
    return []


def leaves(value: Value) -> list[Expr]:
    """Return the expressions in a converter's result."""
    if isinstance(value, Scalar):
        return [value.expr]
    if isinstance(value, Expr):
        return [value]
    if isinstance(value, (list, tuple, TupleWrapper)):
        return [leaf for item in cast(Parts, value) for leaf in leaves(item)]
    return []


def rebuilt(ctx: Aten, value: Value, following: Callable[[], Expr]) -> Value:
    """Return a converter's result with other expressions in place of its own."""
    if isinstance(value, Scalar):
        return ctx.unwrapped(Scalar(following()))
    if isinstance(value, Expr):
        return following()
    if isinstance(value, (list, tuple, TupleWrapper)):
        items = [rebuilt(ctx, part, following) for part in cast(Parts, value)]
        return items if isinstance(value, list) else tuple(items)
    return value


def old_value(value: Value) -> object:
    """Return an argument as converters of TVM's `custom_convert_map` receive it."""
    return value.expr if isinstance(value, Scalar) else value


def old_type(ctx: Aten, value: Value) -> str:
    """Return the type of an argument as these converters receive it: a tensor's element type."""
    return ctx.dtype(value) if isinstance(value, Expr) else type(value).__name__
