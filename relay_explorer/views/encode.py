"""Serialize a view to plain lists, dictionaries, strings and numbers, as its dataclasses declare."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any

from .schema import Field, Record, Type

Json = Any
Write = Callable[[Any, "Interner"], Json]


class Interner:
    """A table of strings: each is stored once, and written as its index."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self._indices: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        index = self._indices.get(text)
        if index is None:
            index = self._indices[text] = len(self.strings)
            # A lone surrogate is not a character, so it cannot be encoded.
            self.strings.append(text if text.isascii() else text.encode("utf-8", "replace").decode())
        return index

    def sentence(self, say: tuple[str, ...]) -> list[int]:
        return [self(part) for part in say]


@cache
def writer(record: Record) -> Write:
    """Return the function that writes a record, as a list of its fields or as an object."""
    if record.is_object:
        return _object_writer(record)
    if record.fields and record.fields[-1].type.spread:
        return _spread_writer(record)
    if any(field.key.span for field in record.fields):
        raise TypeError(f"{record.name}: only an object's fields are written in spans")
    writes = [type_writer(field.type) for field in record.fields]
    last = record.fields[-1] if record.fields else None

    def write(value: Any, intern: Interner) -> Json:
        return [w(part, intern) for w, part in zip(writes, value)]

    def write_without_default(value: Any, intern: Interner) -> Json:
        assert last is not None
        return write(value[:-1] if value[-1] == last.default else value, intern)

    return write_without_default if last is not None and last.key.omitted else write


def _spread_writer(record: Record) -> Write:
    """Return the writer of a union's member whose last field is unpacked: `["m", 3, 4]`."""
    heads = [type_writer(field.type) for field in record.fields[:-1]]
    tail = type_writer(record.fields[-1].type)

    def write(value: Any, intern: Interner) -> Json:
        return [*(w(part, intern) for w, part in zip(heads, value)), *tail(value[len(heads)], intern)]

    return write


def _object_writer(record: Record) -> Write:
    steps = [(field, attrgetter(field.name), type_writer(field.type)) for field in record.fields]

    def write(value: Any, intern: Interner) -> Json:
        result: dict[str, Json] = {}
        for field, get, w in steps:
            part = get(value)
            if field.key.omitted and part == field.default:
                continue
            _place(result, field, w(part, intern))
        return result

    return write


def _place(result: dict[str, Json], field: Field, part: Json) -> None:
    key = field.key
    if key.span:
        result.setdefault(key.span, []).append(part)
    elif key.inside:
        result.setdefault(key.inside, {})[field.wire] = part
    else:
        result[field.wire] = part


@cache
def type_writer(type_: Type) -> Write:
    """Return the function that writes a value of this type."""
    match type_.kind:
        case "text":
            return lambda value, intern: intern(value)
        case "say":
            return lambda value, intern: [intern(part) for part in value]
        case "flag" | "enum":
            return lambda value, intern: int(value)
        case "entity":
            return lambda value, intern: value if isinstance(value, int) else -1 - intern(value)
        case "optional":
            assert type_.of is not None
            present = type_writer(type_.of)
            return lambda value, intern: None if value is None else present(value, intern)
        case "map":
            return lambda value, intern: dict(value)
        case "view":
            return lambda value, intern: value.to_dict()
        case "record":
            assert type_.record is not None
            return writer(type_.record)
        case "union":
            return _union_writer(type_)
        case "list":
            return _list_writer(type_)
    return lambda value, intern: value


def _union_writer(type_: Type) -> Write:
    by_tag = {member.tag: writer(member) for member in type_.members}
    return lambda value, intern: by_tag[value[0]](value, intern)


def _list_writer(type_: Type) -> Write:
    assert type_.of is not None
    element = type_writer(type_.of)
    if type_.flat and type_.of.kind == "record":
        return lambda value, intern: [part for one in value for part in element(one, intern)]
    if type_.of.kind in ("integer", "word", "number"):
        return lambda value, intern: list(value)
    return lambda value, intern: [element(one, intern) for one in value]
