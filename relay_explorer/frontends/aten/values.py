"""The values that converters receive and return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ...ir.expr import Expr


@dataclass(frozen=True)
class Scalar:
    """A Python number of the model that is not known at compile time: the size of a dynamic axis, the counter
    of a loop, `x.item()`.

    `expr` is a tensor without axes: int64, float64 or bool. In type promotion it counts as a Python number.
    """

    expr: Expr

    @property
    def kind(self) -> type:
        """The Python type of the number: int, float or bool."""
        dtype = self.expr.checked_type.dtype  # type: ignore[attr-defined]  # a tensor
        return bool if dtype == "bool" else int if dtype.startswith(("int", "uint")) else float


Number: TypeAlias = int | float | bool | Scalar
Int: TypeAlias = int | Scalar
Value: TypeAlias = object
"""An argument or a result: a tensor is an Expr; a number, string, None or list is that of Python, and a
number that is known only at run time is a Scalar. A dtype is its Relay name ("float32"). Lists and tuples
contain values again.
"""


def is_number(value: Value) -> bool:
    """Whether a value is a Python number, known or not."""
    return isinstance(value, (int, float, Scalar))
