"""Short names for making patterns: `is_op("nn.relu")(wildcard())`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any as Anything

from ..ir.expr import Expr
from ..ir.op import Op
from ..ir.types import Type
from .patterns import (
    AttrPattern,
    ConstantPattern,
    DataTypePattern,
    DFPattern,
    DominatorPattern,
    ExprPattern,
    IfPattern,
    LetPattern,
    ShapePattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    VarPattern,
    WildcardPattern,
)


def is_var(name: str = "") -> VarPattern:
    """A local variable, of that name if it is given."""
    return VarPattern(name)


def is_constant() -> ConstantPattern:
    """A constant, whatever its value; `is_expr(relay.const(0))` is one value."""
    return ConstantPattern()


def is_expr(expr: Expr) -> ExprPattern:
    """What is structurally equal to `expr`."""
    return ExprPattern(expr)


def is_op(op_name: str) -> ExprPattern:
    """The operator of that name; `is_op("nn.relu")(wildcard())` is a call of it. An UnknownOperatorError
    names near ones where there is none.
    """
    return ExprPattern(Op.get(op_name))


def is_tuple(fields: Sequence[DFPattern] | None) -> TuplePattern:
    """A tuple; None stands for any number of any fields."""
    return TuplePattern(fields)


def is_tuple_get_item(tuple_value: DFPattern, index: int | None = None) -> TupleGetItemPattern:
    """Field `index` of a tuple, any field where it is None."""
    return TupleGetItemPattern(tuple_value, index)


def is_if(cond: DFPattern, true_branch: DFPattern, false_branch: DFPattern) -> IfPattern:
    """A choice."""
    return IfPattern(cond, true_branch, false_branch)


def is_let(var: DFPattern, value: DFPattern, body: DFPattern) -> LetPattern:
    """A `let`."""
    return LetPattern(var, value, body)


def wildcard() -> WildcardPattern:
    """Anything."""
    return WildcardPattern()


def has_type(ttype: Type, pattern: DFPattern | None = None) -> TypePattern:
    """What matches `pattern`, anything unless given, and has the type."""
    return TypePattern(_given(pattern), ttype)


def has_dtype(dtype: str, pattern: DFPattern | None = None) -> DataTypePattern:
    """What matches `pattern`, anything unless given, and is a tensor of that element type."""
    return DataTypePattern(_given(pattern), dtype)


def has_shape(shape: Sequence[Anything], pattern: DFPattern | None = None) -> ShapePattern:
    """What matches `pattern`, anything unless given, and is a tensor of that shape."""
    return ShapePattern(_given(pattern), shape)


def has_attr(attrs: Mapping[str, Anything], pattern: DFPattern | None = None) -> AttrPattern:
    """What matches `pattern`, anything unless given, and has the attributes."""
    return AttrPattern(_given(pattern), attrs)


def dominates(parent: DFPattern, path: DFPattern, child: DFPattern) -> DominatorPattern:
    """`child`, every way up from which leads over `path` to one `parent`; see DominatorPattern."""
    return DominatorPattern(parent, path, child)


def _given(pattern: DFPattern | None) -> DFPattern:
    return wildcard() if pattern is None else pattern  # the pattern of an empty tuple is falsy
