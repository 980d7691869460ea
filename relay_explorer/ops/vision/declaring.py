"""Shared parts of the declarations of operators that suppress boxes."""

from __future__ import annotations

from ...ir.expr import Expr, const

LENIENT = "It accepted elements of any type, and did not compare the shapes of its arguments."
SUPPRESSION = r"\{\, b_i : \forall j < i \text{ that stays},\ \mathrm{IoU}(b_i, b_j) < t \,\}"


def number(value: Expr | float, dtype: str) -> Expr:
    """Return a limit as an expression."""
    return value if isinstance(value, Expr) else const(value, dtype)
