"""`tvm.tir`, as far as Relay's types and attributes use it: symbolic sizes and typed numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..ir.types import Size, SizeVar
from .containers import Array, Map

Var = SizeVar
PrimExpr = (int, float, Size)  # for `isinstance`, since sizes are Python's own numbers here


class IntImm(int):
    """An integer with a type. It is a Python integer: `.value` is itself."""

    dtype: str

    def __new__(cls, dtype: str, value: int) -> IntImm:
        self = super().__new__(cls, value)
        self.dtype = dtype
        return self

    def __getnewargs__(self) -> tuple[str, int]:  # type: ignore[override]  # for copies and pickles
        return (self.dtype, int(self))

    @property
    def value(self) -> int:
        return int(self)

    def same_as(self, other: object) -> bool:
        return self is other

    def _of(self, result: Any) -> Any:
        """Return the result of an integer operation, with the type of this number."""
        return IntImm(self.dtype, result) if type(result) is int else result

    def __add__(self, other: Any) -> Any:
        return self._of(int.__add__(self, other))

    def __radd__(self, other: Any) -> Any:
        return self._of(int.__radd__(self, other))

    def __sub__(self, other: Any) -> Any:
        return self._of(int.__sub__(self, other))

    def __rsub__(self, other: Any) -> Any:
        return self._of(int.__rsub__(self, other))

    def __mul__(self, other: Any) -> Any:
        return self._of(int.__mul__(self, other))

    def __rmul__(self, other: Any) -> Any:
        return self._of(int.__rmul__(self, other))

    def __floordiv__(self, other: Any) -> Any:
        return self._of(int.__floordiv__(self, other))

    def __mod__(self, other: Any) -> Any:
        return self._of(int.__mod__(self, other))

    def __neg__(self) -> Any:
        return self._of(int.__neg__(self))


class FloatImm(float):
    """A floating-point number with a type."""

    dtype: str

    def __new__(cls, dtype: str, value: float) -> FloatImm:
        self = super().__new__(cls, value)
        self.dtype = dtype
        return self

    @property
    def value(self) -> float:
        return float(self)


class StringImm(str):
    """A string."""

    __slots__ = ()

    @property
    def value(self) -> str:
        return str(self)


String = StringImm


def const(value: float, dtype: str | None = None) -> IntImm | FloatImm:
    """Create a typed number; int32, float32 or bool unless `dtype` says otherwise."""
    if dtype is None:
        dtype = "bool" if isinstance(value, bool) else "int32" if isinstance(value, int) else "float32"
    if dtype.startswith(("float", "bfloat")):
        return FloatImm(dtype, float(value))
    return IntImm(dtype, int(value))


def var(name: str = "tindex", dtype: str = "int32") -> SizeVar:
    """Create a symbolic size, which prints as `name`."""
    return SizeVar(name, dtype)


size_var = var


def convert(value: Any) -> Any:
    """Convert `value` to the form that TVM would store: numbers become typed, lists Arrays and dictionaries
    Maps, recursively.
    """
    if isinstance(value, (IntImm, FloatImm)):
        return value
    if isinstance(value, (bool, int, float)):
        return const(value)
    if isinstance(value, (list, tuple)):
        return Array(convert(item) for item in value)
    if isinstance(value, Mapping):
        return Map({key: convert(item) for key, item in value.items()})
    return value


__all__ = ["FloatImm", "IntImm", "PrimExpr", "SizeVar", "String", "StringImm", "Var", "const", "convert"]
__all__ += ["size_var", "var"]
