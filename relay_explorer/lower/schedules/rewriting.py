"""Rewrites of loops that are scheduled already."""

from __future__ import annotations

from typing import Any

from ..require import tvm


def mapped(node: Any, kind: Any, change: Any, order: str = "post") -> Any:
    """`node` with `change` of every part of a kind in its place."""
    from tvm_ffi import structural_map

    return structural_map(node, (kind, change), order=order)


def conditions_of(predicate: Any) -> list[Any]:
    """Return the conditions that must all hold for a block to run."""
    conditions, pending = [], [predicate]
    if isinstance(predicate, tvm().tirx.IntImm):  # true
        return []
    while pending:
        part = pending.pop()
        if isinstance(part, tvm().tirx.And):
            pending += [part.b, part.a]
        else:
            conditions.append(part)
    return conditions
