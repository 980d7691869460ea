"""Dataflow patterns: match, rewrite and partition programs. This is `relay.dataflow_pattern`.

    x = wildcard()
    pattern = is_op("nn.relu")(is_op("nn.relu")(x))
    pattern.match(mod["main"].body)
    pattern.partition(mod["main"])

A pattern follows the flow of data: into the arguments of calls, the fields of tuples, branches, and so on. It
does not look through variables: where an argument is a variable that a `let` binds, the pattern sees the
variable and not its value.
"""

from __future__ import annotations

from .build import (
    dominates,
    has_attr,
    has_dtype,
    has_shape,
    has_type,
    is_constant,
    is_expr,
    is_if,
    is_let,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    wildcard,
)
from .matching import match
from .partitioning import partition
from .patterns import (
    AltPattern,
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DataTypePattern,
    DFPattern,
    DominatorPattern,
    ExprPattern,
    FunctionPattern,
    IfPattern,
    LetPattern,
    ShapePattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    VarPattern,
    WildcardPattern,
)
from .rewriting import DFPatternCallback, rewrite

__all__ = [
    "AltPattern", "AttrPattern", "CallPattern", "ConstantPattern", "DFPattern", "DFPatternCallback",
    "DataTypePattern", "DominatorPattern", "ExprPattern", "FunctionPattern", "IfPattern", "LetPattern",
    "ShapePattern", "TupleGetItemPattern", "TuplePattern", "TypePattern", "VarPattern", "WildcardPattern",
    "dominates", "has_attr", "has_dtype", "has_shape", "has_type", "is_constant", "is_expr", "is_if",
    "is_let", "is_op", "is_tuple", "is_tuple_get_item", "is_var", "match", "partition", "rewrite", "wildcard",
]  # fmt: skip
