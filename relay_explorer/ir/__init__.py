"""The program as data: expressions, types, algebraic data types, modules, attributes, spans, visitors,
structural equality.
"""

from __future__ import annotations

from .adt import (
    Clause,
    Constructor,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    TypeData,
    pattern_vars,
)
from .attrs import Attrs, DictAttrs
from .equal import assert_structural_equal, difference, structural_equal, structural_hash
from .errors import ModuleError, Note, ParseError, RelayError, TypeInferenceError, UnknownOperatorError
from .expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
    const,
    var,
)
from .module import IRModule
from .ndarray import NDArray
from .op import Op, OpPattern, Relation, RelationError
from .scope_builder import ScopeBuilder
from .show import short_type, show_type
from .span import Source, SourceName, Span
from .type_visitor import TypeFunctor, TypeMutator, TypeVisitor
from .types import (
    Any,
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    SizeVar,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeKind,
    TypeRelation,
    TypeVar,
    scalar_type,
)
from .visitor import ExprFunctor, ExprMutator, ExprVisitor
from .walk import (
    all_vars,
    bound_vars,
    children,
    free_type_vars,
    free_vars,
    post_order,
    post_order_visit,
    rebuild,
    rewrite,
)

__all__ = [name for name in dir() if not name.startswith("_") and name != "annotations"]
