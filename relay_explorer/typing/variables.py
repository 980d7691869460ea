"""Type variables in a union-find forest (section 3.2 of the paper).

An `InferenceVariable` stands for a type that inference has yet to solve. Unifying two variables merges their
classes; the representative of a class, its root, holds the known part of the type and the relations that wait
for more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir.substitute import MAX_TYPE_DEPTH, MAX_TYPE_PARTS, TypeTooLargeError, parts_of, with_parts
from ..ir.types import IncompleteType, TensorType, Type, TypeKind

if TYPE_CHECKING:
    from .constraint import Constraint


class InferenceVariable(IncompleteType):
    """A type that inference has yet to find. `parent` leads to the root of the class; a root's `type` is the
    known type of the class, or None.
    """

    __slots__ = ("number", "parent", "relations", "size", "type")
    __setattr__ = object.__setattr__  # type: ignore[assignment]  # mutable: unification merges classes
    __delattr__ = object.__delattr__  # both, so that Python assigns without a call of either

    def __init__(self, number: int) -> None:
        self.kind = TypeKind.Type
        self.span = None
        self.number = number
        self.parent: InferenceVariable = self
        self.type: Type | None = None
        self.size = 1
        self.relations: list[Constraint] = []


def find(variable: InferenceVariable) -> InferenceVariable:
    """Find the root of the class, halving the path to it (path halving)."""
    while variable.parent is not variable:
        variable.parent = variable.parent.parent
        variable = variable.parent
    return variable


def prune(type_: Type) -> Type:
    """Resolve only the top of `type_`: return the root where nothing is known."""
    if type_.__class__ is InferenceVariable:
        root = type_ if type_.parent is type_ else find(type_)
        return root if root.type is None else root.type
    return type_


def is_computed_later(target: Type, running: Constraint | None) -> bool:
    """Whether an operand of the running relation is the result of another relation that can still run. A
    weight in a layout of its own, for example, has the element type that its layout transform has, not that
    of the data.
    """
    root = prune(target)
    if not isinstance(root, InferenceVariable) or running is None or prune(running.args[-1]) is root:
        return False
    return any(
        not (other.done or other.waiting or other is running) and prune(other.args[-1]) is root
        for other in root.relations
    )


def resolve(type_: Type, depth: int = 0) -> Type:
    """Resolve every variable in `type_`; where nothing is known, the root remains."""
    type_ = prune(type_)
    if type_.__class__ is TensorType or type_.__class__ is InferenceVariable:
        return type_
    parts = parts_of(type_)
    if not parts:
        return type_
    if depth > MAX_TYPE_DEPTH:
        raise TypeTooLargeError(f"a type is nested deeper than {MAX_TYPE_DEPTH} levels")
    resolved = [resolve(p, depth + 1) for p in parts]
    return type_ if all(map(_same, parts, resolved)) else with_parts(type_, resolved)


def _same(a: Type, b: Type) -> bool:
    return a is b


def variables_in(type_: Type) -> list[InferenceVariable]:
    """Return the roots of the distinct type variables in `type_`, in order."""
    type_ = prune(type_)
    if type_.__class__ is TensorType:
        return []
    roots: dict[InferenceVariable, None] = {}
    pending = [type_]
    steps = 0
    while pending:
        current = prune(pending.pop())
        if isinstance(current, InferenceVariable):
            roots[current] = None
        elif not isinstance(current, TensorType):
            steps += 1
            if steps > MAX_TYPE_PARTS:
                raise TypeTooLargeError(f"a type has more than {MAX_TYPE_PARTS:,} parts")
            pending.extend(reversed(parts_of(current)))
    return list(roots)


def occurs_in(root: InferenceVariable, type_: Type) -> bool:
    """Whether `root` is a part of `type_`: such a type would be infinite."""
    return not isinstance(type_, TensorType) and root in variables_in(type_)
