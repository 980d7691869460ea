"""Type variables in a union-find forest (section 3.2 of the paper).

An `Unknown` is a type still to be found. Two that must be the same are put into one class; the class has a
representative, its root, which holds what is known of the type, and the relations that wait to know more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ir.types import (
    FuncType,
    IncompleteType,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeKind,
    TypeRelation,
)

if TYPE_CHECKING:
    from .solver import Constraint

DEEPEST_TYPE = (
    128  # levels: beyond, a type is refused, since every walk over types may then recurse without care
)
LARGEST_TYPE = 50_000  # parts, shared ones counted each time


class TypeTooLargeError(Exception):
    """A type nested deeper, or with more parts, than any program needs."""


class Unknown(IncompleteType):
    """A type variable. `parent` leads to the root of its class; a root's `type` is what is known of the
    class, or None.
    """

    __slots__ = ("number", "parent", "relations", "size", "type")

    def __init__(self, number: int) -> None:
        self.kind = TypeKind.Type
        self.span = None
        self.number = number
        self.parent: Unknown = self
        self.type: Type | None = None
        self.size = 1
        self.relations: list[Constraint] = []


def find(unknown: Unknown) -> Unknown:
    """The root of the class; the way to it is halved for the next time."""
    while unknown.parent is not unknown:
        unknown.parent = unknown.parent.parent
        unknown = unknown.parent
    return unknown


def prune(type_: Type) -> Type:
    """What is known of `type_` at its top: a root where nothing is known."""
    if isinstance(type_, Unknown):
        root = find(type_)
        return root if root.type is None else root.type
    return type_


def parts_of(type_: Type) -> Sequence[Type]:
    """The parts in which a type may hold variables."""
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
    """`type_` with the parts that `parts_of` gave replaced."""
    if isinstance(type_, TupleType):
        return TupleType(parts, type_.span)
    if isinstance(type_, FuncType):
        return FuncType(parts[:-1], parts[-1], type_.type_params, type_.type_constraints, type_.span)
    if isinstance(type_, TypeCall):
        return TypeCall(type_.func, parts, type_.span)
    if isinstance(type_, RefType):
        return RefType(parts[0], type_.span)
    return type_


def resolve(type_: Type, depth: int = 0) -> Type:
    """`type_` with everything that is known put in; roots stand where nothing is."""
    type_ = prune(type_)
    if isinstance(type_, (TensorType, Unknown)):
        return type_
    parts = parts_of(type_)
    if not parts:
        return type_
    if depth > DEEPEST_TYPE:
        raise TypeTooLargeError(f"a type is nested deeper than {DEEPEST_TYPE} levels")
    resolved = [resolve(p, depth + 1) for p in parts]
    return type_ if all(map(_same, parts, resolved)) else with_parts(type_, resolved)


def _same(a: Type, b: Type) -> bool:
    return a is b


def unknowns_in(type_: Type) -> list[Unknown]:
    """The roots of the variables that `type_` still has, in order, each once."""
    found: dict[Unknown, None] = {}
    pending = [type_]
    steps = 0
    while pending:
        current = prune(pending.pop())
        if isinstance(current, Unknown):
            found[current] = None
        elif not isinstance(current, TensorType):
            steps += 1
            if steps > LARGEST_TYPE:
                raise TypeTooLargeError(f"a type has more than {LARGEST_TYPE:,} parts")
            pending.extend(reversed(parts_of(current)))
    return list(found)


def occurs_in(root: Unknown, type_: Type) -> bool:
    """Whether `root` is a part of `type_`: such a type would be infinite."""
    return not isinstance(type_, TensorType) and root in unknowns_in(type_)
