"""The attributes of MXNet's nodes, which are text: `kernel="(3, 3)"`, `no_bias="True"`, `axis="None"`."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping
from typing import Any as Anything
from typing import TypeVar

from ...ir.errors import RelayError

T = TypeVar("T")

DTYPES = {
    0: "float32", 1: "float64", 2: "float16", 3: "uint8", 4: "int32", 5: "int8", 6: "int64", 7: "bool",
    8: "int16", 9: "uint16", 10: "uint32", 11: "uint64", 12: "bfloat16",
}  # fmt: skip  # the element types by MXNet's numbers

_REQUIRED: Anything = object()
_LONGEST = 4096  # entries of a tuple


class Attributes(Mapping[str, str]):
    """The attributes of one node. Each method reads one as a type; without `default`, a missing one is an
    error. The text `None` gives the default, or None.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def text(self, name: str, default: str = _REQUIRED) -> str:
        value = self._values.get(name)
        if value is not None and value != "None":
            return value
        if default is _REQUIRED:
            raise RelayError(f"the node has no attribute `{name}`")
        return default

    def has(self, name: str) -> bool:
        """Whether the attribute is set, and not to None."""
        return self._values.get(name, "None") != "None"

    def int(self, name: str, default: int = _REQUIRED) -> int:
        return self._number(name, default, int)

    def float(self, name: str, default: float = _REQUIRED) -> float:
        return self._number(name, default, float)

    def optional_int(self, name: str) -> builtins.int | None:
        return self.int(name) if self.has(name) else None

    def bool(self, name: str, default: bool = _REQUIRED) -> bool:
        if default is not _REQUIRED and not self.has(name):
            return default
        text = self.text(name).strip().lower()
        if text not in ("true", "false", "1", "0"):
            raise self._wrong(name, "a truth value")
        return text in ("true", "1")

    def ints(self, name: str, default: tuple[builtins.int, ...] = _REQUIRED) -> tuple[builtins.int, ...]:
        """Return a tuple of integers; a single one is a tuple of length 1."""
        if default is not _REQUIRED and not self.has(name):
            return default
        result = self.optional_ints(name)
        if any(value is None for value in result):
            raise self._wrong(name, "a tuple of integers")
        return tuple([value for value in result if value is not None])

    def optional_ints(self, name: str) -> tuple[builtins.int | None, ...]:
        """Return a tuple of integers in which entries may be None."""
        return tuple(
            [None if part == "None" else self._converted(name, part, int) for part in self._parts(name)]
        )

    def floats(
        self, name: str, default: tuple[builtins.float, ...] = _REQUIRED
    ) -> tuple[builtins.float, ...]:
        if default is not _REQUIRED and not self.has(name):
            return default
        return tuple([self._converted(name, part, float) for part in self._parts(name)])

    def dtype(self, name: str = "dtype", default: str = _REQUIRED) -> str:
        """Return an element type, which is written as its name or as MXNet's number."""
        text = self.text(name, default).strip()
        if text.lstrip("-").isdigit():
            text = DTYPES.get(int(text), text)
        if text not in DTYPES.values():
            raise self._wrong(name, "an element type")
        return text

    def _number(self, name: str, default: T, number: type[T]) -> T:
        if default is not _REQUIRED and not self.has(name):
            return default
        return self._converted(name, self.text(name), number)

    def _parts(self, name: str) -> list[str]:
        parts = [part.strip(" ()[]") for part in self.text(name).split(",")]  # nested tuples are flat
        if len(parts) > _LONGEST:
            raise self._wrong(name, f"a tuple of at most {_LONGEST} entries")
        return [part for part in parts if part]

    def _converted(self, name: str, text: str, number: type[T]) -> T:
        text = text.strip().rstrip("L")  # Python 2 wrote long integers as 3L
        if number is int and text.lower() in ("true", "false"):
            text = str(int(text.lower() == "true"))
        try:
            return number(text)  # type: ignore[call-arg]  # int and float take text
        except ValueError:
            pass
        try:
            value = float(text)
            if number is int and value.is_integer():
                return number(value)  # type: ignore[call-arg]
        except (ValueError, OverflowError):
            pass
        raise self._wrong(name, "a number")

    def _wrong(self, name: str, what: str) -> RelayError:
        return RelayError(f"the attribute `{name}` is not {what}: {self._values.get(name, '')[:60]!r}")
