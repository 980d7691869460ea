"""Describe a view's data by its dataclasses: the one declaration from which the serializer, the validators of
both languages, the JSON schema and the front end's types are derived.

A field's type says how it is written. `str` is a text, interned in the view's table of strings; an enum or a
`bool` is a number; a `NamedTuple` is a list of its fields, or, decorated with `as_object`, an object that
names them. `Annotated` adds what a Python type cannot say: what an index points into (`Index`), that a number
is not negative (`Count`), that a list of records is written without inner brackets (`Flat`).
"""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from enum import IntEnum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from ..ir.lazy_dataclass import dataclass

C = TypeVar("C", bound=type)


@dataclass(frozen=True)
class Index:
    """An index into `of`: "strings", "rows", or a field of this record or of the nearest one around it that
    has it, which is a number or a list, but not a list of indices. With `none`, -1 stands for none. `order`
    is "earlier" or "later" where it must come before or after the record that holds it, "later item" where it
    must come after its own place in its list.
    """

    of: str
    none: bool = False
    order: Literal["", "earlier", "later", "later item"] = ""


@dataclass(frozen=True)
class Count:
    """A whole number that is at least `least`."""

    least: int = 0


@dataclass(frozen=True)
class OneOf:
    """One of an enum's numbers, or of some words that are written as they are."""

    values: type[IntEnum] | tuple[str, ...]


@dataclass(frozen=True)
class Plain:
    """A text that is written as it is, instead of being interned."""


@dataclass(frozen=True)
class Say:
    """A sentence: a template, then its arguments. With `empty` there may be none."""

    empty: bool = False


@dataclass(frozen=True)
class Entity:
    """An index into `of`, or a text; on the wire a text is -1 minus its index into the strings."""

    of: str


@dataclass(frozen=True)
class Flat:
    """A list of records whose fields follow one another without inner brackets."""


@dataclass(frozen=True)
class Spread:
    """A record's last field, a list whose elements follow the fields before it without brackets."""


@dataclass(frozen=True)
class Size:
    """A list that is as long as the list `of`; with `least`, one of at least so many elements."""

    of: str = ""
    least: int = 0


@dataclass(frozen=True)
class Wire:
    """A field's name on the wire, if it differs, and the object (`inside`) or list (`span`) around it. A
    field that may be `omitted` is not written where it equals its default; of a list, only the last one may.
    """

    name: str = ""
    inside: str = ""
    span: str = ""
    omitted: bool = False


# -- the types that most fields have

Text = str
Sentence = Annotated[tuple[str, ...], Say()]
SentenceOrNone = Annotated[tuple[str, ...], Say(empty=True)]
RowIndex = Annotated[int, Index("rows")]
RowOrNone = Annotated[int, Index("rows", none=True)]
Amount = Annotated[int, Count()]


_objects: set[type] = set()


def as_object(cls: C) -> C:
    """Write a record as an object that names its fields, instead of a list."""
    _objects.add(cls)
    return cls


# -- the description as data, for the serializer, the validators and the generators


@dataclass(frozen=True)
class Type:
    """How one value is written. `kind` is "integer", "number", "text" (interned), "word" (as it is), "flag",
    "enum", "say", "entity", "list", "record", "union", "optional", "map" or "view".
    """

    kind: str
    of: Type | None = None  # of a list, an optional or a map
    record: Record | None = None
    members: tuple[Record, ...] = ()  # of a union, told apart by their tags
    enum: type[IntEnum] | None = None
    words: tuple[str, ...] = ()
    index: Index | None = None
    least: int | None = None
    flat: bool = False
    spread: bool = False
    size: Size | None = None
    empty: bool = False
    view: str = ""


@dataclass(frozen=True)
class Field:
    """A field: its name in Python and in the front end, its type, and where it stands on the wire."""

    name: str
    type: Type
    key: Wire
    default: object = None

    @property
    def wire(self) -> str:
        return self.key.name or self.name


@dataclass(frozen=True, eq=False)
class Record:
    """A `NamedTuple` or a view: its fields, in order. `tag` tells the members of a union apart; it is the
    first element of their lists.
    """

    name: str
    cls: type
    fields: tuple[Field, ...]
    is_object: bool
    tag: str = ""

    @property
    def width(self) -> int:
        return len(self.fields)


