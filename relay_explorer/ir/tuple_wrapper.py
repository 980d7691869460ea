"""The result of builders of operators with several results: a call that can be indexed and unpacked."""

from __future__ import annotations

from collections.abc import Iterator

from .expr import Expr, TupleGetItem


class TupleWrapper:
    """An expression `tuple_value` of tuple type that is known to have `size` fields.

    It is not an expression itself: `astuple()` is. Builders accept a wrapper wherever they accept an
    expression.
    """

    __slots__ = ("size", "tuple_value")

    def __init__(self, tuple_value: Expr, size: int) -> None:
        self.tuple_value = tuple_value
        self.size = size

    def astuple(self) -> Expr:
        """Return the expression whose value is the whole tuple."""
        return self.tuple_value

    asobject = astuple

    def astext(self) -> str:
        """Print the wrapped expression in the text format."""
        return self.tuple_value.astext()

    def __getitem__(self, index: int) -> Expr:
        if not -self.size <= index < self.size:
            raise IndexError(f"there is no field {index}: the tuple has {self.size} fields")
        return TupleGetItem(self.tuple_value, index % self.size, self.tuple_value.span)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Expr]:
        span = self.tuple_value.span
        return (TupleGetItem(self.tuple_value, index, span) for index in range(self.size))

    def __repr__(self) -> str:
        return f"TupleWrapper({self.tuple_value!r}, {self.size})"
