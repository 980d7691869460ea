"""Variables for the calls in the operators' examples."""

from __future__ import annotations

from ..ir.expr import Var, var
from ..ir.types import TensorType


def t(*shape: int, dtype: str = "float32", name: str = "x") -> Var:
    """Make a variable of tensor type."""
    return var(name, TensorType(shape, dtype))


def ints(*shape: int, name: str = "i") -> Var:
    """Make a variable of an integer tensor."""
    return t(*shape, dtype="int32", name=name)


def bools(*shape: int, name: str = "b") -> Var:
    """Make a variable of a boolean tensor."""
    return t(*shape, dtype="bool", name=name)


X, Y, V = t(2, 6), t(2, 6, name="y"), t(6, name="v")
IMAGE, VOLUME, SIGNAL = (
    t(1, 4, 8, 8, name="image"),
    t(1, 4, 8, 8, 8, name="volume"),
    t(1, 4, 8, name="signal"),
)
