"""`tvm.ir`: what modules, types and expressions are made of, and structural equality."""

from __future__ import annotations

from ... import transform
from ...ir.adt import Constructor, TypeData
from ...ir.attrs import Attrs, DictAttrs
from ...ir.equal import assert_structural_equal, structural_equal, structural_hash
from ...ir.expr import Function as BaseFunc
from ...ir.expr import GlobalVar, RelayExpr
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.span import Span
from ...ir.types import (
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RelayRefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeConstraint,
    TypeKind,
    TypeRelation,
    TypeVar,
)
from ...transform import PassContext, Sequential

__all__ = [
    "Attrs",
    "BaseFunc",
    "Constructor",
    "DictAttrs",
    "FuncType",
    "GlobalTypeVar",
    "GlobalVar",
    "IRModule",
    "IncompleteType",
    "Op",
    "PassContext",
    "RelayExpr",
    "RelayRefType",
    "Sequential",
    "Span",
    "TensorType",
    "TupleType",
    "Type",
    "TypeCall",
    "TypeConstraint",
    "TypeData",
    "TypeKind",
    "TypeRelation",
    "TypeVar",
    "assert_structural_equal",
    "structural_equal",
    "structural_hash",
    "transform",
]
