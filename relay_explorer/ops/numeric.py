"""Helpers of the operators' reference implementations.

NumPy is imported at its first use, so that operators can be declared and typed where it is not installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import Any as Anything

from ..ir.op import Reference, RelationError
from .lazy import LazyModule

Array = Anything  # numpy.ndarray; naming it would import NumPy


np: Anything = LazyModule("numpy", "values need NumPy: pip install numpy")


_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def quiet() -> Iterator[None]:
    """Let overflow yield infinity and invalid operations NaN, without warnings.

    Each reference implementation does this by itself. Code that calls thousands of them does it once around
    all, because it takes longer than a small sum.
    """
    token = _quiet.set(True)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        _quiet.reset(token)


def checked(reference: Reference) -> Reference:
    """Wrap a reference implementation for the interpreter.

    Its results are arrays in memory of their own, scalars included; overflow and NaN cause no warnings; a
    shape that does not fit raises a ValueError.
    """

    def guarded(attrs: Anything, values: tuple[Anything, ...]) -> Anything:
        try:
            result = reference(attrs, *values)
        except RelationError as problem:
            raise ValueError(problem.message) from None
        except OverflowError as problem:
            raise ValueError(str(problem)) from None
        except MemoryError:
            raise ValueError("the result is larger than the memory") from None
        if isinstance(result, tuple):
            return tuple([_own(part, values) for part in result])
        return _own(result, values)

    @wraps(reference)
    def run(attrs: Anything, *values: Anything) -> Anything:
        if _quiet.get():
            return guarded(attrs, values)
        with np.errstate(all="ignore"):
            return guarded(attrs, values)

    return run


def _own(result: Anything, values: tuple[Anything, ...]) -> Array:
    """Return `result` as an array that shares no memory with `values`, which are arrays or tuples of them."""
    array = np.asarray(result)
    view = array.base is not None  # an array that is not a view shares memory only with itself
    for value in values:
        for other in value if isinstance(value, tuple) else (value,):
            if array is other or (view and np.may_share_memory(array, other)):
                return array.copy()
    return array


def is_float(x: Array) -> bool:
    return bool(x.dtype.kind == "f")


def element_type(name: Anything) -> Anything:
    """Return the NumPy type called `name`, or `name` itself where it is one; raise a TypeError that names it
    where NumPy has no such type.

    NumPy lacks bfloat16: its elements are stored in float32, and `cast` rounds to its precision.
    """
    return name if isinstance(name, np.dtype) else _named(str(name))


@lru_cache(256)
def _named(name: str) -> Anything:
    try:
        return np.dtype("float32" if name == "bfloat16" else name)
    except TypeError:
        raise TypeError(f"NumPy has no element type {name}") from None


def rounded_to_bfloat16(x: Array) -> Array:
    """Round each number to the nearest bfloat16 (ties to even), stored in float32."""
    bits = x.astype("float32").reshape(-1).view("uint32").astype("uint64")
    upper = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    rounded = upper.astype("uint32").view("float32")
    return np.where(np.isnan(x), np.float32(np.nan), rounded.reshape(x.shape))


def numbers(vector: Array) -> tuple[int, ...]:
    """Return the elements of an integer vector, or of a scalar, as a tuple."""
    return tuple([int(v) for v in vector.reshape(-1)])


def nonzero(divisor: Array) -> None:
    """Raise a ZeroDivisionError where integers would be divided by zero."""
    if not is_float(divisor) and not np.all(divisor):
        raise ZeroDivisionError("an integer is divided by zero")


def quotient(x: Array, y: Array) -> Array:
    """Compute x / y in the type of `x`, rounded towards zero for integers."""
    if is_float(x):
        return (x / y).astype(x.dtype)
    nonzero(np.asarray(y))
    down = x // y
    inexact = down * y != x
    return (down + (inexact & ((x < 0) != (np.asarray(y) < 0)))).astype(x.dtype)


def per(total: Array, count: int) -> Array:
    """Divide `total` by a number of elements, rounded towards zero for integers."""
    wide = (
        "uint64" if total.dtype.kind in "bu" else "int64"
    )  # a narrow integer type may not represent the count
    return quotient(total, np.asarray(count, wide))


def limits(x: Array) -> tuple[Anything, Anything]:
    """Return the least and the greatest value of the element type of `x`."""
    if is_float(x):
        return -np.inf, np.inf
    return (0, 1) if x.dtype.kind == "b" else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)


def along(vector: Array, axis: int, rank: int) -> Array:
    """Reshape `vector` so that it broadcasts along `axis` of a tensor of that rank."""
    shape = [1] * rank
    shape[axis] = -1
    return vector.reshape(shape)
