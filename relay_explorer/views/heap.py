"""The heap of a recorded run: the objects by identity, and how long each is live.

Scalars, constructors without fields, the empty tuple and global functions have no identity here, so they are
written as texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from ..execute.record import Activation
from ..execute.values import Closure, ConstructorValue, RefValue, Value
from ..ir.adt import Constructor
from ..ir.types import GlobalTypeVar, Type, TypeCall
from ..ir.walk import type_children
from .evaluation.format import ObjectBox, ObjectKind, ObjectPart, Role
from .values import FunctionName, is_tensor, tensor_text, tensor_type, value_text

MAX_OBJECTS = 5_000
MAX_PARTS_AT_ONCE = 1_000  # parts of one value; the rest of a long list appears when it is reached
NOT_RECORDED = "…"


class Part(NamedTuple):
    """A part of an object: its name, its value and its role."""

    name: str
    value: Value
    role: Role = Role.CONTENT


class Thing(NamedTuple):
    """An object: the value, the row that made it (-1: none), and the step in which it appears."""

    value: Value
    row: int
    step: int


class Heap:
    """The objects of a run, numbered as they appear. `held` is the first content of each cell. With
    `scalars`, scalars are objects too.
    """

    def __init__(
        self,
        function_name: FunctionName,
        captured_names: Callable[[Closure], list[str]],
        scalars: bool = False,
    ) -> None:
        self.scalars = scalars
        self.function_name = function_name
        self.captured_names = captured_names
        self.things: list[Thing] = []
        self.held: dict[int, Value] = {}
        self.writes: dict[int, list[tuple[int, Value]]] = {}  # by cell: steps, and its content from then on
        self._numbers: dict[int, int] = {}

    def add(self, value: Value, step: int, row: int) -> Iterator[int]:
        """Assign numbers to `value` and its parts, unless they have numbers; yield the new ones."""
        pending = [value]
        for member in pending:  # grows during the iteration: the nearest parts first
            if not self.is_object(member) or id(member) in self._numbers:
                continue
            if len(self.things) >= MAX_OBJECTS or len(pending) > MAX_PARTS_AT_ONCE:
                return
            number = self._numbers[id(member)] = len(self.things)
            self.things.append(Thing(member, row, step))
            if isinstance(member, RefValue):
                self.held.setdefault(id(member), member.value)
            pending.extend(part.value for part in self.parts(member))
            yield number

    def is_object(self, value: Value) -> bool:
        """Whether a value is stored as an object. There are only two Booleans, so they are not."""
        return has_identity(value) or (self.scalars and is_tensor(value) and value.dtype.kind != "b")

    def number(self, value: Value) -> int:
        """Return the number of a value's object, or -1."""
        return self._numbers.get(id(value), -1) if self.is_object(value) else -1

    def write(self, cell: RefValue, value: Value, step: int) -> None:
        """Record that the cell holds `value` from `step` on."""
        if (number := self.number(cell)) >= 0:
            self.writes.setdefault(number, []).append((step, value))

    def shown(self, value: Value) -> int | str:
        """Return the object's number, or the text of a value without one."""
        if not self.is_object(value):
            return value_text(value, self.function_name)
        number = self.number(value)
        return number if number >= 0 else NOT_RECORDED

    def text(self, value: Value, most: int) -> str:
        """Write a value in at most `most` characters: a tensor by its elements, or its type if they are too
        long.
        """
        if is_tensor(value) and value.ndim:
            text = tensor_text(value)
            return text if len(text) <= most else tensor_type(value)
        return value_text(value, self.function_name, most)

    def parts(self, value: Value) -> Iterable[Part]:
        """Return the parts of an object; for a cell, its first content."""
        if isinstance(value, ConstructorValue):
            roles = field_roles(value.constructor)
            return [Part(f".{k}", f, roles[k]) for k, f in enumerate(value.fields)]
        if isinstance(value, tuple):
            return [Part(f".{k}", f) for k, f in enumerate(value)]
        if isinstance(value, RefValue):
            return [Part("", self.held.get(id(value), value.value))]
        if isinstance(value, Closure):
            return [Part(n, v) for n, v in zip(self.captured_names(value), value.captured)]
        return []

    # -- lifetimes

    def last_steps(
        self, activations: Sequence[Activation], end: int, result: Value, whole: bool
    ) -> list[int]:
        """Return, for each object, the last step after which the rest of the run can still reach it; `end`,
        the number of steps, for objects that stay reachable. `whole` means that the recording has the run's
        end; otherwise objects that are live where it stops count as needed.
        """
        last = [thing.step for thing in self.things]

        def needs(value: Value, until: int) -> None:
            number = self.number(value)
            if number >= 0:
                last[number] = max(last[number], until)

        for activation in activations:
            alive = activation.last < 0 and not whole
            for slot, filled in activation.origin.items():
                needs(activation.frame[slot], end if alive else activation.used.get(slot, filled))
            for slot, _ in activation.code.constants:
                needs(activation.frame[slot], end)
        needs(result, end)
        self._spread(last)
        return last

    def _spread(self, last: list[int]) -> None:
        """Extend lifetimes: an object keeps its parts alive, so a part lives at least as long as its owner.
        Objects are processed from the longest lifetime to the shortest.
        """
        queue = [(-until, number) for number, until in enumerate(last)]
        heapify(queue)
        while queue:
            negative, number = heappop(queue)
            if -negative < last[number]:
                continue
            for value, until in self._holds(number, last[number]):
                part = self.number(value)
                if part >= 0 and last[part] < until:
                    last[part] = until
                    heappush(queue, (-until, part))

    def _holds(self, number: int, until: int) -> Iterator[tuple[Value, int]]:
        """Iterate over the values that an object refers to until the step `until`, and up to which step it
        refers to each: a cell refers to one value after another.
        """
        value = self.things[number].value
        changes = self.writes.get(number, [])
        for part in self.parts(value):
            yield part.value, min(until, changes[0][0]) if changes else until
        for (begins, held), after in zip(changes, [*changes[1:], None]):
            if begins <= until:
                yield held, until if after is None else min(until, after[0])


