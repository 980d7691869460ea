"""Marks: each is the value that it is put around."""

from __future__ import annotations

from ..lowering import Lowered
from .tensors import Tensor


def itself(call: Lowered) -> list[Tensor]:
    """The argument's tensors. A tuple of tuples is taken apart."""
    found: list[Tensor] = []
    pending = list(reversed(call.inputs))
    while pending:
        part = pending.pop()
        if isinstance(part, tuple):
            pending.extend(reversed(part))
        else:
            found.append(part)
    return found
