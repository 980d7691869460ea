"""Normalization of computed indices in kernels: negative ones count from the end, others are clamped."""

from __future__ import annotations

from typing import Any

from .imperative import int64
from .tensors import Value, clamp, select


def counted(index: Value, dim: Any) -> Value:
    """Return an index into an axis, counted from the end where it is negative."""
    at = index.astype("int64")
    return select(at < 0, at + int64(dim), at)


def inside(index: Value, dim: Any) -> Value:
    """Return an index into an axis, counted from the end where it is negative, and clamped to the axis."""
    return clamp(counted(index, dim), 0, int64(dim) - 1)
