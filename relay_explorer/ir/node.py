"""Immutable nodes: the base of expressions, types, patterns and clauses.

A node accepts assignments only while its constructor runs. `Call(op, args)` makes an instance of a private
subclass of `Call` that has no guard, runs `__init__` on it, and then turns it into a `Call`. So `__init__`
assigns its fields as any other class does, and costs less than `object.__setattr__` for each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar
from typing import Any as Anything

N = TypeVar("N", bound="Node")


class NodeMeta(type):
    """The class of node classes: constructs an instance unlocked, then locks it."""

    _fields: frozenset[str]  # what cannot be assigned: the slots of the class and of its bases
    _unlocked: NodeMeta  # the subclass whose instances accept assignments

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Anything]) -> None:
        super().__init__(name, bases, namespace)
        slots = namespace.get("__slots__", ())
        cls._fields = frozenset(slots).union(*(getattr(base, "_fields", ()) for base in bases))
        cls._unlocked = cls if "__setattr__" in namespace else type(cls)(name, (cls,), dict(_UNLOCKED))

    if not TYPE_CHECKING:  # a type checker reads a constructor's signature from `__init__`

        def __call__(cls, *args: Anything, **kwargs: Anything) -> Anything:
            node = _new(cls._unlocked)
            node.__init__(*args, **kwargs)
            node.__class__ = cls
            return node


_new = object.__new__
# Both methods share one slot of the type: with these it holds Python's own function, which is fast.
_UNLOCKED = {"__slots__": (), "__setattr__": object.__setattr__, "__delattr__": object.__delattr__}


class Node(metaclass=NodeMeta):
    """A part of a program. Its fields, which are its slots, cannot be assigned once it is constructed."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        if name in type(self)._fields:
            raise AttributeError(_refusal(self, name))
        object.__setattr__(self, name, value)  # an attribute of a reader's own subclass

    def __delattr__(self, name: str) -> None:
        if name in type(self)._fields:
            raise AttributeError(_refusal(self, name))
        object.__delattr__(self, name)

    def __setstate__(self, state: Anything) -> None:
        """Set the fields of a copy, or of a node that was pickled."""
        for part in state if isinstance(state, tuple) else (state,):
            for name, value in (part or {}).items():
                object.__setattr__(self, name, value)


def _refusal(node: Node, name: str) -> str:
    kind = type(node).__name__
    if name in ("_checked_type", "origin", "span"):
        setter = f"set_{name.lstrip('_')}"
        return (
            f"a {kind} is immutable: `{setter}` of relay_explorer.ir annotates one that you have just built"
        )
    return (
        f"a {kind} is immutable, so its `{name}` cannot be assigned: build a new {kind}, "
        f"or use `with_fields(node, {name}=…)` of relay_explorer.ir"
    )


def with_fields(node: N, **fields: object) -> N:
    """Build a node like `node` but for some of its fields; sequences become tuples.

    An expression that is built so keeps its span, has `node` as its origin, and has no checked type.
    """
    cls = type(node)
    own = cls._fields - {"__weakref__"}
    unknown = sorted(fields.keys() - own)
    if unknown:
        known = ", ".join(sorted(name for name in own if not name.startswith("_")))
        raise TypeError(f"a {cls.__name__} has no field `{unknown[0]}`; it has {known}")
    new = _new(cls)
    for name in own:
        value = fields.get(name, getattr(node, name))
        if name in fields and isinstance(getattr(node, name), tuple):
            value = tuple(fields[name])  # type: ignore[call-overload]  # a sequence, or a clear TypeError
        object.__setattr__(new, name, value)
    if "origin" in own:
        for name, value in (("origin", (node,)), ("_checked_type", None)):
            if name not in fields:
                object.__setattr__(new, name, value)
    return new
