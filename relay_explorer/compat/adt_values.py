"""`tvm.runtime.container`: tuples and constructed values as results of running programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..execute.results import ConstructorValue
from ..ir.errors import ModuleError, RelayError
from ..prelude import Prelude


class _ADTMeta(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, (tuple, ConstructorValue))


class ADT(metaclass=_ADTMeta):
    """The class of TVM's virtual machine for tuples, which are Python's own here, and for values of declared
    types, which are ConstructorValues: `isinstance(value, ADT)` recognizes both.
    """

    def __new__(cls, tag: int, fields: Iterable[Any]) -> Any:
        if tag == 0:
            return tuple(fields)
        try:
            constructor = Prelude().mod.get_constructor(tag)
        except ModuleError:
            raise RelayError(
                f"a value of a declared type needs a constructor; the prelude has none with the tag {tag}",
                help=["name its constructor: relay.backend.interpreter.ConstructorValue(tag, …)"],
            ) from None
        return ConstructorValue(tag, list(fields), constructor)


def as_sequences() -> None:
    """Give ConstructorValue the sequence protocol of TVM's ADT: its fields by index, and their number."""
    methods: dict[str, Any] = {
        "__len__": lambda value: len(value.fields),
        "__iter__": lambda value: iter(value.fields),
        "__getitem__": lambda value, index: value.fields[index],
        "__bool__": lambda value: True,
    }
    for name, method in methods.items():
        setattr(ConstructorValue, name, method)


def tuple_object(fields: Iterable[Any] | None = None) -> tuple[Any, ...]:
    """Return a tuple of values."""
    return tuple(fields or ())


def getitem_helper(obj: Any, elem_getter: Any, length: int, idx: Any) -> Any:
    """Return `obj[idx]`, an element or a slice, by calls of `elem_getter(obj, k)`."""
    if isinstance(idx, slice):
        return [elem_getter(obj, k) for k in range(*idx.indices(length))]
    if not -length <= idx < length:
        raise IndexError(f"index {idx} is out of range: there are {length}")
    return elem_getter(obj, idx % length)


__all__ = ["ADT", "ConstructorValue", "getitem_helper", "tuple_object"]
