"""Values in tuples, and the tensors that they are made of: taken apart, and put together again.

The tensors of a value stand depth first, as kernels take and give them. Types nest a few levels; values that
come from outside, and what follows from them, may nest deeper, and are gone through with a stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .types import TensorType, TupleType, Type


def leaves(value: Any) -> list[Any]:
    """Return the leaves of nested tuples, depth first; a value that is not a tuple is its only leaf."""
    result: list[Any] = []
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple):
            pending.extend(reversed(part))
        else:
            result.append(part)
    return result


def leaf_types(type_: Type | None) -> list[TensorType] | None:
    """Return the tensors of a type, depth first; None where the type is not known, or contains anything
    else.
    """
    types: list[TensorType] = []
    pending = [type_]
    while pending:
        part = pending.pop()
        if isinstance(part, TupleType):
            pending.extend(reversed(part.fields))
        elif isinstance(part, TensorType):
            types.append(part)
        else:
            return None
    return types


def nested(rest: Iterator[Any], type_: Type | None) -> Any:
    """Arrange the next leaves in tuples, nested as in a type."""
    if isinstance(type_, TupleType):
        return tuple([nested(rest, field) for field in type_.fields])
    return next(rest)
