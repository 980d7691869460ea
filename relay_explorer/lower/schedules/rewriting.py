"""Helpers to rewrite loops that are already scheduled."""

from __future__ import annotations

from typing import Any

from ..require import tvm


def mapped(node: Any, kind: Any, change: Any, order: str = "post") -> Any:
    """Replace every part of `node` of the class `kind` by the result of `change`."""
    from tvm_ffi import structural_map

    return structural_map(node, (kind, change), order=order)


def conditions_of(predicate: Any) -> list[Any]:
    """Return the conditions whose conjunction is a block's predicate."""
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


def substituted(expression: Any, values: dict[Any, Any]) -> Any:
    """Replace variables by values, which may be integers."""
    return mapped(
        expression,
        tvm().tirx.Var,
        lambda var: next((_number(v, var) for k, v in values.items() if var.same_as(k)), var),
    )


def _number(value: Any, var: Any) -> Any:
    return tvm().tirx.const(value, str(var.ty)) if isinstance(value, int) else value
