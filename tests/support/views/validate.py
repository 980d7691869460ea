"""Hold a view's JSON to the contract that its dataclasses declare: is it whole, and does every index point
somewhere? The front end does the same while it decodes (`frontend/src/core/decode.js`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from relay_explorer.views.format import NAME, VERSION, Row
from relay_explorer.views.schema import Field, Index, Record, Type, list_of

Json = Any


class _DamageError(Exception):
    """A value that does not fit; the path to it is the validator's."""


@dataclass
class _Scope:
    """A record that is being validated: how many there are of what its fields hold, and its own place."""

    record: Record | None
    wire: dict[str, Json]
    place: int
    outer: _Scope | None

    def size(self, name: str) -> int | None:
        if self.record is None:
            return len(self.wire[name]) if name in self.wire else None
        for part in self.record.fields:
            if part.name == name:
                return _size(part.type, self.wire.get(name))
        return None


def _size(type_: Type, value: Json) -> int | None:
    if type_.kind == "integer" and type_.index is None and is_integer(value):
        return int(value)
    if not isinstance(value, list) or (type_.of is not None and type_.of.index is not None):
        return None
    width = type_.of.record.width if type_.flat and type_.of is not None and type_.of.record else 1
    return len(value) // width


def is_integer(value: Json) -> bool:
    """Whether JSON writes it as a whole number; a size may be an integer that knows its type."""
    return isinstance(value, int) and not isinstance(value, bool)


def problem(view: Json, record: Record) -> str | None:
    """Return the first fault of a view that `record` describes, with its place; None if there is none."""
    if not isinstance(view, dict) or view.get("format") != NAME or view.get("version") != VERSION:
        return f"not a view of {NAME}, version {VERSION}"
    strings, rows = view.get("strings"), (view.get("program") or {}).get("rows")
    if not isinstance(strings, list) or not all(type(text) is str for text in strings):
        return "strings: must be texts"
    if not isinstance(rows, list):
        return "program: has no rows"
    validator = _Validator(strings)
    root = _Scope(None, {"rows": rows}, -1, None)
    try:
        validator.at("rows", lambda: validator.value(list_of(Row), rows, root, -1))
        validator.record(record, view, root, -1)
    except _DamageError as damage:
        return f"{validator.where()}: {damage}"
    return None


