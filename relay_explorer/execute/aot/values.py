"""Values of the interpreter as the list of numbers that a native program reads, and back (see runtime.c)."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...ir.adt import Constructor
from ...ir.errors import RelayError
from ..values import ConstructorValue, RefValue, Value
from .names import dtype_parts

if TYPE_CHECKING:
    from numpy import ndarray as Array

ALIGNMENT = 64
FIELDS, CELL = 2, 4  # kinds of values
_TENSOR, _MADE, _AGAIN = 0, 1, 2  # what the list of numbers consists of


def written(values: Sequence[Value], tags: Mapping[tuple[str, str], int]) -> tuple[array[int], list[Array]]:
    """The numbers for values, each behind its parts, and arrays that must live while they are read. A part
    that is there twice is written once. Functions are a RelayError, and so are values that hold themselves.
    """
    import numpy as np

    found = array("q")
    alive: list[Array] = []
    number: dict[int, int] = {}  # by the identity of a value
    begun: set[int] = set()
    kinds: dict[Any, tuple[int, int]] = {}
    count = 0
    pending: list[tuple[Value, bool]] = [(value, False) for value in reversed(values)]
    while pending:
        value, ready = pending.pop()
        if isinstance(value, np.ndarray):
            if value.dtype not in kinds:
                kinds[value.dtype] = dtype_parts(value.dtype.name)
            code, bits = kinds[value.dtype]
            dense = value if value.flags.c_contiguous and value.dtype.isnative else _dense(value)
            address = dense.ctypes.data
            alive.append(dense)
            borrowed = not address % ALIGNMENT
            found.extend((_TENSOR, code, bits, borrowed, dense.ndim, address, *dense.shape))
            count += 1
            continue
        if id(value) in number:
            found.extend((_AGAIN, number[id(value)]))
            count += 1
            continue
        kind, tag, fields = _parts(value, tags)
        if ready:
            found.extend((_MADE, kind, tag, len(fields)))
            number[id(value)] = count
            count += 1
            continue
        if id(value) in begun:
            raise RelayError(
                "an argument holds a cell that leads back to itself; a native program takes none"
            )
        begun.add(id(value))
        pending.append((value, True))
        pending += [(field, False) for field in reversed(fields)]
    return found, alive


def _dense(value: Array) -> Array:
    import numpy as np

    return np.array(value, value.dtype.newbyteorder("="), order="C")


def _parts(value: Value, tags: Mapping[tuple[str, str], int]) -> tuple[int, int, Sequence[Value]]:
    """A value's kind, tag and parts."""
    if isinstance(value, ConstructorValue):
        made_by = value.constructor
        return FIELDS, tags[made_by.belong_to.name_hint, made_by.name_hint], value.fields
    if isinstance(value, tuple):
        return FIELDS, 0, value
    if isinstance(value, RefValue):
        return CELL, 0, (value.value,)
    raise RelayError(
        "a function cannot be an argument of a native program",
        help=["the virtual machine and the interpreter take functions"],
    )


def values_of(
    numbers: Sequence[int], constructors: Mapping[int, Constructor], copied: Callable[..., Array]
) -> Value:
    """The value that a list of numbers is; `copied` makes an array of an address, DLPack's code and bits, and
    a shape.
    """
    numbered: list[Value] = []  # what others name by number; None: its parts are not all there
    waiting: list[tuple[int, int, int, list[Value]]] = []  # kind, tag, number, and the parts that are there
    missing: list[int] = []  # how many parts are not
    at = 0
    while True:
        if numbers[at] == _MADE:
            _, kind, tag, count = numbers[at : at + 4]
            waiting.append((kind, tag, len(numbered), []))
            missing.append(count)
            numbered.append(None)
            at += 4
        else:
            value, at = _leaf(numbers, at, numbered, copied)
            if not waiting:
                return value
            waiting[-1][3].append(value)
            missing[-1] -= 1
        while not missing[-1]:
            missing.pop()
            kind, tag, number, parts = waiting.pop()
            value = numbered[number] = _made(kind, tag, parts, constructors)
            if not waiting:
                return value
            waiting[-1][3].append(value)
            missing[-1] -= 1


def _leaf(
    numbers: Sequence[int], at: int, numbered: Sequence[Value], copied: Callable[..., Array]
) -> tuple[Value, int]:
    """A value that is not made of others, and where the next one begins."""
    if numbers[at] == _TENSOR:
        _, code, bits, _, rank, address = numbers[at : at + 6]
        end = at + 6 + rank
        return copied(address, code, bits, tuple(numbers[at + 6 : end])), end
    if numbers[at] == _AGAIN:
        value = numbered[numbers[at + 1]]
        if value is None:
            raise RelayError("the result holds a cell that leads back to itself; a native program gives none")
        return value, at + 2
    raise RelayError(
        "the result of a native program cannot hold a function",
        help=["call it in the program; the virtual machine and the interpreter give functions"],
    )


def _made(kind: int, tag: int, parts: list[Value], constructors: Mapping[int, Constructor]) -> Value:
    if kind == CELL:
        return RefValue(parts[0])
    return ConstructorValue(constructors[tag], parts) if tag else tuple(parts)
