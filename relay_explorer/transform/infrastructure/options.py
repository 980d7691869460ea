"""Options of passes: check a value against the type of its field, and make it immutable.

A pass declares its options as typed fields of a frozen dataclass. `Pass.__post_init__` checks them here, so
that a wrong value is rejected at construction. `Annotated` types narrow a field further:

    level: Annotated[int, AtLeast(0)] = 1
    dtype: Annotated[str, Converted(str)] = "float16"
"""

from __future__ import annotations

import collections.abc
import operator
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, fields, is_dataclass
from typing import Annotated, Generic, Literal, TypeVar, Union
from typing import Any as Anything

from ...ir.errors import PassOptionError
from ...ir.lazy_dataclass import dataclass

K = TypeVar("K")
V = TypeVar("V", covariant=True)
_PLURAL = {"an integer": "integers", "a string": "strings", "a boolean": "booleans", "a number": "numbers"}


@dataclass(frozen=True)
class AtLeast:
    """Bound an integer option from below: `Annotated[int, AtLeast(1)]`."""

    least: int


@dataclass(frozen=True)
class Converted:
    """Convert an option before it is checked: `Annotated[str, Converted(str)]`."""

    function: Callable[[Anything], object]


class FrozenMapping(Mapping[K, V], Generic[K, V]):
    """An immutable dictionary: equal to a `dict` with the same items, and hashable if its values are."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[K, V]) -> None:
        self._items = dict(items)

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


class MismatchError(Exception):
    """A value that does not have the type of its option."""


def checked(step: object, hints: Mapping[str, Anything]) -> dict[str, object]:
    """Check the options of a pass against the types of their fields.

    Return those that must be replaced: lists become tuples, dictionaries become `FrozenMapping`. Raise a
    PassOptionError that names the pass, the option, the value and what is allowed, for a value of the wrong
    type.
    """
    replaced = {}
    for field in options(type(step)):
        value, hint = getattr(step, field.name), hints.get(field.name, Anything)
        try:
            result = conform(value, hint)
        except MismatchError as mismatch:
            reason = str(mismatch)
            raise refusal(type(step).__name__, field.name, value, reason or describe(hint)) from None
        if result is not value:
            replaced[field.name] = result
    return replaced


def refusal(name: str, option: str, value: object, allowed: str) -> PassOptionError:
    """Build the error for an option with a wrong value: `allowed` describes what it must be."""
    kind = "" if value is None else f" (type {type(value).__name__})"
    return PassOptionError(f"{name}: the option `{option}` must be {allowed}, not {value!r:.200}{kind}")


def options(cls: type) -> list[Field[Anything]]:
    """List the fields of a pass class that its constructor takes."""
    return [field for field in fields(cls) if field.init] if is_dataclass(cls) else []


def type_hints(cls: type) -> dict[str, Anything]:
    """Resolve the annotations of a class, once; return none if a name in them is not visible in its
    module.
    """
    if "_type_hints" not in cls.__dict__:
        try:
            hints = typing.get_type_hints(cls, include_extras=True)
        except (NameError, TypeError):
            hints = {}
        cls._type_hints = hints  # type: ignore[attr-defined]  # a cache that lives as long as the class
    hints_by_name: dict[str, Anything] = cls.__dict__["_type_hints"]
    return hints_by_name


def conform(value: Anything, hint: Anything) -> object:
    """Convert `value` to its immutable form for the type `hint`; raise MismatchError if it does not fit."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Anything:
        return value
    if origin is Annotated:
        return _narrowed(value, arguments[0], hint.__metadata__)
    if origin in (Union, types.UnionType):
        return _alternative(value, arguments)
    if origin is Literal:
        return _literal(value, arguments)
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis):
        _require(isinstance(value, tuple) and len(value) == len(arguments))
        return tuple(conform(item, each) for item, each in zip(value, arguments))
    if origin in (tuple, list, collections.abc.Sequence):
        _require(isinstance(value, Sequence) and not isinstance(value, (str, bytes)))
        result = tuple(conform(item, arguments[0]) for item in value)
        return value if type(value) is tuple and _same(value, result) else result
    if origin in (dict, collections.abc.Mapping):
        _require(isinstance(value, Mapping))
        return FrozenMapping({conform(k, arguments[0]): conform(v, arguments[1]) for k, v in value.items()})
    if origin is collections.abc.Callable:
        _require(callable(value))
        return value
    return _scalar(value, hint)


def _scalar(value: Anything, hint: Anything) -> object:
    if hint is bool and type(value) is int and value in (0, 1):  # a switch was an integer in TVM
        return bool(value)
    if hint is int and not isinstance(value, int) and hasattr(value, "__index__"):
        return operator.index(value)
    if hint is float and isinstance(value, int):
        return value
    _require(not isinstance(hint, type) or isinstance(value, hint))
    return value


def _narrowed(value: Anything, base: Anything, markers: tuple[object, ...]) -> object:
    for marker in markers:
        if isinstance(marker, Converted):
            value = marker.function(value)
    result = conform(value, base)
    for marker in markers:
        _require(not isinstance(marker, AtLeast) or not isinstance(result, int) or result >= marker.least)
    return result


def _alternative(value: Anything, alternatives: tuple[Anything, ...]) -> object:
    for each in alternatives:
        try:
            return conform(value, each)
        except MismatchError:
            continue
    raise MismatchError


def _literal(value: Anything, allowed: tuple[object, ...]) -> object:
    _require(any(value == each and isinstance(value, type(each)) for each in allowed))
    return value


def _same(first: tuple[object, ...], second: tuple[object, ...]) -> bool:
    return all(a is b for a, b in zip(first, second))


def _require(fits: bool) -> None:
    if not fits:
        raise MismatchError


def describe(hint: Anything) -> str:
    """Describe a type in words: "an integer of at least 1", "a sequence of strings"."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        bounds = [f" of at least {m.least}" for m in hint.__metadata__ if isinstance(m, AtLeast)]
        return describe(arguments[0]) + "".join(bounds)
    if origin in (Union, types.UnionType):
        return " or ".join(describe(each) for each in arguments)
    if origin is Literal:
        return "one of " + ", ".join(map(repr, arguments))
    if origin in (tuple, list, collections.abc.Sequence):
        return f"a sequence of {_plural(arguments[0])}"
    if origin in (dict, collections.abc.Mapping):
        return f"a mapping from {_plural(arguments[0])} to {_plural(arguments[1])}"
    if origin is collections.abc.Callable:
        return "a function"
    names = {int: "an integer", str: "a string", bool: "a boolean", float: "a number", type(None): "None"}
    return names.get(hint) or f"a {getattr(hint, '__name__', hint)}"


def _plural(hint: Anything) -> str:
    words = describe(hint)
    if words.startswith("a sequence of"):
        return "sequences" + words.removeprefix("a sequence")
    named = f"{hint.__name__} objects" if isinstance(hint, type) else f"values that are each {words}"
    return _PLURAL.get(words, named)