def has_identity(value: Value) -> bool:
    """Whether a value has identity: two equal ones can be told apart, and one can be shared."""
    if isinstance(value, ConstructorValue):
        return bool(value.fields)
    if isinstance(value, tuple):
        return bool(value)
    if isinstance(value, Closure):
        return value.code.parent is not None
    return isinstance(value, RefValue) or (is_tensor(value) and value.ndim > 0)


def kind_of(value: Value) -> ObjectKind:
    """Classify an object."""
    if isinstance(value, ConstructorValue):
        return ObjectKind.DATA
    if isinstance(value, tuple):
        return ObjectKind.TUPLE
    if isinstance(value, RefValue):
        return ObjectKind.CELL
    return ObjectKind.FUNCTION if isinstance(value, Closure) else ObjectKind.TENSOR


def field_roles(constructor: Constructor) -> list[Role]:
    """Return the role of each of a constructor's fields: a list continues in its one field of its own type, a
    tree branches into several, or into a list of them.
    """
    own = constructor.belong_to
    inside = [_is_of(type_, own) for type_ in constructor.inputs]
    role = Role.REST if sum(inside) == 1 else Role.SUBTREE
    return [
        role if itself else Role.SUBTREES if _is_bunch(type_, own) else Role.CONTENT
        for itself, type_ in zip(inside, constructor.inputs)
    ]


def _is_of(type_: Type, own: GlobalTypeVar) -> bool:
    return type_ == own or (isinstance(type_, TypeCall) and type_.func == own)


def _is_bunch(type_: Type, own: GlobalTypeVar) -> bool:
    """Return whether a type is another data type applied to this one: `List[Tree[A]]`."""
    return isinstance(type_, TypeCall) and any(_is_of(arg, own) for arg in type_children(type_)[1:])


def object_box(heap: Heap, number: int, last: int) -> ObjectBox:
    """Convert an object for the evaluation view. `last` is the last step in which it is alive."""
    thing = heap.things[number]
    value, kind = thing.value, kind_of(thing.value)
    text = tensor_text(value) if is_tensor(value) else value_text(value, heap.function_name)
    name = value.constructor.belong_to.name_hint if isinstance(value, ConstructorValue) else ""
    parts = tuple(
        [ObjectPart(part.name, heap.shown(part.value), int(part.role)) for part in heap.parts(value)]
    )
    size = int(value.nbytes) if kind is ObjectKind.TENSOR else 0
    return ObjectBox(int(kind), _label(heap, value), text, name, parts, thing.row, thing.step, last, size)


def _label(heap: Heap, value: Value) -> str:
    """Return the label of an object's box."""
    match kind_of(value):
        case ObjectKind.DATA:
            return str(value.constructor.name_hint)
        case ObjectKind.TUPLE:
            return f"({',' * max(1, len(value) - 1)})"
        case ObjectKind.CELL:
            return "ref"
        case ObjectKind.FUNCTION:
            return heap.function_name(value)
    return tensor_type(value)
