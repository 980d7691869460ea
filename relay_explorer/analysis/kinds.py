"""Kinds: the types of types. A tuple's fields must be types of values, not shapes; a declared type must be
applied to as many arguments as it has parameters.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.adt import TypeData
from ..ir.errors import TypeInferenceError
from ..ir.module import IRModule
from ..ir.show import counted
from ..ir.types import (
    KIND_NAMES,
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    TupleType,
    Type,
    TypeCall,
    TypeKind,
    TypeRelation,
    TypeVar,
)


def check_kind(t: Type, mod: IRModule | None = None) -> int:
    """Return the kind of a type, one of TypeKind's. Raise a TypeInferenceError for an ill-kinded type; calls
    of declared types are looked up in `mod`.
    """
    if isinstance(t, (TypeVar, GlobalTypeVar, IncompleteType)):
        return t.kind
    module = mod or IRModule()
    if isinstance(t, TupleType):
        _all_types(t.fields, "a field of a tuple", module)
    elif isinstance(t, RefType):
        _all_types([t.value], "what a reference holds", module)
    elif isinstance(t, TypeRelation):
        _all_types(t.args, "an argument of a type relation", module)
        return TypeKind.Constraint
    elif isinstance(t, FuncType):
        _all_types(t.arg_types, "a parameter of a function", module)
        _all_types([t.ret_type], "the result of a function", module)
        for constraint in t.type_constraints:
            _demand(constraint, TypeKind.Constraint, "a constraint of a function type", module)
    elif isinstance(t, TypeCall):
        _check_call(t, module)
    elif isinstance(t, TypeData):
        _check_data(t, module)
        return TypeKind.TypeData
    return TypeKind.Type


def _all_types(types: Sequence[Type], role: str, module: IRModule) -> None:
    for type_ in types:
        _demand(type_, TypeKind.Type, role, module)


def _demand(type_: Type, kind: int, role: str, module: IRModule) -> None:
    actual = check_kind(type_, module)
    if actual != kind:
        raise TypeInferenceError(
            f"{role} must be of kind {KIND_NAMES[kind]}, but `{type_}` is of kind {KIND_NAMES[actual]}",
            type_.span,
        )


def _check_call(call: TypeCall, module: IRModule) -> None:
    func = call.func
    if not isinstance(func, GlobalTypeVar):
        raise TypeInferenceError(
            f"only a declared type takes type arguments, and `{func}` is not one", call.span
        )
    _demand(func, TypeKind.AdtHandle, "what is called", module)
    _all_types(call.args, f"an argument of `{func.name_hint}`", module)
    data = module.type_definitions.get(func)
    if data is None:
        raise TypeInferenceError(f"the module does not declare the type `{func.name_hint}`", call.span)
    if len(data.type_vars) != len(call.args):
        raise TypeInferenceError(
            f"the type `{func.name_hint}` expects {counted(len(data.type_vars), 'type argument')}, "
            f"got {len(call.args)}",
            call.span,
        )


def _check_data(data: TypeData, module: IRModule) -> None:
    declared = data.header.name_hint
    _demand(data.header, TypeKind.AdtHandle, "the name of a declared type", module)
    _all_types(data.type_vars, f"a type parameter of `{declared}`", module)
    inside = module
    if data.header not in module:  # its constructors may refer to it
        inside = module.copy()
        inside.add_type(data.header, data)
    for constructor in data.constructors:
        name = constructor.name_hint
        makes = constructor.belong_to.name_hint
        if constructor.belong_to != data.header:
            raise TypeInferenceError(
                f"the constructor `{name}` of `{declared}` makes values of `{makes}`",
                data.span,
            )
        _all_types(constructor.inputs, f"an argument of the constructor `{name}`", inside)
