"""Element types: how numbers are rounded to them, and which type an operation of two has."""

from __future__ import annotations

import struct
from array import array as packed
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

Number = Any  # bool, int or float

_CODES = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "uint64": "Q", "float16": "e", "float32": "f", "float64": "d",
}  # fmt: skip
_SHORT = {
    "?": "bool", "b1": "bool", "i1": "int8", "u1": "uint8", "i2": "int16", "u2": "uint16", "i4": "int32",
    "u4": "uint32", "i8": "int64", "u8": "uint64", "f2": "float16", "f4": "float32", "f8": "float64",
    "int": "int64", "float": "float64", "double": "float64", "intp": "int64",
}  # fmt: skip
_PYTHON = {bool: "bool", int: "int64", float: "float64"}


class DType:
    """An element type; each is one object."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.code = _CODES[name]
        self.kind = "b" if name == "bool" else name[0]
        self.itemsize = struct.calcsize(f"<{self.code}")
        self.byteorder, self.isnative, self.names = "=", True, None
        self.str = f"<{self.kind}{self.itemsize}"

    @property
    def type(self) -> ScalarType:
        return SCALARS[self.name]

    def newbyteorder(self, order: str) -> DType:
        return self

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        try:
            return dtype(other) is self
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"dtype('{self.name}')"

    # -- elements

    def rounded(self, values: Sequence[Number]) -> list[Number]:
        """Return numbers as elements of this type; integers wrap around."""
        if self.kind == "f":
            if self.name == "float32":
                return packed("f", values).tolist()
            if self.name == "float16":
                return [_half(value) for value in values]
            return [float(value) for value in values]
        if self.kind == "b":
            return [bool(value) for value in values]
        low, high = self.limits
        return [
            whole if low <= (whole := _whole(value)) <= high else (whole - low) % (high - low + 1) + low
            for value in values
        ]

    @property
    def limits(self) -> tuple[int, int]:
        bits = 8 * self.itemsize
        return (0, (1 << bits) - 1) if self.kind == "u" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def _half(value: float) -> float:
    try:
        result: float = struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return result


def _whole(value: Number) -> int:
    """Truncate a number; not-a-number and the infinities become the smallest integer, as on x86."""
    try:
        return int(value)
    except (ValueError, OverflowError):
        return -(1 << 63)


_TYPES = {name: DType(name) for name in _CODES}


@lru_cache(256)
def _named(name: str) -> DType:
    name = name.lstrip("<>=|")
    name = _SHORT.get(name, name)
    if name not in _TYPES:
        raise TypeError(f"data type {name!r} not understood")
    return _TYPES[name]


def dtype(value: object) -> DType:
    """Return the element type that a name, a Python type or a scalar type stands for."""
    if isinstance(value, DType):
        return value
    if isinstance(value, ScalarType):
        return _TYPES[value.name]
    if isinstance(value, type) and value in _PYTHON:
        return _TYPES[_PYTHON[value]]
    if isinstance(value, str):
        return _named(value)
    inner = getattr(value, "dtype", None)
    if isinstance(inner, DType):
        return inner
    raise TypeError(f"data type {value!r:.40} not understood")


class ScalarType:
    """`np.float32` and its like: called, they make an array without axes."""

    def __init__(self, name: str) -> None:
        self.name = self.__name__ = name

    def __call__(self, value: object = 0) -> Any:
        from .core import asarray

        return asarray(value, _TYPES[self.name])

    def __eq__(self, other: object) -> bool:
        return _TYPES[self.name] == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"<class 'numpy.{self.name}'>"


SCALARS = {name: ScalarType(name) for name in _CODES}
BOOL, INT64, FLOAT64 = _TYPES["bool"], _TYPES["int64"], _TYPES["float64"]


@lru_cache(512)
def promoted(a: DType, b: DType) -> DType:
    """Return the type that can hold the elements of both, as NumPy chooses it."""
    if a is b:
        return a
    if a.kind == "b":
        return b
    if b.kind == "b":
        return a
    if a.kind == b.kind:
        return a if a.itemsize > b.itemsize else b
    if "f" in (a.kind, b.kind):
        real, whole = (a, b) if a.kind == "f" else (b, a)
        needed = {1: 2, 2: 4}.get(whole.itemsize, 8)
        return _TYPES[f"float{8 * max(real.itemsize, needed)}"]
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    if signed.itemsize > unsigned.itemsize:
        return signed
    return FLOAT64 if unsigned.itemsize == 8 else _TYPES[f"int{16 * unsigned.itemsize}"]


def weak(own: DType, value: Number) -> DType:
    """Return the type of an operation of an array and a Python number, which adapts to the array."""
    if isinstance(value, bool):
        return own
    if isinstance(value, int):
        return INT64 if own.kind == "b" else own
    return own if own.kind == "f" else FLOAT64


def as_float(own: DType) -> DType:
    """Return the type of `exp` and its like."""
    if own.kind == "f":
        return own
    return _TYPES[{1: "float16", 2: "float32"}.get(own.itemsize, "float64")]
