"""`tvm.ir.container`: the classes of lists and dictionaries inside TVM's objects.

Programs here hold Python's own tuples, lists and dictionaries. `convert` creates these classes, and old code
tests for them by `isinstance`: there, any tuple or list is an `Array`, and any mapping a `Map`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class _ArrayKind(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, (tuple, list))


class _MapKind(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Mapping)


class Array(tuple[Any, ...], metaclass=_ArrayKind):
    """An immutable sequence. It equals a tuple or list of the same items."""

    __slots__ = ()

    def same_as(self, other: object) -> bool:
        return self is other

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)

    def __getitem__(self, index: Any) -> Any:
        item = tuple.__getitem__(self, index)
        return Array(item) if isinstance(index, slice) else item

    def __add__(self, other: Any) -> Array:
        return Array(tuple.__add__(self, tuple(other)))


class Map(dict[Any, Any], metaclass=_MapKind):
    """A dictionary whose `items()` is a list, like that of `tvm.ir.Map`."""

    def same_as(self, other: object) -> bool:
        return self is other

    def items(self) -> list[tuple[Any, Any]]:  # type: ignore[override]  # old code takes `.items()[0]`
        return list(super().items())


class ShapeTuple(Array):
    """The extents of an array."""

    __slots__ = ()


__all__ = ["Array", "Map", "ShapeTuple"]
