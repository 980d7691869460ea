"""Infer the type of one expression, without a module around it."""

from __future__ import annotations

from ..ir.adt import Match, pattern_vars
from ..ir.annotate import set_checked_type
from ..ir.expr import Expr, Function, GlobalVar
from ..ir.module import IRModule
from ..ir.types import Type
from ..ir.walk import free_type_vars, free_vars, post_order
from .infer import infer_types


def infer_type_local(expr: Expr, module: IRModule | None = None) -> Type:
    """Infer the types in `expr`, which may have free variables, and return that of `expr` itself.

    Unlike a pass, this makes no copy: it sets the `checked_type` of every expression in `expr`. Global
    functions and declared types are looked up in `module`.
    """
    whole = IRModule({}, module.type_definitions if module else None)
    whole.update(dict((module.functions if module else {}).items()))
    name = "main"
    while name in whole:
        name += "_"
    whole[name] = Function(free_vars(expr), expr, None, free_type_vars(expr))
    body = infer_types(whole)[name].body
    for old, new in zip(post_order(expr), post_order(body), strict=True):
        if not isinstance(old, GlobalVar):
            set_checked_type(old, new._checked_type)
        if isinstance(old, Match) and isinstance(new, Match):
            for clause, typed_clause in zip(old.clauses, new.clauses):
                for var, typed_var in zip(pattern_vars(clause.lhs), pattern_vars(typed_clause.lhs)):
                    set_checked_type(var, typed_var._checked_type)
    return body.checked_type
