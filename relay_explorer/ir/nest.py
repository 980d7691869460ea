"""Flatten nested tuples to their leaves, the tensors, and nest leaves again.

The tensors of a value are ordered depth first, as kernels take and return them. Types nest only a few levels,
so functions over types may recurse; values from outside may nest deeper, so functions over values use an
explicit stack.
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
    """Return the tensor types in a type, depth first; None where the type is unknown, or contains anything
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
