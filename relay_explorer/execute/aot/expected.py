"""Write the types of values from outside as data in C. The interface checks each value against its type
before it enters the program, so that a wrong argument is an error and not a crash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...ir.adt import TypeData
from ...ir.substitute import substitute_type
from ...ir.types import FuncType, GlobalTypeVar, RefType, TensorType, TupleType, Type, TypeCall
from .names import Naming, comment, dtype_parts

_ANY = "any"  # a type that C cannot check: a type variable
MAX_INSTANCES = 16  # of a data type, by arguments: a type may contain itself with ever larger ones


class Expectations:
    """Defines a C constant for each expected type, and names it."""

    def __init__(self, names: Naming, types: Sequence[TypeData]) -> None:
        self.names = names
        self.declared = {data.header.name_hint: data for data in types}
        self.instances: Counter[str] = Counter()
        self.tables = 0
        self.lines: list[str] = []
        self.known: dict[Type, str] = {}
        self.ranges: dict[str, tuple[int, int]] = {}
        for (header, _), tag in names.tags.items():
            first, last = self.ranges.get(header, (tag, tag))
            self.ranges[header] = min(first, tag), max(last, tag)

    def name(self, type_: Type | None) -> str:
        """Return the name of the C constant for a type. Tuple types nest only a few levels."""
        if type_ is None:
            return _ANY
        if type_ in self.known:
            return self.known[type_]
        if isinstance(type_, TypeCall) and self._range(type_) is not None:
            # Declare the constant first, because the type may contain itself.
            self.known[type_] = f"t{len(self.known)}"
            self.lines.append(f"static const Expected {self.known[type_]};")
        body = self._body(type_)
        if body is None:
            return _ANY
        name = self.known.setdefault(type_, f"t{len(self.known)}")
        text = comment(str(type_)).replace("\\", "/").replace('"', "'")
        self.lines.append(f'static const Expected {name} = {{"{text}", {body}}};')
        return name

    def table(self, called: str, types: Sequence[Type | None]) -> str:
        """Define the array `called` of the expected types of several values."""
        names = ", ".join([f"&{self.name(type_)}" for type_ in types])
        return f"static const Expected *const {called}[] = {{{names or 'NULL'}}};"

    def _body(self, type_: Type) -> str | None:
        match type_:
            case TensorType():
                code, bits = dtype_parts(type_.dtype)
                sizes = tuple([size if isinstance(size, int) else -1 for size in type_.shape])
                shape = self.names.shape(sizes)
                return f"TENSOR, {{{code}, {bits}, 1}}, {len(sizes)}, {shape}, 0, 0, 0, NULL, NULL"
            case TupleType():
                return self._whole("FIELDS", len(type_.fields), self._parts(type_.fields))
            case FuncType(type_params=()):
                parts = self._parts([*type_.arg_types, type_.ret_type])
                return self._whole("CLOSURE", len(type_.arg_types), parts)
            case RefType():
                return self._whole("CELL", 1, self._parts([type_.value]))
            case GlobalTypeVar() | TypeCall() if (tags := self._range(type_)) is not None:
                by_constructor = self._by_constructor(type_) if isinstance(type_, TypeCall) else "NULL"
                return self._whole("FIELDS", 0, "NULL", tags, by_constructor)
        return None

    def _whole(
        self, kind: str, count: int, parts: str, tags: tuple[int, int] = (0, 0), by_constructor: str = "NULL"
    ) -> str:
        """Write the initializer for the expectation of anything but a tensor."""
        return f"{kind}, {{0, 0, 0}}, 0, NULL, {tags[0]}, {tags[1]}, {count}, {parts}, {by_constructor}"

    def _range(self, type_: Type) -> tuple[int, int] | None:
        """Return the tags of a data type's first and last constructors."""
        head = type_.func if isinstance(type_, TypeCall) else type_
        return self.ranges.get(head.name_hint) if isinstance(head, GlobalTypeVar) else None

    def _parts(self, types: Sequence[Type | None]) -> str:
        """Define the array of the expected types of a value's parts, and return its name."""
        self.tables += 1
        called = f"parts{self.tables}"
        self.lines.append(self.table(called, types))
        return called

    def _by_constructor(self, type_: TypeCall) -> str:
        """Define the array, indexed by constructor, of the expected field types of a data type with
        arguments, and return its name: a constructor alone does not determine what its type variables stand
        for.
        """
        assert isinstance(type_.func, GlobalTypeVar)
        if all(self.name(arg) == _ANY for arg in type_.args):
            return "NULL"
        data = self.declared[type_.func.name_hint]
        self.instances[data.header.name_hint] += 1
        if self.instances[data.header.name_hint] > MAX_INSTANCES:
            return "NULL"
        substitution = dict(zip(data.type_vars, type_.args))
        rows = [
            self._parts([substitute_type(t, substitution) for t in constructor.inputs])
            for constructor in data.constructors
        ]
        self.tables += 1
        called = f"made{self.tables}"
        self.lines.append(f"static const Expected *const *const {called}[] = {{{', '.join(rows)}}};")
        return called
