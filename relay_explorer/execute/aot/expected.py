"""What the interface looks at before a value goes in: each type as data in C, so that a wrong argument is an
error and not a crash.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.types import FuncType, GlobalTypeVar, RefType, TensorType, TupleType, Type, TypeCall
from .names import Naming, comment, dtype_parts

_ANY = "any"  # what C cannot tell: a type variable


class Expectations:
    """Names a C constant for each type, and writes them."""

    def __init__(self, names: Naming) -> None:
        self.names = names
        self.lines: list[str] = []
        self.known: dict[Type, str] = {}
        self.ranges: dict[str, tuple[int, int]] = {}
        for (header, _), tag in names.tags.items():
            first, last = self.ranges.get(header, (tag, tag))
            self.ranges[header] = min(first, tag), max(last, tag)

    def name(self, type_: Type | None) -> str:
        """The constant for a type. Tuples in types nest a few levels."""
        if type_ is None:
            return _ANY
        if type_ in self.known:
            return self.known[type_]
        body = self._body(type_)
        if body is None:
            return _ANY
        name = self.known[type_] = f"t{len(self.known)}"
        text = comment(str(type_)).replace("\\", "/").replace('"', "'")
        self.lines.append(f'static const Expected {name} = {{"{text}", {body}}};')
        return name

    def table(self, called: str, types: Sequence[Type | None]) -> str:
        """An array of what the values of a list are to be; `called` is its name."""
        found = ", ".join([f"&{self.name(type_)}" for type_ in types])
        return f"static const Expected *const {called}[] = {{{found or 'NULL'}}};"

    def _body(self, type_: Type) -> str | None:
        match type_:
            case TensorType():
                code, bits = dtype_parts(type_.dtype)
                sizes = tuple([size if isinstance(size, int) else -1 for size in type_.shape])
                shape = self.names.shape(sizes)
                return f"TENSOR, {{{code}, {bits}, 1}}, {len(sizes)}, {shape}, 0, 0, 0, NULL"
            case TupleType():
                parts = f"t_parts{len(self.lines)}"
                line = self.table(parts, type_.fields)
                self.lines.append(line)
                return f"FIELDS, {{0, 0, 0}}, 0, NULL, 0, 0, {len(type_.fields)}, {parts}"
            case FuncType(type_params=()):
                parts = f"t_function{len(self.lines)}"
                line = self.table(parts, [*type_.arg_types, type_.ret_type])
                self.lines.append(line)
                return f"CLOSURE, {{0, 0, 0}}, 0, NULL, 0, 0, {len(type_.arg_types)}, {parts}"
            case RefType():
                return "CELL, {0, 0, 0}, 0, NULL, 0, 0, 0, NULL"
            case GlobalTypeVar() | TypeCall():
                head = type_.func if isinstance(type_, TypeCall) else type_
                if isinstance(head, GlobalTypeVar) and head.name_hint in self.ranges:
                    first, last = self.ranges[head.name_hint]
                    return f"FIELDS, {{0, 0, 0}}, 0, NULL, {first}, {last}, 0, NULL"
        return None
