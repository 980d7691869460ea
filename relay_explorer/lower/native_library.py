"""A program compiled ahead of time, loaded into Python."""

from __future__ import annotations

import ctypes
import threading
import time
import weakref
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..execute.aot import NativeSource
from ..execute.aot.values import values_of, written
from ..execute.arguments import check_arguments, describe, fits
from ..execute.executor import in_order
from ..execute.interpreter import ExecutionError
from ..execute.results import to_result, to_value
from ..execute.values import Value
from ..ir.errors import RelayError
from ..ir.expr import Function, Var
from ..ir.module import IRModule
from ..ir.show import counted
from ..ir.types import TensorType

if TYPE_CHECKING:
    from numpy import ndarray as Array

ROOM = 1024  # numbers, which most results take


class NativeLibrary:
    """Runs a library's program. `live` is how many values it holds: none, between two runs."""

    def __init__(self, path: str, native: NativeSource, main: Function, module: IRModule) -> None:
        self.native, self.main, self.module = native, main, module
        self.lock = threading.Lock()
        library = ctypes.CDLL(path)

        def function(name: str, result: Any, *arguments: Any) -> Any:
            found = getattr(library, f"{native.prefix}_{name}")
            found.restype, found.argtypes = result, arguments
            return found

        pointer, number = ctypes.c_void_p, ctypes.c_int64
        self._new = function("new", pointer)
        self._end = function("end", None, pointer)
        self._error = function("error", ctypes.c_char_p, pointer)
        self._read = function("read", ctypes.c_int, pointer, pointer, number, pointer, number)
        self._write = function("write", number, pointer, pointer, number)
        self._call = function("call", ctypes.c_int, pointer, pointer, pointer)
        self._release = function("release", None, pointer, pointer)
        self._live = function("live", number, pointer)
        self._memory = function("memory", number, pointer)
        self._machine = self._new()
        weakref.finalize(self, self._end, self._machine)
        self._room = array("q", bytes(8 * ROOM))
        self._arguments = (ctypes.c_void_p * (len(native.arguments) + 1))()
        self._constructors = {
            native.tags[data.header.name_hint, constructor.name_hint]: constructor
            for data in module.type_definitions.values()
            for constructor in data.constructors
        }

    @property
    def live(self) -> int:
        return int(self._live(self._machine))

    @property
    def memory(self) -> int:
        """Bytes that the system gave for values."""
        return int(self._memory(self._machine))

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        numbers, alive = written(self.values(args, named), self.native.tags)
        with self.lock:
            found = self._run(numbers)
        del alive
        return _outside(found)

    def values(self, args: Sequence[Any], named: Mapping[str, Any]) -> list[Value]:
        """Arguments as the interpreter has them, of the parameters' types."""
        params = self.main.params
        given = in_order([p.name_hint for p in params], args, named)
        if len(given) != len(params):
            raise RelayError(
                f"the program takes {counted(len(params), 'argument')}, and is given {len(given)}"
            )
        values = [self._value(param, value) for param, value in zip(params, given)]
        typed = [Var(p.name_hint, p.checked_type, p.span) for p in params]
        check_arguments(typed, values, self.module)
        return values

    def _value(self, param: Var, value: Any) -> Value:
        """An argument as the interpreter has it; a tensor is of the parameter's type."""
        import numpy as np

        wanted = param.checked_type
        if not isinstance(wanted, TensorType):
            return to_value(value)
        if type(value) in (bool, int, float) and not wanted.shape:
            value = np.array(value, wanted.dtype)
        elif hasattr(value, "__dlpack__") and not isinstance(value, (np.ndarray, np.generic)):
            value = np.from_dlpack(value)
        found = to_value(value)
        if not hasattr(found, "dtype") or not fits(found, wanted):
            raise RelayError(
                f"the argument `%{param.name_hint}` must be `{wanted}`, and is {describe(found)}", param.span
            )
        return found

    def _run(self, numbers: array[int]) -> Value:
        with self._given(numbers):
            return self._once(self._result)

    def time(self, args: Sequence[Any], named: Mapping[str, Any], repeat: int) -> float:
        """The least seconds that a run takes, of `repeat`, without what brings values in and out."""
        numbers, alive = written(self.values(args, named), self.native.tags)
        seconds = []
        with self.lock, self._given(numbers):
            for _ in range(repeat + 1):
                start = time.perf_counter()
                self._once(lambda result: None)
                seconds.append(time.perf_counter() - start)
        del alive
        return min(seconds)

    @contextmanager
    def _given(self, numbers: array[int]) -> Iterator[None]:
        """The arguments as the program's own values, for as long as it takes."""
        start, length = numbers.buffer_info()
        count = len(self.native.arguments)
        if self._read(self._machine, start, length, self._arguments, count):
            raise self._problem()
        try:
            yield
        finally:
            for k in range(count):
                self._release(self._machine, self._arguments[k])

    def _once(self, use: Callable[[ctypes.c_void_p], Any]) -> Any:
        """Runs the program on the arguments, and gives what `use` makes of the result."""
        result = ctypes.c_void_p()
        if self._call(self._machine, self._arguments, ctypes.byref(result)):
            raise self._problem()
        try:
            return use(result)
        finally:
            self._release(self._machine, result)

    def _result(self, result: ctypes.c_void_p) -> Value:
        wanted = self._write(result, *self._room.buffer_info())
        if wanted > len(self._room):
            self._room = array("q", bytes(8 * wanted))
            wanted = self._write(result, *self._room.buffer_info())
        if wanted < 0:
            raise RelayError("there is no memory for the result")
        return values_of(self._room, self._constructors, _copied)

    def _problem(self) -> RelayError:
        text = self._error(self._machine).decode("utf-8", "replace")
        message, *rest = text.split("\n")
        help = [line.removeprefix("help: ") for line in rest if line.startswith("help: ")]
        notes = [line.removeprefix("note: ") for line in rest if line.startswith("note: ")]
        return ExecutionError(message, None, help=[*notes, *help])


_NAMES = {0: "int", 1: "uint", 2: "float", 6: "bool"}


def _copied(address: int, code: int, bits: int, shape: Sequence[int]) -> Array:
    """A copy of a tensor at an address. A bfloat16 comes as float32, as everywhere."""
    import numpy as np

    dtype = np.dtype("uint16" if code == 4 else "bool" if code == 6 else f"{_NAMES[code]}{bits}")
    made: Array = np.empty(tuple(shape), dtype)
    if made.nbytes:
        ctypes.memmove(made.ctypes.data, address, made.nbytes)
    if code == 4:
        return (made.astype("uint32") << 16).view("float32")
    return made


def _outside(value: Value) -> Any:
    """A result as the outside sees it: arrays, tuples of them, and what is made of constructors."""
    if isinstance(value, tuple):
        return tuple([_outside(part) for part in value])
    return value if hasattr(value, "dtype") else to_result(value, lambda found: found)
