"""Functions that build patterns, such as `is_op("nn.relu")(wildcard())`."""

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
    """Match a local variable; if `name` is not empty, only one of that name."""
    return VarPattern(name)


def is_constant() -> ConstantPattern:
    """Match a constant of any value; `is_expr(relay.const(0))` matches one value."""
    return ConstantPattern()


def is_expr(expr: Expr) -> ExprPattern:
    """Match expressions that are structurally equal to `expr`."""
    return ExprPattern(expr)


def is_op(op_name: str) -> ExprPattern:
    """Match the operator `op_name`; `is_op("nn.relu")(wildcard())` matches a call of it. Raise an
    UnknownOperatorError that suggests similar names if there is no such operator.
    """
    return ExprPattern(Op.get(op_name))


def is_tuple(fields: Sequence[DFPattern] | None) -> TuplePattern:
    """Match a tuple whose fields match `fields`; if `fields` is None, any tuple."""
    return TuplePattern(fields)


def is_tuple_get_item(tuple_value: DFPattern, index: int | None = None) -> TupleGetItemPattern:
    """Match the projection of field `index` of a tuple; of any field if `index` is None."""
    return TupleGetItemPattern(tuple_value, index)


def is_if(cond: DFPattern, true_branch: DFPattern, false_branch: DFPattern) -> IfPattern:
    """Match an `if`."""
    return IfPattern(cond, true_branch, false_branch)


def is_let(var: DFPattern, value: DFPattern, body: DFPattern) -> LetPattern:
    """Match a `let`."""
    return LetPattern(var, value, body)


def wildcard() -> WildcardPattern:
    """Match any expression."""
    return WildcardPattern()


def has_type(ttype: Type, pattern: DFPattern | None = None) -> TypePattern:
    """Match expressions that match `pattern` (default: any) and have the type."""
    return TypePattern(_or_wildcard(pattern), ttype)


def has_dtype(dtype: str, pattern: DFPattern | None = None) -> DataTypePattern:
    """Match tensors that match `pattern` (default: any) and have that element type."""
    return DataTypePattern(_or_wildcard(pattern), dtype)


def has_shape(shape: Sequence[Anything], pattern: DFPattern | None = None) -> ShapePattern:
    """Match tensors that match `pattern` (default: any) and have that shape."""
    return ShapePattern(_or_wildcard(pattern), shape)


def has_attr(attrs: Mapping[str, Anything], pattern: DFPattern | None = None) -> AttrPattern:
    """Match expressions that match `pattern` (default: any) and have the attributes."""
    return AttrPattern(_or_wildcard(pattern), attrs)


def dominates(parent: DFPattern, path: DFPattern, child: DFPattern) -> DominatorPattern:
    """Match `child` if every path back from its arguments leads, through expressions that match `path`, to
    one expression that matches `parent`; see DominatorPattern.
    """
    return DominatorPattern(parent, path, child)


def _or_wildcard(pattern: DFPattern | None) -> DFPattern:
    return wildcard() if pattern is None else pattern  # the pattern of an empty tuple is falsy
