"""The one way to annotate an expression: with its checked type, its origin and its source span.

Expressions are immutable (see `node`), but inference learns a type after the expression was built, and a
pass knows where a new expression came from only once it has it. These functions set the three annotations.
Call them on an expression that you have just built, before anything else can see it: an expression of the
program that a pass was given stays as it is. Each returns the expression.
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
    """Record the type that inference found, or None for a type that is not known."""
    _set(expr, "_checked_type", type_)
    return expr


def set_origin(expr: E, origin: Iterable[Expr]) -> E:
    """Record the expressions that `expr` came from."""
    _set(expr, "origin", tuple(origin))
    return expr


def set_span(expr: E, span: Span | None) -> E:
    """Record the place in the source that `expr` came from."""
    _set(expr, "span", span)
    return expr
