"""The heap of a run of the virtual machine: storage, tensors, tuples, constructed values, closures, cells.

An object lives as long as something refers to it: a register of a function that has not returned, another
object, or the caller of the program. The machine leaves reference counting to Python; a recording counts for
itself, so that it can say at which instruction an object was freed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

from ...ir.show import short_dtype, show_shape
from ..values import Closure, ConstructorValue, RefValue, Value

Reference = int | str | None  # an object by its number, a value without memory of its own as text, or nothing
Change = tuple[Reference, ...]  # see `record.Step`

MAX_PARTS_AT_ONCE = 1_000  # objects of one argument; the rest of a longer list is recorded when it is read


class HeapKind(IntEnum):
    """The kinds of heap objects."""

    STORAGE = 0
    TENSOR = 1
    TUPLE = 2
    DATA = 3
    CLOSURE = 4
    CELL = 5


@dataclass(slots=True)
class HeapObject:
    """An object of a recorded run. `parts` are the objects that it refers to: its fields, the values that a
    closure captured, the current content of a cell, the storage of a tensor. `storage` is that storage's
    number, -1 for a tensor in memory of its own; `size` is in bytes, of storage and tensors. `made`, `last`
    and `freed` are steps: the one that creates it, the last that uses it, and the one that drops the last
    reference to it (-1: it is referenced to the end). `given`: it came with the arguments.
    """

    kind: HeapKind
    label: str
    made: int
    parts: list[Reference] = field(default_factory=list)
    text: str = ""
    size: int = 0
    storage: int = -1
    given: bool = False
    wrote: int = -1  # of a cell: the last step that wrote it
    last: int = -1
    freed: int = -1
    holders: int = 0


class Heap:
    """The objects of a run by number. `text` prints a value."""

    def __init__(self, text: Callable[[Value], str]) -> None:
        self.text = text
        self.all: list[HeapObject] = []
        self.known: dict[int, int] = {}  # by identity: values from outside, which `kept` keeps alive
        self.kept: list[Value] = []

    def add(self, thing: HeapObject, changes: list[Change]) -> int:
        """Add a new object, which refers to its parts; return its number."""
        number = len(self.all)
        self.all.append(thing)
        thing.last = thing.made
        for part in thing.parts:
            self.hold(part)
        changes.append(("o", number, thing.text))
        return number

    def hold(self, held: Reference) -> None:
        if type(held) is int:
            self.all[held].holders += 1

    def drop(self, held: Reference, step: int, changes: list[Change]) -> None:
        """Decrement a reference count; free an object whose count is 0, and what only it referred to."""
        pending = [held]
        while pending:
            number = pending.pop()
            if type(number) is not int:
                continue
            current = self.all[number]
            current.holders -= 1
            if current.holders == 0 and not current.given:
                current.freed = step
                changes.append(("d", number))
                pending += current.parts

    def use(self, held: Reference, step: int) -> None:
        """Record that a step reads an object; a tensor's storage is used with it."""
        while type(held) is int:
            current = self.all[held]
            current.last = max(current.last, step)
            held = current.storage if current.storage >= 0 else None

    # -- values from outside

    def adopt(self, value: Value, step: int, changes: list[Change], argument: bool = False) -> Reference:
        """Add a value that no instruction created: an argument, or the result of a function from outside."""
        plain = self._plain(value)
        if plain is not None:
            return plain
        pending, new = [value], list[tuple[int, Value]]()
        for inner in pending:  # breadth first: the list grows during the iteration
            if id(inner) in self.known or self._plain(inner) is not None:
                continue
            if len(new) >= MAX_PARTS_AT_ONCE:
                break
            number = self.known[id(inner)] = self.add(self._object_of(inner, step, argument), changes)
            self.kept.append(inner)
            new.append((number, inner))
            pending.extend(_inside(inner))
        for number, inner in new:
            current = self.all[number]
            current.parts = [self._reference(part) for part in _inside(inner)]
            for part in current.parts:
                self.hold(part)
        return self.known.get(id(value))

    def _reference(self, value: Value) -> Reference:
        plain = self._plain(value)
        return plain if plain is not None else self.known.get(id(value))

    def _plain(self, value: Value) -> str | None:
        """Return the text of a value that occupies no memory worth showing; None for others."""
        if hasattr(value, "dtype") or isinstance(value, RefValue):
            return None
        return None if _inside(value) else self.text(value)

    def _object_of(self, value: Value, step: int, argument: bool) -> HeapObject:
        text = self.text(value)
        if hasattr(value, "dtype"):
            return HeapObject(
                HeapKind.TENSOR, tensor_label(value), step, [], text, int(value.nbytes), given=argument
            )
        kind = (
            HeapKind.DATA if isinstance(value, ConstructorValue)
            else HeapKind.CELL if isinstance(value, RefValue)
            else HeapKind.CLOSURE if isinstance(value, Closure)
            else HeapKind.TUPLE
        )  # fmt: skip
        if kind is HeapKind.CELL:
            text = self.text(value.value)
        return HeapObject(kind, label_of(value, self.text), step, [], text, given=argument)


def _inside(value: Value) -> tuple[Value, ...]:
    """Return the values that a value contains."""
    if isinstance(value, ConstructorValue):
        return value.fields
    if isinstance(value, tuple):
        return value
    if isinstance(value, RefValue):
        return (value.value,)
    return tuple(value.captured) if isinstance(value, Closure) else ()


def tensor_label(value: Value) -> str:
    """`(2, 3) f32`."""
    return f"{show_shape(value.shape)} {short_dtype(str(value.dtype))}"


def label_of(value: Value, text: Callable[[Value], str]) -> str:
    """Return a short label for an object that is not a tensor."""
    if isinstance(value, ConstructorValue):
        return str(value.constructor.name_hint)
    if isinstance(value, tuple):
        return f"({',' * max(1, len(value) - 1)})"
    return "ref" if isinstance(value, RefValue) else text(value)
