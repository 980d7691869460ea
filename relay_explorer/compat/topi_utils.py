"""`tvm.topi.utils`: conversions of shapes and numbers to Python's."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..ir.types import Any as Unknown
from ..ir.types import Size


def get_const_int(expr: Any) -> int:
    """Return a number. Raise a ValueError where it is dynamic."""
    if isinstance(expr, (Unknown, Size)):
        raise ValueError(f"{expr} is dynamic: it is known only when the program runs")
    return int(expr)


def get_const_float(expr: Any) -> float:
    """Return a floating-point number. Raise a ValueError where it is dynamic."""
    if isinstance(expr, (Unknown, Size)):
        raise ValueError(f"{expr} is dynamic: it is known only when the program runs")
    return float(expr)


def get_const_tuple(in_tuple: Iterable[Any]) -> tuple[Any, ...]:
    """Return a shape as a tuple of integers; dynamic dimensions stay as they are."""
    return tuple([dim if isinstance(dim, (Unknown, Size)) else int(dim) for dim in in_tuple])


def get_float_tuple(in_tuple: Iterable[Any]) -> tuple[float, ...]:
    """Return numbers as a tuple of floating-point ones."""
    return tuple([get_const_float(value) for value in in_tuple])


def equal_const_int(expr: Any, value: int) -> bool:
    """Whether `expr` is static, and is this number."""
    return not isinstance(expr, (Unknown, Size)) and int(expr) == value


def prod(x: Iterable[Any]) -> Any:
    """Return the product of dimensions."""
    return math.prod(x)


def simplify(expr: Any) -> Any:
    """Return `expr` itself: sizes are simplified when they are created."""
    return expr


def const_vector(vector: Any, name: str = "const_vector") -> Any:
    """Return a vector as a NumPy array."""
    import numpy

    return numpy.asarray(vector)


__all__ = [
    "const_vector", "equal_const_int", "get_const_float", "get_const_int", "get_const_tuple",
    "get_float_tuple", "prod", "simplify",
]  # fmt: skip
