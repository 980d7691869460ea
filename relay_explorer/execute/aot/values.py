"""Encode values of the interpreter as the list of integers that a native program reads, and decode such a
list (see exchange.c).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ...ir.adt import Constructor
from ...ir.errors import RelayError
from ...ir.op import Op
from ..interpreter import used_up
from ..values import Closure, ConstructorValue, RefValue, Value
from .names import dtype_parts

if TYPE_CHECKING:
    from numpy import ndarray as Array

ALIGNMENT = 64
INLINE = 4096  # bytes: the elements of a tensor up to this size are stored in the list itself
FIELDS, CELL = 2, 4  # kinds of values
_TENSOR, _MADE, _AGAIN, _FUNCTION, _WHOLE = 0, 1, 2, 3, 4  # kinds of items in the list


def written(
    values: Sequence[Value],
    tags: Mapping[tuple[str, str], int],
    handle: Callable[[Value], int],
) -> tuple[bytes, list[Array]]:
    """Encode values as bytes, each header before its parts; also return the arrays that must stay alive while
    they are read. A shared part is written once. `handle` returns the program's handle of a function.
    """
    import numpy as np

    numbers = array("q")
    alive: list[Array] = []
    number: dict[int, int] = {}  # by the identity of a value
    pending: list[Value] = [*reversed(values)]
    while pending:
        value = pending.pop()
        if isinstance(value, np.ndarray):
            tensor_written(value, numbers, alive)
        elif id(value) in number:
            numbers.extend((_AGAIN, number[id(value)]))
        elif isinstance(value, (Closure, Constructor, Op)):
            numbers.extend((_FUNCTION, handle(value)))
        else:
            kind, tag, fields = _parts(value, tags)
            number[id(value)] = len(number)
            numbers.extend((_MADE, kind, tag, len(fields)))
            pending += reversed(fields)
    return numbers.tobytes(), alive


def tensor_written(value: Array, numbers: array[int], alive: list[Array]) -> None:
    """Append the encoding of a tensor. A large one is read in place, if possible."""
    code, bits = _kind(value.dtype)
    if not value.dtype.isnative:
        value = value.astype(value.dtype.newbyteorder("="))
    if value.nbytes <= INLINE:
        numbers.extend((_WHOLE, code, bits, value.ndim, value.nbytes, *value.shape))
        numbers.frombytes(value.tobytes() + bytes(-value.nbytes % 8))
        return
    if not value.flags.c_contiguous or value.ctypes.data % ALIGNMENT:
        value = _aligned(value)
    alive.append(value)
    numbers.extend((_TENSOR, code, bits, value.ndim, value.ctypes.data, *value.shape))


@cache
def _kind(dtype: Any) -> tuple[int, int]:
    """Return DLPack's type code and number of bits for a NumPy type."""
    return dtype_parts(dtype.name)


def _aligned(value: Array) -> Array:
    """Copy an array into memory aligned for kernels."""
    import numpy as np

    try:
        room = np.empty(value.nbytes + ALIGNMENT, np.uint8)
    except MemoryError as problem:
        raise used_up(0, problem) from None
    start = -room.ctypes.data % ALIGNMENT
    aligned: Array = room[start : start + value.nbytes].view(value.dtype).reshape(value.shape)
    aligned[...] = value
    return aligned


def _parts(value: Value, tags: Mapping[tuple[str, str], int]) -> tuple[int, int, Sequence[Value]]:
    """Return a value's kind, tag and parts."""
    if isinstance(value, ConstructorValue):
        constructor = value.constructor
        return FIELDS, tags[constructor.belong_to.name_hint, constructor.name_hint], value.fields
    if isinstance(value, tuple):
        return FIELDS, 0, value
    if isinstance(value, RefValue):
        return CELL, 0, (value.value,)
    raise RelayError(f"a {type(value).__name__} is not a value of a program")


def values_of(
    numbers: array[int],
    at: int,
    constructors: Mapping[int, Constructor],
    copied: Callable[[int, int, int, tuple[int, ...]], Array],
    function: Callable[[int], Value],
) -> Value:
    """Decode the value that starts at index `at` of a list of numbers. `copied` builds an array from an
    address, DLPack's code and bits, and a shape; `function` returns the function at an address.
    """
    numbered: list[Value] = []  # by number; None: a tuple of which some parts are missing
    waiting: list[tuple[int, int, int, list[Value]]] = []  # kind, tag, number, and the parts decoded so far
    missing: list[int] = []  # how many parts each of them lacks
    late = _Late(numbered)
    while True:
        if numbers[at] == _MADE:
            _, kind, tag, count = numbers[at : at + 4]
            waiting.append((kind, tag, len(numbered), []))
            missing.append(count)
            numbered.append(_begun(kind, tag, constructors))
            at += 4
        else:
            value, at = _leaf(numbers, at, late, copied, function)
            if not waiting:
                return value
            waiting[-1][3].append(value)
            missing[-1] -= 1
        while not missing[-1]:
            missing.pop()
            kind, tag, number, parts = waiting.pop()
            value = numbered[number]
            if late.used and any(type(part) is _Later for part in parts):
                value = late.left(number, kind, parts)
            elif value is None:
                value = numbered[number] = tuple(parts)
            elif kind == CELL:
                value.value = parts[0]
            else:
                value.fields = tuple(parts)
            if not waiting:
                return late.settled(value)
            waiting[-1][3].append(value)
            missing[-1] -= 1