@cache
def describe(cls: type) -> Record:
    """Describe a view's class, or a record's."""
    hints = typing.get_type_hints(cls, include_extras=True)
    if is_dataclass(cls):
        declared = [(f.name, f.default) for f in dataclass_fields(cls)]
        declared = [(name, default) for name, default in declared if name not in ("title", "summary", "rows")]
    else:
        defaults: dict[str, object] = cls._field_defaults  # type: ignore[attr-defined]  # a NamedTuple
        declared = [(name, defaults.get(name)) for name in cls._fields]  # type: ignore[attr-defined]
    tag = ""
    fields = []
    for name, default in declared:
        hint = hints[name]
        if get_origin(hint) is Literal:
            (tag,) = get_args(hint)
        kind, key = _field_type(hint)
        fields.append(Field(name, kind, key, default))
    return Record(cls.__name__, cls, tuple(fields), is_dataclass(cls) or cls in _objects, tag)


def list_of(cls: type) -> Type:
    """Return the type of a list of records."""
    return Type("list", of=_class_type(cls))


def _field_type(hint: Any) -> tuple[Type, Wire]:
    key = Wire()
    if get_origin(hint) is Annotated:
        inner, *notes = get_args(hint)
        keys = [note for note in notes if isinstance(note, Wire)]
        if keys:
            (key,) = keys
            rest = tuple(note for note in notes if not isinstance(note, Wire))
            hint = Annotated[(inner, *rest)] if rest else inner
    return _type(hint), key


def _type(hint: Any) -> Type:
    notes: list[Any] = []
    while get_origin(hint) is Annotated:
        hint, *more = get_args(hint)
        notes += more
    return _plain_type(hint, notes)


def _plain_type(hint: Any, notes: list[Any]) -> Type:
    for note in notes:
        match note:
            case Say(empty):
                return Type("say", empty=empty)
            case Entity(of):
                return Type("entity", index=Index(of))
            case OneOf(values) if isinstance(values, tuple):
                return Type("word", words=values)
            case OneOf(values):
                return Type("enum", enum=values)  # type: ignore[arg-type]  # no tuple: an enum
            case Plain():
                return Type("word")
            case Index():
                return Type("integer", index=note)
            case Count(least):
                return Type("integer", least=least)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        present = [a for a in arguments if a is not NoneType]
        if len(present) < len(arguments):
            (only,) = present if len(present) == 1 else (Union[tuple(present)],)  # noqa: UP007
            return Type("optional", of=_type(only))
        return Type("union", members=tuple(describe(a) for a in present))
    if origin is tuple:
        element, dots = arguments
        assert dots is Ellipsis, f"{hint}: name the fields of a tuple by a NamedTuple"
        marks = {type(note): note for note in notes}
        flat, spread, size = Flat in marks, Spread in marks, marks.get(Size)
        return Type("list", of=_type(element), flat=flat, spread=spread, size=size)
    if origin is dict:
        return Type("map", of=_type(arguments[1]))
    if origin is Literal:
        return Type("word", words=arguments)
    return _class_type(hint)


def _class_type(cls: Any) -> Type:
    if cls is int:
        return Type("integer")
    if cls is float:
        return Type("number")
    if cls is str:
        return Type("text")
    if cls is bool:
        return Type("flag")
    if issubclass(cls, IntEnum):
        return Type("enum", enum=cls)
    if is_dataclass(cls):
        return Type("view", view=vars(cls)["kind"])
    return Type("record", record=describe(cls))


def records(root: Record) -> Iterator[Record]:
    """Yield a record and those within it, each once, the outer ones first."""
    seen: dict[int, Record] = {}
    pending = [root]
    while pending:
        record = pending.pop(0)
        if id(record) in seen:
            continue
        seen[id(record)] = record
        for field in record.fields:
            pending += _within(field.type)
    yield from seen.values()


def _within(type_: Type) -> list[Record]:
    inner = [] if type_.of is None else _within(type_.of)
    return [*inner, *([type_.record] if type_.record else []), *type_.members]
