"""The values of a running program: arrays, tuples, constructed values, references, functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..ir.adt import Constructor
from ..ir.errors import RelayError
from ..ir.expr import Function
from ..ir.op import Op
from ..ir.show import counted

if TYPE_CHECKING:
    from .code import Code

Value = Any  # numpy.ndarray · tuple of values · ConstructorValue · RefValue · Closure · Constructor · Op

MAX_SHOWN = 200  # at most so many parts of a value are printed


class ConstructorValue:
    """A value that `constructor` built from `fields`; a RelayError where it takes more or fewer."""

    __slots__ = ("constructor", "fields")

    def __init__(self, constructor: Constructor, fields: Sequence[Value] = ()) -> None:
        self.constructor = constructor
        self.fields = tuple(fields)
        if len(self.fields) != len(constructor.inputs):
            raise _wrong_number(constructor, len(self.fields))

    @property
    def tag(self) -> int:
        """The constructor's number within its type."""
        return self.constructor.tag

    def __repr__(self) -> str:
        return show(self)


def _wrong_number(constructor: Constructor, count: int) -> RelayError:
    takes = ", ".join(map(str, constructor.inputs))
    return RelayError(
        f"`{constructor.name_hint}` expects {counted(len(constructor.inputs), 'field')}, got {count}",
        help=[f"it is declared `{constructor.name_hint}{f'({takes})' if takes else ''}`"],
    )


class RefValue:
    """A mutable cell."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __repr__(self) -> str:
        return show(self)


class Closure:
    """A function with the values that it captured when it was created."""

    __slots__ = ("captured", "code")

    def __init__(self, code: Code, captured: list[Value]) -> None:
        self.code = code
        self.captured = captured

    @property
    def function(self) -> Function:
        return self.code.function

    @property
    def parameters(self) -> list[str]:
        """The names of the function's parameters."""
        return [p.name_hint for p in self.function.params]

    def __repr__(self) -> str:
        return show(self)


class ForeignClosure(Closure):
    """A function that another executor runs: of a program that was built, also ahead of time."""

    __slots__ = ()

    def call(self, args: Sequence[Value]) -> Value:
        """Return its result for arguments."""
        raise NotImplementedError


def show(value: Value) -> str:
    """Write a value as text, truncated where it is long: `Cons(1, Cons(2, Nil))`."""
    parts: list[str] = []
    pending: list[Value | str] = [value]
    count = 0
    while pending:
        current = pending.pop()
        if isinstance(current, _Text):
            parts.append(current)
            continue
        count += 1
        if count > MAX_SHOWN:
            parts.append("…")
            continue
        if isinstance(current, ConstructorValue):
            parts.append(current.constructor.name_hint)
            if current.fields:
                _push(pending, "(", current.fields, ")")
        elif isinstance(current, tuple):
            _push(pending, "(", current, ",)" if len(current) == 1 else ")")
        elif isinstance(current, RefValue):
            _push(pending, "ref(", (current.value,), ")")
        elif isinstance(current, Closure):
            names = ", ".join(f"%{name}" for name in current.parameters)
            parts.append(f"<fn ({names})>")
        elif isinstance(current, (Constructor, Op)):
            parts.append(current.name)
        else:
            parts.append(_array(current))
    return "".join(parts)


class _Text(str):
    """Punctuation among the values that are still to be printed."""

    __slots__ = ()


def _push(pending: list[Value | str], opening: str, values: Sequence[Value], closing: str) -> None:
    pending.append(_Text(closing))
    for index, value in enumerate(reversed(values)):
        if index:
            pending.append(_Text(", "))
        pending.append(value)
    pending.append(_Text(opening))


def _array(value: Value) -> str:
    if getattr(value, "shape", None) == ():
        return str(value.item())
    if getattr(value, "size", MAX_SHOWN + 1) <= 12:
        return " ".join(str(value.tolist()).split())
    if not hasattr(value, "dtype"):  # not a program's value: it was passed in around all checks
        return f"<{type(value).__name__}>"
    return f"<{value.dtype}{list(value.shape)}>"
