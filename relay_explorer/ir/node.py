"""Immutable nodes: the base of expressions, types, patterns and clauses.

A node accepts assignments only while its constructor runs. Each node class has a private subclass without the
guard; `unlock(self, self._unlocked)` changes a new instance's class to that subclass, so that `__init__`
assigns its fields as in any class, and `_lock(span)` at its end changes it back. Two changes of `__class__`
cost less than an `object.__setattr__` for each field. Reading a field and `isinstance` are not slowed down at
all, as they would be by properties or a metaclass. `Call.of` and `TensorType.of`, for inner loops, start with
an instance of the subclass and so change its class only once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar
from typing import Any as Anything

if TYPE_CHECKING:
    from .span import Span

N = TypeVar("N", bound="Node")

unlock: Callable[[Node, type], None] = object.__dict__["__class__"].__set__  # the setter of `__class__`
# Both methods share one slot of the C type: with these it holds Python's own function, which is fast.
_NO_GUARD = {"__slots__": (), "__setattr__": object.__setattr__, "__delattr__": object.__delattr__}


class Node:
    """A part of a program. Its fields, which are its slots, cannot be assigned after construction."""

    __slots__ = ()
    _fields: ClassVar[frozenset[str]] = frozenset()  # the fields that cannot be assigned
    _locked: ClassVar[type[Anything]]  # the class itself
    _unlocked: ClassVar[type[Anything]]  # its subclass whose instances accept assignments

    def __init_subclass__(cls) -> None:
        if "_locked" in cls.__dict__:
            return  # the subclass that is created below
        cls._locked = cls._unlocked = cls
        if "__setattr__" not in cls.__dict__:  # otherwise the class itself decides what can be assigned
            cls._fields = cls._fields.union(cls.__dict__.get("__slots__", ()))
            cls._unlocked = type(cls.__name__, (cls,), {**_NO_GUARD, "_locked": cls})

    def _unlock(self) -> None:
        """Accept assignments, until `_lock`."""
        unlock(self, self._unlocked)

    def _lock(self, span: Span | None) -> None:
        """Set the span, and reject assignments from then on."""
        self.span = span
        self.__class__ = self._locked

    def __setattr__(self, name: str, value: object) -> None:
        if name in type(self)._fields and hasattr(self, name):
            raise _refusal(self, name)
        object.__setattr__(self, name, value)  # a subclass, in its constructor or outside of the slots

    def __delattr__(self, name: str) -> None:
        if name in type(self)._fields:
            raise _refusal(self, name)
        object.__delattr__(self, name)

    def __deepcopy__(self, memo: object) -> Self:
        """Return the node itself: it is immutable, and the identity of an expression or a variable matters.
        A copy of a data structure, such as a graph, refers to the same program.
        """
        return self

    def __setstate__(self, state: Anything) -> None:
        """Set the fields of a node that is copied or unpickled."""
        for part in state if isinstance(state, tuple) else (state,):
            for name, value in (part or {}).items():
                object.__setattr__(self, name, value)


def _refusal(node: Node, name: str) -> AttributeError:
    """Return the error for an assignment: that of frozen dataclasses, with a hint on how to get a changed
    node.
    """
    from dataclasses import FrozenInstanceError  # imported late, since it imports many modules

    kind = type(node).__name__
    if name in ("_checked_type", "origin", "span"):
        return FrozenInstanceError(
            f"a {kind} is immutable: `set_{name.lstrip('_')}` of relay_explorer.ir annotates one that you "
            "have just built"
        )
    return FrozenInstanceError(
        f"a {kind} is immutable, so its `{name}` cannot be assigned: build a new {kind}, "
        f"or use `with_fields(node, {name}=…)` of relay_explorer.ir"
    )


def with_fields(node: N, **fields: object) -> N:
    """Build a copy of `node` with some fields changed.

    An expression built this way keeps its span and has `node` as its origin. Its checked type is unknown
    unless no field changes.
    """
    cls = type(node)
    code = cls.__init__.__code__
    parameters = code.co_varnames[1 : code.co_argcount]
    arguments = {name: getattr(node, name, None) for name in parameters}
    if "var" in fields and "variable" in arguments:  # a `let`: its constructor uses TVM's name
        fields["variable"] = fields.pop("var")
    if unknown := sorted(fields.keys() - arguments.keys()):
        field_names = ", ".join(f"`{name}`" for name in parameters)
        raise TypeError(f"a {cls.__name__} has no field `{unknown[0]}`; it has {field_names or 'none'}")
    new = cls(**{**arguments, **fields})
    if "origin" in cls._fields:
        object.__setattr__(new, "origin", (node,))
        if not fields:
            object.__setattr__(new, "_checked_type", node._checked_type)  # type: ignore[attr-defined]  # of an expression
    return new
