"""Conversion of builders' Python arguments, before a call is built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias, Union

from ..ir.errors import AttributeSchemaError
from ..ir.expr import Constant, Expr, Tuple, as_expr
from ..ir.ndarray import NDArray
from ..ir.tuple_wrapper import TupleWrapper

if TYPE_CHECKING:
    import numpy

# Builders accept an Operand as a tensor: an expression, a call with several results, or a value that becomes
# a constant. They accept Operands as a tuple of tensors.
Operand: TypeAlias = Union[Expr, TupleWrapper, NDArray, "numpy.ndarray", "numpy.generic", bool, int, float]
Operands: TypeAlias = Expr | TupleWrapper | Sequence[Operand]


def expr(value: object) -> Expr:
    """Convert an argument to an expression: unwrap wrapped calls, and make numbers and arrays constants."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, TupleWrapper):
        return value.tuple_value
    return as_expr(value)


def tuple_expr(values: object, operator: str) -> Expr:
    """Return the single tuple operand of `operator`, from a list of expressions or an expression of tuple
    type. A wrapper counts as a list of its fields, as in TVM.
    """
    if isinstance(values, Expr):
        return expr(values)
    if isinstance(values, TupleWrapper):
        values = list(values)
    if not isinstance(values, (list, tuple)) or not values:
        raise ValueError(
            f"relay.{operator} takes a tuple or list of at least one expression, not {values!r:.60}"
        )
    return Tuple([expr(value) for value in values])


def computed(value: object) -> bool:
    """Return whether the program computes `value`, so that only a `dyn.` operator can take it."""
    return isinstance(value, Expr) and not isinstance(value, Constant)


def static_ints(value: object, name: str) -> list[int]:
    """Return integers that must be static when the call is made: a list, one integer, or a constant."""
    if isinstance(value, Constant):
        return [int(v) for v in value.data.values()]
    if isinstance(value, Expr):
        raise AttributeSchemaError(
            f"`{name}` must be static, not computed by the program",
            help=[f"give `{name}` as a list of integers, or fold it first (relay.transform.FoldConstant)"],
        )
    if isinstance(value, (list, tuple)):
        return [v for item in value for v in (static_ints(item, name) if isinstance(item, Expr) else [item])]
    if hasattr(value, "__iter__") and not isinstance(value, str):
        return list(value)
    return [value]  # type: ignore[list-item]  # the attribute's own kind refuses what is not an integer


def int_const(values: object, dtype: str = "int32") -> Expr:
    """Build a constant vector of integers, without NumPy; return an expression unchanged."""
    if isinstance(values, Expr):
        return values
    numbers = [int(v) for v in static_ints(values, "values")]
    return Constant(NDArray.from_list([*numbers], (len(numbers),), dtype))


def axes_of(axis: int | Sequence[int] | None) -> list[int] | None:
    """Return one axis or several as a list; None stays None."""
    if axis is None:
        return None
    return list(axis) if isinstance(axis, (list, tuple)) else [axis]  # type: ignore[list-item]  # one axis
