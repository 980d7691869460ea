"""The identities of variables, by which they are distinguished."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .expr import Var


class Id:
    """The identity of the variable `var`: equal to another only if that belongs to the same variable."""

    __slots__ = ("var",)

    def __init__(self, var: Var) -> None:
        self.var = var

    @property
    def name_hint(self) -> str:
        return self.var.name_hint

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Id) and self.var is other.var

    def __hash__(self) -> int:
        return hash(self.var)

    def __repr__(self) -> str:
        return f"Id({self.name_hint})"
