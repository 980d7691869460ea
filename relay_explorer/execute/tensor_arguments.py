"""Convert single arguments for tensor parameters: Python numbers, and arrays of other libraries."""

from __future__ import annotations

import operator
from math import prod
from typing import TYPE_CHECKING, Any

from ..ir.errors import RelayError
from ..ir.span import Span
from ..ir.types import TensorType
from .arguments import describe
from .values import Value

if TYPE_CHECKING:
    from numpy import ndarray as Array

_KINDS = {bool: ("bool",), int: ("int", "uint", "float"), float: ("float",)}


def of_number(value: Any, dtype: str) -> Any:
    """Convert a Python number, which has no element type, to an array of rank 0 of the parameter's type.
    Return anything else, and numbers that the type cannot represent, unchanged; but return an integer too
    large for the type as NumPy's default conversion gives it, if it is below 2⁶³.
    """
    if type(value) not in _KINDS or not dtype.startswith(_KINDS[type(value)]):
        return value
    import numpy as np

    with np.errstate(over="ignore"):
        try:
            number = np.array(value, dtype)
        except OverflowError:
            return np.array(value) if abs(value) < 1 << 63 else value
    return value if np.isinf(number) and abs(value) != float("inf") else number


def whole(value: object, name: str) -> int:
    """Return an option that must be a count; raise a RelayError where it is not."""
    try:
        count = operator.index(value)  # type: ignore[arg-type]  # raises a TypeError for other types
    except TypeError:
        count = -1
    if count < 0:
        raise RelayError(f"`{name}` must be a count, 0 or more, not {value!r:.60}")
    return count


def by_dlpack(value: Any, name: str) -> Any:
    """Import an array from a library that exports its memory by DLPack; return anything else as it is. Raise
    a RelayError where the library refuses, or NumPy cannot read what it exports.
    """
    import numpy as np

    if isinstance(value, (np.ndarray, np.generic)) or not hasattr(value, "__dlpack__"):
        return value
    try:
        array: Array = np.from_dlpack(value)
    except Exception as problem:  # the library may raise anything
        raise RelayError(
            f"the argument `%{name}`, a {type(value).__name__}, cannot be read by DLPack",
            help=(str(problem) or type(problem).__name__).splitlines()[:1],
        ) from None
    return array


def refused(name: str, expected: object, value: Value, span: Span | None = None) -> RelayError:
    """Build the error for an argument that does not have its parameter's type, with remedies."""
    return RelayError(
        f"the argument `%{name}` must be `{expected}`, but is {describe(value)}",
        span,
        help=remedies(expected, value),
    )


def remedies(expected: object, value: Value) -> list[str]:
    """Suggest how to convert an array to the expected type, where the conversion is obvious."""
    if not isinstance(expected, TensorType) or not hasattr(value, "dtype"):
        return []
    if expected.dtype == "bfloat16":
        return ['NumPy has no bfloat16: take a float32, and relay.cast(x, "bfloat16") in the program']
    if tuple(value.shape) == tuple(expected.shape):
        return [f'convert it: .astype("{expected.dtype}")']
    if expected.is_static and value.size == prod(expected.concrete_shape):
        return [f"give it the shape: .reshape({expected.concrete_shape})"]
    return []
