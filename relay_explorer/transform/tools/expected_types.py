"""The type that an expression must have in its context."""

from __future__ import annotations

from ...ir.adt import Constructor, Match
from ...ir.expr import Call, Expr, Function, GlobalVar, If, Let, RefCreate, RefWrite, Tuple
from ...ir.module import IRModule
from ...ir.substitute import substitute_type
from ...ir.types import FuncType, RefType, TupleType, Type, TypeCall, TypeVar
from ...ir.walk import type_children


def expected_type(parent: Expr, place: int, mod: IRModule) -> Type | None:
    """Return the type that `children(parent)[place]` must have, for a typed `parent`; None if the parent
    accepts any type.
    """
    match parent:
        case Call(op=callee) if place > 0:
            callee_type = _callee_type(parent, callee, mod)
            return callee_type.arg_types[place - 1] if callee_type is not None else None
        case Let():
            return parent.var.checked_type if place == 1 else parent.checked_type
        case If() | Match() if place > 0:
            return parent.checked_type
        case Tuple():
            type_ = parent.checked_type
            return type_.fields[place] if isinstance(type_, TupleType) else None
        case RefCreate():
            type_ = parent.checked_type
            return type_.value if isinstance(type_, RefType) else None
        case RefWrite() if place == 1:
            type_ = parent.ref.checked_type
            return type_.value if isinstance(type_, RefType) else None
        case Function():
            return parent.ret_type
    return None


def _callee_type(call: Call, callee: Expr, mod: IRModule) -> FuncType | None:
    """Return the type of the callee, instantiated with the type arguments of the call."""
    if isinstance(callee, Constructor):
        data_type = call.checked_type
        data = mod.type_definitions[callee.belong_to]
        substitution = dict(zip(data.type_vars, data_type.args)) if isinstance(data_type, TypeCall) else {}
        return FuncType([substitute_type(t, substitution) for t in callee.inputs], data_type)
    type_ = mod[callee].checked_type if isinstance(callee, GlobalVar) else callee._checked_type
    if not isinstance(type_, FuncType) or len(call.type_args) != len(type_.type_params):
        return None
    substitution = dict(zip(type_.type_params, call.type_args))
    return FuncType(
        [substitute_type(t, substitution) for t in type_.arg_types],
        substitute_type(type_.ret_type, substitution),
    )


def matched(generic: FuncType, concrete: Type) -> tuple[Type, ...] | None:
    """Match a generic function type with a concrete one; return the types of its type parameters, or None
    where they do not match.
    """
    substitution: dict[TypeVar, Type] = {}
    if not isinstance(concrete, FuncType) or len(generic.arg_types) != len(concrete.arg_types):
        return None
    pending = [*zip(generic.arg_types, concrete.arg_types), (generic.ret_type, concrete.ret_type)]
    while pending:
        pattern, type_ = pending.pop()
        if isinstance(pattern, TypeVar) and pattern in generic.type_params:
            if substitution.setdefault(pattern, type_) != type_:
                return None
            continue
        parts, others = type_children(pattern), type_children(type_)
        if pattern.__class__ is not type_.__class__ or len(parts) != len(others):
            return None
        pending += zip(parts, others)
    if len(substitution) != len(generic.type_params):
        return None
    return tuple([substitution[param] for param in generic.type_params])
