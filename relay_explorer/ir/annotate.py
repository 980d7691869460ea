"""Set the annotations of an expression: its checked type, its origin and its source span.

Expressions are immutable (see `node`), but inference learns a type after the expression was built, and a pass
can name the origin of a new expression only once it has built it. Only these functions set the three
annotations. Call them on an expression that you have just built, before other code can see it: never annotate
an expression of a pass's input program. Each returns the expression.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from .expr import Expr
    from .span import Span
    from .types import Type

E = TypeVar("E", bound="Expr")

_set = object.__setattr__


def set_checked_type(expr: E, type_: Type | None) -> E:
    """Record the type that inference found, or None for an unknown type."""
    _set(expr, "_checked_type", type_)
    return expr


def set_origin(expr: E, origin: Iterable[Expr]) -> E:
    """Record the expressions from which `expr` was derived."""
    _set(expr, "origin", tuple(origin))
    return expr


def set_span(expr: E, span: Span | None) -> E:
    """Record the source location of `expr`."""
    _set(expr, "span", span)
    return expr
