"""Format values of a run as short texts. Rounding to four digits makes them the same on every machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..execute.values import Closure, ConstructorValue, RefValue, Value
from ..ir.adt import Constructor
from ..ir.op import Op
from ..ir.show import short_dtype, show_shape

FunctionName = Callable[[Closure], str]
FEW, SOME = 4, 12  # elements of a tensor that are printed: inside another value, and alone
MAX_LENGTH = 80


def number(value: Any) -> str:
    """Write a scalar: `3`, `0.3333`, `True`."""
    item = value.item() if hasattr(value, "item") else value
    return f"{item:.4g}" if isinstance(item, float) else str(item)


def tensor_type(value: Any) -> str:
    """Return the type of a tensor: `(3, 4) f32`."""
    return f"{show_shape(value.shape)} {short_dtype(str(value.dtype))}"


def tensor_text(value: Any) -> str:
    """Write a tensor's elements if they are few, else a summary."""
    import numpy

    if value.size <= SOME:
        return _numbers(value)
    if value.dtype.kind == "b":
        return f"{int(value.sum()):,} of {value.size:,} are True"
    if value.dtype.kind not in "iuf":
        return f"{value.size:,} elements"
    numbers = value.astype("float64")
    finite = numbers[numpy.isfinite(numbers)]
    strange = value.size - finite.size
    if not finite.size:
        return f"{value.size:,} elements, none finite"
    text = f"smallest {finite.min():.4g}, largest {finite.max():.4g}, mean {finite.mean():.4g}"
    return text + (f"; {strange:,} not finite" if strange else "")


def _numbers(value: Any) -> str:
    if value.ndim == 0:
        return number(value)
    return f"[{', '.join([_numbers(part) for part in value])}]"


def is_tensor(value: Value) -> bool:
    """Whether a value is an array; a scalar is one without dimensions."""
    return hasattr(value, "dtype")


def value_text(value: Value, function_name: FunctionName, most: int = MAX_LENGTH) -> str:
    """Write a value in one line of about `most` characters: `Cons(1, Cons(2, Nil))`."""
    parts: list[str] = []
    length = 0
    pending: list[Value | str] = [value]
    while pending:
        current = pending.pop()
        if length >= most:
            return "".join(parts)[: most - 1] + "…"
        text = current if isinstance(current, str) else _opened(current, pending, function_name)
        parts.append(text)
        length += len(text)
    text = "".join(parts)
    return text if len(text) <= most else text[: most - 1] + "…"


def _opened(value: Value, pending: list[Value | str], function_name: FunctionName) -> str:
    """Return how the text of a value begins, and push the rest onto `pending`."""
    if isinstance(value, ConstructorValue):
        if value.fields:
            _push(pending, value.fields, ")")
            return f"{value.constructor.name_hint}("
        return value.constructor.name_hint
    if isinstance(value, tuple):
        _push(pending, value, ",)" if len(value) == 1 else ")")
        return "("
    if isinstance(value, RefValue):
        return "ref(…)"  # its content changes during the run
    if isinstance(value, Closure):
        return function_name(value)
    if isinstance(value, (Constructor, Op)):
        return value.name
    if is_tensor(value):
        return _numbers(value) if value.size <= FEW else tensor_type(value)
    return str(value)


def _push(pending: list[Value | str], values: Sequence[Value], closing: str) -> None:
    pending.append(closing)
    for index, value in enumerate(reversed(values[:MAX_LENGTH])):
        if index:
            pending.append(", ")
        pending.append(value)
