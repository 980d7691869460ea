"""Marks: each is the value that it is put around."""

from __future__ import annotations

from ...ir.nest import leaves
from .lowered import Lowered
from .tensors import Tensor


def itself(call: Lowered) -> list[Tensor]:
    """The argument's tensors. A tuple of tuples is taken apart."""
    return leaves(tuple(call.inputs))
