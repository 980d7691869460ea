"""Check kinds: whether an annotation names types that exist, with as many arguments as they take."""

from __future__ import annotations

from ..ir.module import IRModule
from ..ir.show import counted
from ..ir.substitute import MAX_TYPE_DEPTH, parts_of
from ..ir.types import GlobalTypeVar, Type, TypeCall


def check_kinds(type_: Type, module: IRModule, depth: int = 0) -> str | None:
    """Return what is wrong with an annotation, in one sentence; None where it is well-kinded."""
    if depth > MAX_TYPE_DEPTH:
        return f"a type is nested deeper than {MAX_TYPE_DEPTH} levels"
    if isinstance(type_, GlobalTypeVar):
        return _declared(type_, 0, module)
    if isinstance(type_, TypeCall):
        if not isinstance(type_.func, GlobalTypeVar):
            return f"`{type_.func}` is applied to types, but only declared types take arguments"
        problem = _declared(type_.func, len(type_.args), module)
        if problem is not None:
            return problem
    for part in parts_of(type_):
        problem = check_kinds(part, module, depth + 1)
        if problem is not None:
            return problem
    return None


def _declared(var: GlobalTypeVar, count: int, module: IRModule) -> str | None:
    data = module.type_definitions.get(var)
    if data is None:
        names = ", ".join(f"`{v.name_hint}`" for v in module.type_definitions)
        return f"there is no type `{var.name_hint}`" + (f"; the module declares {names}" if names else "")
    takes = len(data.type_vars)
    if count != takes:
        return f"the type `{var.name_hint}` expects {counted(takes, 'type argument')}, got {count}"
    return None
