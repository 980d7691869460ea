"""Axes of tensors, which frameworks count from either end."""

from __future__ import annotations

from ...ir.errors import RelayError


def normal_axis(axis: int, rank: int) -> int:
    """Return an axis counted from the front; raise a RelayError if a tensor of this rank does not have it."""
    if not -rank <= axis < rank:
        raise RelayError(f"there is no axis {axis}: the tensor has {rank} axes")
    return axis % rank
