"""Substitute expressions in an expression, and types for type parameters in a type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .expr import Expr
from .types import (
    FuncType,
    RefType,
    TupleType,
    Type,
    TypeCall,
    TypeRelation,
    TypeVar,
)
from .walk import children, rebuild

MAX_TYPE_DEPTH = 128  # levels; deeper types are rejected, so that walks over types may recurse
MAX_TYPE_PARTS = 50_000  # counting shared parts once per use


class TypeTooLargeError(Exception):
    """A type nests deeper, or has more parts, than any program needs."""


def substitute(root: Expr, replacements: Mapping[Expr, Expr]) -> Expr:
    """Replace each expression that is a key of `replacements`, within the replacements too.

    No replacement may contain the expression that it replaces. Sharing is preserved.
    """
    memo: dict[Expr, Expr] = {}
    pending = [(root, False)]
    while pending:
        node, ready = pending.pop()
        if node in memo:
            continue
        target = replacements.get(node, node)
        if ready:
            parts = children(target)
            memo[node] = memo[target] if target is not node else rebuild(node, [memo[part] for part in parts])
        else:
            pending.append((node, True))
            needed = (target,) if target is not node else children(node)
            pending += [(part, False) for part in reversed(needed) if part not in memo]
    return memo[root]


def substitute_type(type_: Type, replacements: dict[TypeVar, Type], depth: int = 0) -> Type:
    """Replace type parameters in `type_`; parts without them are shared."""
    if isinstance(type_, TypeVar):
        return replacements.get(type_, type_)
    parts = parts_of(type_)
    if not parts:
        return type_
    if depth > MAX_TYPE_DEPTH:
        raise TypeTooLargeError(f"a type is nested deeper than {MAX_TYPE_DEPTH} levels")
    new = [substitute_type(p, replacements, depth + 1) for p in parts]
    return type_ if all(x is y for x, y in zip(parts, new)) else with_parts(type_, new)


def parts_of(type_: Type) -> Sequence[Type]:
    """Return the parts of a type that may contain type variables."""
    if isinstance(type_, TupleType):
        return type_.fields
    if isinstance(type_, FuncType):
        return (*type_.arg_types, type_.ret_type)
    if isinstance(type_, TypeCall):
        return type_.args
    if isinstance(type_, RefType):
        return (type_.value,)
    if isinstance(type_, TypeRelation):
        return type_.args
    return ()


def with_parts(type_: Type, parts: Sequence[Type]) -> Type:
    """Replace the parts of `type_` that `parts_of` returned."""
    if isinstance(type_, TupleType):
        return TupleType(parts, type_.span)
    if isinstance(type_, FuncType):
        return FuncType(parts[:-1], parts[-1], type_.type_params, type_.type_constraints, type_.span)
    if isinstance(type_, TypeCall):
        return TypeCall(type_.func, parts, type_.span)
    if isinstance(type_, RefType):
        return RefType(parts[0], type_.span)
    return type_
