"""Values as Python code outside the interpreter holds them, and their conversion to and from the
interpreter's.

Tensors are NDArrays, tuples Python tuples. Constructed values and cells wrap the interpreter's own, so that
data of any depth are converted in one step, and a cell stays the same cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.adt import Constructor
from ..ir.errors import RelayError
from ..ir.expr import Constant, to_ndarray
from ..ir.ndarray import NDArray
from ..ir.op import Op
from . import values
from .values import Value, show

MAX_TUPLE_DEPTH = 100

FromFunction = Callable[[Value], Any]  # returns a function's form outside the interpreter


class Wrapper:
    """An object outside the interpreter that stands for one of its values, `inner`."""

    __slots__ = ("from_function", "inner")
    inner: Any
    from_function: FromFunction

    @classmethod
    def around(cls, inner: Any, from_function: FromFunction) -> Any:
        """Wrap a value of the interpreter."""
        self = cls.__new__(cls)
        self.inner, self.from_function = inner, from_function
        return self

    def __repr__(self) -> str:
        return show(self.inner)


def as_it_is(value: Value) -> Any:
    """Return a function unchanged: the `from_function` of values that no program created."""
    return value


class ConstructorValue(Wrapper):
    """A value that `constructor`, number `tag` of its type, built from `fields`."""

    __slots__ = ()

    def __init__(self, tag: int, fields: Sequence[object], constructor: Constructor) -> None:
        if tag != constructor.tag:
            raise RelayError(f"the tag of `{constructor.name_hint}` is {constructor.tag}, not {tag}")
        self.from_function = as_it_is
        self.inner = values.ConstructorValue(constructor, [to_value(field) for field in fields])

    @property
    def constructor(self) -> Constructor:
        constructor: Constructor = self.inner.constructor
        return constructor

    @property
    def tag(self) -> int:
        """The constructor's number within its type."""
        return self.constructor.tag

    @property
    def fields(self) -> tuple[Any, ...]:
        return tuple([to_result(field, self.from_function) for field in self.inner.fields])


class RefValue(Wrapper):
    """A mutable cell, which the program and Python code share: each sees what the other writes."""

    __slots__ = ()

    def __init__(self, value: object) -> None:
        self.from_function = as_it_is
        self.inner = values.RefValue(to_value(value))

    @property
    def value(self) -> Any:
        """The current content of the cell."""
        return to_result(self.inner.value, self.from_function)

    @value.setter
    def value(self, value: object) -> None:
        self.inner.value = to_value(value)


def to_value(argument: Any, depth: int = 0) -> Value:
    """Convert `argument` to the interpreter's value: an NDArray, a NumPy array, a number (int32, float32 or
    bool), a Constant, a tuple or list (both tuples), a ConstructorValue or RefValue, or a function that was a
    result. Raise a RelayError for anything else.
    """
    import numpy

    if isinstance(argument, (tuple, list)):
        if depth >= MAX_TUPLE_DEPTH:
            raise RelayError(f"an argument has tuples nested deeper than {MAX_TUPLE_DEPTH} levels")
        return tuple([to_value(part, depth + 1) for part in argument])
    if isinstance(argument, (values.ConstructorValue, values.RefValue, values.Closure)):
        return argument
    if isinstance(argument, numpy.ndarray):
        plain = type(argument) is numpy.ndarray and argument.dtype.isnative
        return argument if plain else _plain_array(argument)
    if isinstance(argument, Wrapper):
        return argument.inner
    try:
        array = _array(argument)
    except Exception as problem:  # an object of another library may raise anything
        raise _no_value(argument, problem) from None
    array.flags.writeable = False
    return array


def _plain_array(array: Any) -> Any:
    """Convert NumPy's other kinds of array, such as a matrix, which multiplies differently, and arrays in the
    other byte order.
    """
    import numpy

    if numpy.ma.is_masked(array):
        raise RelayError(
            "an argument is a masked array with missing values",
            help=["replace them by a value: array.filled(0)"],
        )
    array = array.view(numpy.ndarray)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


GREATEST = 3.4028235677973366e38  # the least float that would be infinite as a float32
_PLAIN = {bool: "bool", int: "int32", float: "float32"}


def _array(argument: Any) -> Any:
    import numpy

    if type(argument) is int and not -(2**31) <= argument < 2**31:
        raise ValueError(f"is an integer of {argument.bit_length()} bits, too large for an int32")
    if type(argument) is float and GREATEST <= abs(argument) < float("inf"):
        raise ValueError(f"is {argument:.1e}, too large for a float32")
    if type(argument) in _PLAIN:
        return numpy.array(argument, _PLAIN[type(argument)])
    data = argument.data if isinstance(argument, Constant) else argument
    return (data if isinstance(data, NDArray) else to_ndarray(data)).numpy()


def _no_value(argument: Any, problem: Exception) -> RelayError:
    if type(argument) in _PLAIN:
        return RelayError(
            f"an argument {problem}", help=["a NumPy scalar has a type of its own: numpy.int64(…)"]
        )
    remedy = "tensors are NumPy arrays, NDArrays or numbers; tuples are tuples of them"
    if argument is None:
        remedy = "None is not a value: an empty list is `Nil`, and an optional value needs a constructor"
    return RelayError(f"a {type(argument).__name__} cannot be an argument of a Relay function", help=[remedy])


def to_result(value: Value, from_function: FromFunction) -> Any:
    """Convert a value of the interpreter to the public result."""
    if isinstance(value, tuple):
        return tuple([to_result(part, from_function) for part in value])
    if isinstance(value, values.ConstructorValue):
        return ConstructorValue.around(value, from_function)
    if isinstance(value, values.RefValue):
        return RefValue.around(value, from_function)
    if isinstance(value, (values.Closure, Constructor, Op)):
        return from_function(value)
    return NDArray.from_numpy(value)