@dataclass
class _Validator:
    strings: list[str]
    path: list[str | int] = field(default_factory=list)

    def where(self) -> str:
        parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path]
        return "".join(parts).lstrip(".") or "the view"

    def at(self, part: str | int, validate: Callable[[], None]) -> None:
        self.path.append(part)
        validate()
        self.path.pop()

    def need(self, holds: object, what: str) -> None:
        if not holds:
            raise _DamageError(what)

    def text(self, value: Json) -> None:
        self.need(is_integer(value) and 0 <= value < len(self.strings), f"{value!r} is not a text")

    def sentence(self, say: list[int]) -> None:
        """The template has a place for every argument that it asks for."""
        if not say:
            return
        template, *arguments = (self.strings[part] for part in say)
        try:
            template.format(*arguments)
        except (IndexError, KeyError, ValueError) as problem:
            self.need(False, f"{template!r} does not fit its arguments: {problem}")

    def index(self, value: Json, index: Index, scope: _Scope, place: int) -> None:
        first = {"later": scope.place + 1, "later item": place + 1}.get(index.order, 0)
        end = scope.place if index.order == "earlier" else self.limit(index.of, scope)
        fits = is_integer(value) and (first <= value < end or (index.none and value == -1))
        self.need(fits, f"{value!r} is not an index into {end} {index.of}")

    def limit(self, of: str, scope: _Scope) -> int:
        if of == "strings":
            return len(self.strings)
        outer: _Scope | None = scope
        while outer is not None:
            size = outer.size(of)
            if size is not None:
                return size
            outer = outer.outer
        raise _DamageError(f"there are no {of}")

    def value(self, type_: Type, value: Json, scope: _Scope, place: int) -> None:
        match type_.kind:
            case "integer" if type_.index is not None:
                self.index(value, type_.index, scope, place)
            case "integer":
                fits = is_integer(value) and (type_.least is None or value >= type_.least)
                self.need(fits, f"{value!r} is not a number that is at least {type_.least}")
            case "number":
                self.need(isinstance(value, (int, float)), f"{value!r} is not a number")
            case "text":
                self.text(value)
            case "word":
                self.need(
                    isinstance(value, str) and value in (type_.words or (value,)),
                    f"{value!r} is none of the {len(type_.words)}",
                )
            case "flag":
                self.need(value in (0, 1), f"{value!r} is neither 0 nor 1")
            case "enum":
                assert type_.enum is not None
                self.need(
                    is_integer(value) and 0 <= value < len(type_.enum),
                    f"{value!r} is none of the {len(type_.enum)}",
                )
            case "say":
                self.need(isinstance(value, list) and (value or type_.empty), "an empty sentence")
                for part in value:
                    self.text(part)
                self.sentence(value)
            case "entity":
                assert type_.index is not None
                self.need(is_integer(value), f"{value!r} is not a value")
                if value < 0:
                    self.text(-1 - value)
                else:
                    self.index(value, type_.index, scope, place)
            case _:
                self.compound(type_, value, scope, place)

    def compound(self, type_: Type, value: Json, scope: _Scope, place: int) -> None:
        match type_.kind:
            case "optional":
                assert type_.of is not None
                if value is not None:
                    self.value(type_.of, value, scope, place)
            case "map":
                assert type_.of is not None
                self.need(isinstance(value, dict), "is not an object")
                for part in value.values():
                    self.value(type_.of, part, scope, place)
            case "record":
                assert type_.record is not None
                self.record(type_.record, value, scope, place)
            case "union":
                member = next((m for m in type_.members if value and m.tag == value[0]), None)
                self.need(member is not None, f"unknown change {value!r}")
                assert member is not None
                self.record(member, value, scope, place)
            case "list":
                self.elements(type_, value, scope)

    def elements(self, type_: Type, value: Json, scope: _Scope) -> None:
        assert type_.of is not None
        self.need(isinstance(value, list), "is not a list")
        parts = value
        if type_.flat and type_.of.record is not None:
            width = type_.of.record.width
            self.need(len(value) % width == 0, f"its numbers must come in groups of {width}")
            parts = [value[at : at + width] for at in range(0, len(value), width)]
        for place, part in enumerate(parts):
            self.path.append(place)
            self.value(type_.of, part, scope, place)
            self.path.pop()
        if type_.size is not None:
            self.need(len(parts) >= type_.size.least, f"has {len(parts)} of {type_.size.least}")
            if type_.size.of:
                expected = self.limit(type_.size.of, scope)
                self.need(len(parts) == expected, f"has {len(parts)}, for {expected} {type_.size.of}")

    def record(self, record: Record, value: Json, outer: _Scope, place: int) -> None:
        wire = self.named(record, value) if record.is_object else self.listed(record, value)
        scope = _Scope(record, wire, place if place >= 0 else outer.place, outer)
        for part in record.fields:
            if part.key.omitted and wire[part.name] == part.default:
                continue
            self.path.append(part.name)
            self.value(part.type, wire[part.name], scope, -1)
            self.path.pop()

    def listed(self, record: Record, value: Json) -> dict[str, Json]:
        self.need(isinstance(value, list), "is not a list")
        names = [part.name for part in record.fields]
        if record.fields and record.fields[-1].type.spread:
            heads = len(names) - 1
            value = [*value[:heads], value[heads:]]
        if len(value) == len(names) - 1 and record.fields[-1].key.omitted:
            value = [*value, record.fields[-1].default]
        self.need(len(value) == len(names), f"must have {len(names)} parts: {', '.join(names)}")
        return dict(zip(names, value, strict=True))

    def named(self, record: Record, value: Json) -> dict[str, Json]:
        self.need(isinstance(value, dict), "is not an object")
        wire: dict[str, Json] = {}
        spans: dict[str, int] = {}
        for part in record.fields:
            wire[part.name] = self.member(part, value, spans)
        return wire

    def member(self, part: Field, value: dict[str, Json], spans: dict[str, int]) -> Json:
        key = part.key
        if key.span:
            at = spans[key.span] = spans.get(key.span, -1) + 1
            return value[key.span][at]
        holder = value.get(key.inside, {}) if key.inside else value
        self.need(part.wire in holder or key.omitted, f"has no {part.wire}")
        return holder.get(part.wire, part.default)
