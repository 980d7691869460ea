"""The namespace that `tvm.relay` was, gathered from the folders of this package.

from relay_explorer import relay x = relay.var("x", shape=(1, 784)) y = relay.nn.relu(x)
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable
from typing import TYPE_CHECKING
from typing import Any as Anything

from . import analysis, dataflow_pattern, ir, prelude, transform
from .execute import Executor
from .execute import results as _results
from .ir import adt, expr, loops
from .ir import types as ty
from .ir.adt import (
    Clause,
    Constructor,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    TypeData,
)
from .ir.bind import bind, bind_params_by_name
from .ir.errors import ParseError, RelayError, TypeInferenceError
from .ir.expr import (
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
    RelayExpr,
    RelayNode,
    Tuple,
    TupleGetItem,
    Var,
    const,
    var,
)
from .ir.module import IRModule
from .ir.op import Op, OpPattern
from .ir.scope_builder import ScopeBuilder
from .ir.span import Source, SourceName, Span
from .ir.tuple_wrapper import TupleWrapper
from .ir.type_visitor import TypeFunctor, TypeMutator, TypeVisitor
from .ir.types import (
    Any,
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    RelayRefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeConstraint,
    TypeKind,
    TypeRelation,
    TypeVar,
    scalar_type,
)
from .ir.visitor import ExprFunctor, ExprMutator, ExprVisitor
from .lower.executor import create_executor
from .ops import builders
from .ops import register as _register
from .ops.namespaces import *
from .ops.namespaces import annotation, image, nn, random, vision
from .text import astext, fromtext, parse, parse_expr


def _gathered(name: str, purpose: str, **members: object) -> types.ModuleType:
    """A module that holds what old code looks for under that name."""
    module = types.ModuleType(f"{__name__}.{name}", purpose)
    module.__dict__.update(members)
    return module


build_module = _gathered(
    "build_module", "Ways to run a module.",
    create_executor=create_executor, bind_params_by_name=bind_params_by_name,
)  # fmt: skip
backend = _gathered(
    "backend", "Values of running programs.",
    interpreter=_gathered(
        "backend.interpreter", "Values of running programs.",
        ConstructorValue=_results.ConstructorValue, RefValue=_results.RefValue, Executor=Executor,
    ),
)  # fmt: skip
nn.__dict__["Constant"] = Constant  # old code finds it there too
op = _gathered("op", "Builder functions of Relay's operators: `relay.op.…`.", **builders(""))
op.__dict__.update({"nn": nn, "image": image, "vision": vision, "random": random, "annotation": annotation})
op.__dict__.update({"get": Op.get, "Op": Op, "OpPattern": OpPattern, "const": const})
op.__dict__.update({name: getattr(_register, name) for name in _register.__all__})

__all__ = [
    name
    for name in dir()
    if not name.startswith("_")
    and name not in ("annotations", "sys", "types", "Iterable", "TYPE_CHECKING", "Anything")
]


def _explained(path: str, module: types.ModuleType) -> None:
    """Asking for a name that a namespace lacks says which is near, or what took its place."""

    def missing(name: str) -> Anything:
        if name.startswith("__"):
            raise AttributeError(name)
        from ._missing import attribute_error

        raise attribute_error(f"tvm.{path}", name, [n for n in vars(module) if not n.startswith("_")], module)

    module.__dict__["__getattr__"] = missing


for _path, _module in (
    ("relay", sys.modules[__name__]),
    ("relay.nn", nn),
    ("relay.image", image),
    ("relay.vision", vision),
    ("relay.random", random),
    ("relay.annotation", annotation),
    ("relay.op", op),
):
    _explained(_path, _module)
