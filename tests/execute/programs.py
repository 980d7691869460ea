"""Values of whole programs, compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from relay_explorer.execute.values import ConstructorValue, RefValue


def parts(value: Any) -> list[Any]:
    """Return the tensors of a value and the structure between them, in order."""
    result: list[Any] = []
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple):
            result.append(len(part))
            pending.extend(reversed(part))
        elif isinstance(part, ConstructorValue):
            result.append(part.constructor.name_hint)
            pending.extend(reversed(part.fields))
        elif isinstance(part, RefValue):
            result.append("ref")
            pending.append(part.value)
        else:
            result.append(np.asarray(part) if hasattr(part, "dtype") else "fn")
    return result


def assert_same(result: Any, expected: Any, rtol: float = 1e-4, atol: float = 1e-5) -> None:
    """Values are built alike, and their tensors have the same types and nearly the same elements."""
    ours, theirs = parts(result), parts(expected)
    assert [p for p in ours if not hasattr(p, "dtype")] == [p for p in theirs if not hasattr(p, "dtype")]
    for a, b in zip(ours, theirs, strict=True):
        if hasattr(b, "dtype"):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)