class _Later:
    """A placeholder for the tuple of this number, which is not complete yet."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


class _Late:
    """The values that contain placeholders: a cell inside a tuple leads back to the tuple, which is not
    complete yet. Their parts are filled in when everything has been decoded. `used` says whether there is
    any.
    """

    def __init__(self, numbered: list[Value]) -> None:
        self.numbered = numbered
        self.used = False
        self.tuples: dict[int, list[Value]] = {}
        self.others: list[tuple[Value, int, list[Value]]] = []

    def again(self, number: int) -> Value:
        """Return a value that was decoded before, or a placeholder for it."""
        if self.numbered[number] is None:
            self.used = True
            return _Later(number)
        return self.numbered[number]

    def left(self, number: int, kind: int, parts: list[Value]) -> Value:
        """Defer a value of which all parts have been decoded."""
        value = self.numbered[number]
        if value is None:
            self.tuples[number] = parts
            return _Later(number)
        self.others.append((value, kind, parts))
        return value

    def settled(self, value: Value) -> Value:
        """Resolve all placeholders, and return the value itself. A tuple contains itself only through a
        reference cell.
        """
        pending = list(self.tuples)
        while pending:
            number = pending[-1]
            parts = self.tuples[number]
            missing = [p.number for p in parts if type(p) is _Later and self.numbered[p.number] is None]
            if missing:
                pending += missing
                continue
            self.numbered[number] = self.numbered[number] or self._whole(parts)
            pending.pop()
        for other, kind, parts in self.others:
            if kind == CELL:
                (other.value,) = self._whole(parts)
            else:
                other.fields = self._whole(parts)
        return self.numbered[value.number] if type(value) is _Later else value

    def _whole(self, parts: list[Value]) -> tuple[Value, ...]:
        return tuple([self.numbered[p.number] if type(p) is _Later else p for p in parts])


def _begun(kind: int, tag: int, constructors: Mapping[int, Constructor]) -> Value:
    """Create a value before its parts, which may refer back to it. None for a tuple, which needs its parts
    first.
    """
    if kind == CELL:
        return RefValue(None)
    if not tag:
        return None
    begun = ConstructorValue.__new__(ConstructorValue)
    begun.constructor, begun.fields = constructors[tag], ()
    return begun


def _leaf(
    numbers: array[int],
    at: int,
    late: _Late,
    copied: Callable[..., Array],
    function: Callable[[int], Value],
) -> tuple[Value, int]:
    """Decode a value without parts; also return where the next one begins."""
    kind = numbers[at]
    if kind in (_TENSOR, _WHOLE):
        code, bits, rank, place = numbers[at + 1 : at + 5]
        end = at + 5 + rank
        shape = tuple(numbers[at + 5 : end])
        if kind == _TENSOR:
            return copied(place, code, bits, shape), end
        return whole(numbers, end, code, bits, shape), end + (place + 7) // 8
    if kind == _AGAIN:
        return late.again(numbers[at + 1]), at + 2
    return function(numbers[at + 1]), at + 2


def whole(numbers: array[int], at: int, code: int, bits: int, shape: tuple[int, ...]) -> Array:
    """Copy the tensor whose elements start at index `at` of a list."""
    import numpy as np

    if 0 in shape:
        return widened(np.empty(shape, numpy_type(code, bits)), code)
    return widened(np.ndarray(shape, numpy_type(code, bits), numbers, 8 * at).copy(), code)


_NAMES = {0: "int", 1: "uint", 2: "float"}


@cache
def numpy_type(code: int, bits: int) -> Any:
    """Return the NumPy type for DLPack's code and bits; for bfloat16, the integer type of its bits."""
    import numpy as np

    return np.dtype("uint16" if code == 4 else "bool" if code == 6 else f"{_NAMES[code]}{bits}")


def widened(array: Array, code: int) -> Array:
    """Convert bfloat16, given as its bits, to float32, which represents it in Python."""
    if code != 4:
        return array
    wide: Array = (array.astype("uint32") << 16).view("float32")
    return wide
