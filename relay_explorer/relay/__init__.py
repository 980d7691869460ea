"""The namespace of `tvm.relay`, gathered from the folders of this package.

    from relay_explorer import relay

    x = relay.var("x", shape=(1, 784))
    y = relay.nn.relu(x)

Every name is exported explicitly (`X as X`), so that type checkers and editors find its declaration.
"""

from __future__ import annotations

import sys as _sys
from types import ModuleType as _ModuleType

from .. import analysis as analysis
from .. import dataflow_pattern as dataflow_pattern
from .. import frontends as _frontends
from .. import ir as ir
from .. import prelude as prelude
from .. import quantize as quantize
from .. import transform as transform
from ..execute import Executor as Executor
from ..ir import adt as adt
from ..ir import expr as expr
from ..ir import loops as loops
from ..ir import types as _types
from ..ir.adt import Clause as Clause
from ..ir.adt import Constructor as Constructor
from ..ir.adt import Match as Match
from ..ir.adt import Pattern as Pattern
from ..ir.adt import PatternConstructor as PatternConstructor
from ..ir.adt import PatternTuple as PatternTuple
from ..ir.adt import PatternVar as PatternVar
from ..ir.adt import PatternWildcard as PatternWildcard
from ..ir.adt import TypeData as TypeData
from ..ir.bind import bind as bind
from ..ir.bind import bind_params_by_name as bind_params_by_name
from ..ir.errors import ParseError as ParseError
from ..ir.errors import RelayError as RelayError
from ..ir.errors import TypeInferenceError as TypeInferenceError
from ..ir.expr import Call as Call
from ..ir.expr import Constant as Constant
from ..ir.expr import Expr as Expr
from ..ir.expr import Function as Function
from ..ir.expr import GlobalVar as GlobalVar
from ..ir.expr import If as If
from ..ir.expr import Let as Let
from ..ir.expr import RefCreate as RefCreate
from ..ir.expr import RefRead as RefRead
from ..ir.expr import RefWrite as RefWrite
from ..ir.expr import Tuple as Tuple
from ..ir.expr import TupleGetItem as TupleGetItem
from ..ir.expr import Var as Var
from ..ir.expr import const as const
from ..ir.expr import var as var
from ..ir.module import IRModule as IRModule
from ..ir.op import Op as Op
from ..ir.op import OpPattern as OpPattern
from ..ir.scope_builder import ScopeBuilder as ScopeBuilder
from ..ir.span import Source as Source
from ..ir.span import SourceName as SourceName
from ..ir.span import Span as Span
from ..ir.tuple_wrapper import TupleWrapper as TupleWrapper
from ..ir.type_visitor import TypeFunctor as TypeFunctor
from ..ir.type_visitor import TypeMutator as TypeMutator
from ..ir.type_visitor import TypeVisitor as TypeVisitor
from ..ir.types import Any as Any
from ..ir.types import FuncType as FuncType
from ..ir.types import GlobalTypeVar as GlobalTypeVar
from ..ir.types import IncompleteType as IncompleteType
from ..ir.types import RefType as RefType
from ..ir.types import TensorType as TensorType
from ..ir.types import TupleType as TupleType
from ..ir.types import Type as Type
from ..ir.types import TypeCall as TypeCall
from ..ir.types import TypeConstraint as TypeConstraint
from ..ir.types import TypeKind as TypeKind
from ..ir.types import TypeRelation as TypeRelation
from ..ir.types import TypeVar as TypeVar
from ..ir.types import scalar_type as scalar_type
from ..ir.visitor import ExprFunctor as ExprFunctor
from ..ir.visitor import ExprMutator as ExprMutator
from ..ir.visitor import ExprVisitor as ExprVisitor
from ..lower.executor import create_executor as create_executor
from ..ops.namespaces import *
from ..ops.namespaces import annotation as annotation
from ..ops.namespaces import image as image
from ..ops.namespaces import nn as nn
from ..ops.namespaces import random as random
from ..ops.namespaces import vision as vision
from ..text import astext as astext
from ..text import fromtext as fromtext
from ..text import parse as parse
from ..text import parse_expr as parse_expr
from . import backend as backend
from . import build_module as build_module
from . import op as op
from . import qnn as qnn
from .qnn import transform as _passes_of_qnn  # loads relay.qnn

frontend = _frontends
ty = _types


def _explain_missing_names(path: str, module: _ModuleType) -> None:
    """Make `module.name`, where there is no such name, raise an error that suggests a similar one or a
    replacement.
    """

    def missing(name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        from .._missing import attribute_error

        names = [own for own in vars(module) if not own.startswith("_")]
        raise attribute_error(f"tvm.{path}", name, names, module)

    module.__dict__["__getattr__"] = missing


for _path, _module in (
    ("relay", _sys.modules[__name__]),
    ("relay.nn", nn),
    ("relay.image", image),
    ("relay.vision", vision),
    ("relay.random", random),
    ("relay.annotation", annotation),
    ("relay.op", op),
    ("relay.qnn", qnn),
    ("relay.qnn.op", qnn.op),
    ("relay.qnn.transform", qnn.transform),
):
    _explain_missing_names(_path, _module)
