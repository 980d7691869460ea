"""The type variables of expressions and types: all of them, the bound ones, and the free ones."""

from __future__ import annotations

from ..ir.adt import Match, pattern_vars
from ..ir.expr import Call, Expr, Function, Var
from ..ir.module import IRModule
from ..ir.types import FuncType, Type, TypeVar
from ..ir.walk import children, type_children


def all_type_vars(expr: Expr | Type, mod: IRModule | None = None) -> list[TypeVar]:
    """Return the type variables that occur, introduced or used, in the order of the program. `mod` is
    ignored.
    """
    return _walk(expr)[0]


def bound_type_vars(expr: Expr | Type, mod: IRModule | None = None) -> list[TypeVar]:
    """Return the type variables that functions and function types introduce. `mod` is ignored."""
    return _walk(expr)[1]


def free_type_vars(expr: Expr | Type, mod: IRModule | None = None) -> list[TypeVar]:
    """Return the type variables that are used and not introduced. `mod` is ignored."""
    variables, introduced = _walk(expr)
    return [var for var in variables if var not in set(introduced)]


def _walk(root: Expr | Type) -> tuple[list[TypeVar], list[TypeVar]]:
    """Return all type variables and those introduced, from the outside in, each once."""
    variables: dict[TypeVar, None] = {}
    introduced: dict[TypeVar, None] = {}
    visited: set[Expr] = set()
    pending: list[Expr | Type] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, TypeVar):
            variables[node] = None
        elif isinstance(node, Type):
            if isinstance(node, FuncType):
                introduced.update(dict.fromkeys(node.type_params))
                variables.update(dict.fromkeys(node.type_params))
            pending.extend(reversed(type_children(node)))
        elif node not in visited:
            visited.add(node)
            if isinstance(node, Function):
                introduced.update(dict.fromkeys(node.type_params))
                variables.update(dict.fromkeys(node.type_params))
            pending.extend(reversed([*_types_of(node), *children(node)]))
    return list(variables), list(introduced)


def _types_of(expr: Expr) -> list[Type]:
    """Return the types written in the expression itself."""
    if isinstance(expr, Call):
        return list(expr.type_args)
    annotations: list[Type | None] = []
    if isinstance(expr, Var):
        annotations = [expr.type_annotation]
    elif isinstance(expr, Function):
        annotations = [*(p.type_annotation for p in expr.params), expr.ret_type]
    elif isinstance(expr, Match):
        annotations = [v.type_annotation for c in expr.clauses for v in pattern_vars(c.lhs)]
    return [type_ for type_ in annotations if type_ is not None]
