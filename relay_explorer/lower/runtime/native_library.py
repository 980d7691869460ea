"""Loads programs that were compiled ahead of time into Python, and runs them."""

from __future__ import annotations

import _ctypes
import ctypes
import threading
import time
import weakref
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...execute.aot import NativeSource
from ...execute.aot.argument_writer import ArgumentWriter, UnusualError
from ...execute.aot.values import numpy_type, values_of, widened, written
from ...execute.arguments import check_arguments, fits
from ...execute.executor import FunctionValue
from ...execute.graph import Input
from ...execute.interpreter import ExecutionError, Interpreter
from ...execute.results import to_result, to_value
from ...execute.tensor_arguments import by_dlpack, of_number, refused, whole
from ...execute.values import Value
from ...ir.errors import Note, RelayError
from ...ir.expr import Function, Var
from ...ir.module import IRModule
from ...ir.show import counted
from ...ir.types import GlobalTypeVar, RefType, TensorType, TupleType, TypeCall
from .executable import all_in_order
from .native_functions import NativeClosure, OutsideFunctions, WrappedFunction

if TYPE_CHECKING:
    from numpy import ndarray as Array

RESULT_CAPACITY = 1024  # integers, enough for most results


class NativeLibrary:
    """Runs a library's program. `live` is the number of values that the program holds. Between two runs it is
    0, except for functions that were returned and are still alive.
    """

    def __init__(self, path: str, native: NativeSource, main: Function, module: IRModule) -> None:
        self.native, self.main, self.module = native, main, module
        self.lock = threading.RLock()  # a function from outside may call one of the program
        try:
            library = ctypes.CDLL(path)
        except OSError as problem:
            raise RelayError(
                f"the program's library cannot be loaded: {problem}",
                help=[
                    "if programs in the folder for temporary files cannot be executed, "
                    "set TMPDIR to another one"
                ],
            ) from None

        def function(name: str, result: Any, *arguments: Any) -> Any:
            symbol = getattr(library, f"{native.prefix}_{name}")
            symbol.restype, symbol.argtypes = result, arguments
            return symbol

        pointer, number = ctypes.c_void_p, ctypes.c_int64
        self._new = function("new", pointer)
        self._end = function("end", None, pointer)
        self._error = function("error", ctypes.c_char_p, pointer)
        self._read = function("read", ctypes.c_int, pointer, pointer, number, pointer, number)
        self._go = function("go", number, pointer, pointer, pointer, number, pointer, number)
        self._held = function("held", number, pointer, pointer, number)
        self._let_go = function("let_go", None, pointer)
        self._call = function("call", ctypes.c_int, pointer, pointer, pointer)
        self._release = function("release", None, pointer, pointer)
        self._keep = function("keep", pointer, pointer)
        self._write = function("write", number, pointer, pointer, number)
        self._arity = function("arity", ctypes.c_int, pointer)
        self._live = function("live", number, pointer)
        self._memory = function("memory", number, pointer)
        self._clocked = function("clocked", number, pointer, pointer, number)
        self._machine = self._new()
        self._outside = OutsideFunctions(self, library)
        # Not at the end of the process, because another thread may be running the program then.
        weakref.finalize(self, _closed, library, self._end, self._machine).atexit = False
        self.released: list[int] = []  # addresses of values to release after the current or next run
        self._room = array("q", bytes(8 * RESULT_CAPACITY))
        self._arguments = (ctypes.c_void_p * (len(native.arguments) + 1))()
        types = [param.checked_type for param in main.params]
        self._inputs = [Input(p.name_hint, None, str(t)) for p, t in zip(main.params, types)]
        self._writer = ArgumentWriter(types, module, native.tags)
        self._constructors = {
            native.tags[data.header.name_hint, constructor.name_hint]: constructor
            for data in module.type_definitions.values()
            for constructor in data.constructors
        }

    @property
    def live(self) -> int:
        with self.lock:
            self._release_all()
            return int(self._live(self._machine))

    @property
    def memory(self) -> int:
        """The bytes that the program has allocated for values."""
        return int(self._memory(self._machine))

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        with self.lock:
            numbers, alive = self._written(args, named)
            result = self._run(numbers)
        del alive
        return result if type(result) is self._writer.array_type else self._shown(result)

    def apply(self, function: int, arguments: Sequence[Value]) -> Value:
        """Call one of the program's functions, at an address, and return its value."""
        count = int(self._arity(function))
        if len(arguments) != count:
            raise ExecutionError(f"the function expects {counted(count, 'argument')}, got {len(arguments)}")
        with self.lock:
            numbers, alive = self.numbers(arguments)
            result = self._run(numbers, function)
        del alive
        return result

    def _written(self, args: Sequence[Any], named: Mapping[str, Any]) -> tuple[bytes, list[Any]]:
        """Encode the arguments as integers: directly if they are obviously valid, otherwise after checking
        them.
        """
        if not named:
            try:
                return self._writer.write(args)
            except UnusualError:
                pass
        return self.numbers(self.values(args, named))

    def numbers(self, values: Sequence[Value]) -> tuple[bytes, list[Any]]:
        """Encode values as integers. The Python functions among them are released once they have been
        read.
        """
        addresses: list[int] = []
        try:
            return written(values, self.native.tags, lambda function: self._handle(function, addresses))
        finally:
            self.released += addresses

    def _handle(self, function: Value, addresses: list[int]) -> int:
        """Return the address of the program's value for a function."""
        if isinstance(function, NativeClosure) and function.library is self:
            return function.address
        addresses.append(self._outside.made(self._machine, function))
        return addresses[-1]

    def values(self, args: Sequence[Any], named: Mapping[str, Any]) -> list[Value]:
        """Convert arguments to values of the interpreter, and check that they have the parameters' types."""
        params = self.main.params
        arguments = all_in_order(self._inputs, args, named)
        values = [self._value(param, value) for param, value in zip(params, arguments)]
        typed = [Var(p.name_hint, p.checked_type, p.span) for p in params]
        check_arguments(typed, values, self.module)
        return values

    def _value(self, param: Var, value: Any) -> Value:
        """Convert an argument to a value of the interpreter; a tensor takes the parameter's type."""
        type_ = param.checked_type
        if not isinstance(type_, TensorType):
            result = WrappedFunction(value) if isinstance(value, FunctionValue) else to_value(value)
            if hasattr(result, "dtype") and isinstance(type_, (TupleType, RefType, TypeCall, GlobalTypeVar)):
                raise refused(param.name_hint, type_, result, param.span)
            return result
        if not type_.shape:
            value = of_number(value, type_.dtype)
        result = to_value(by_dlpack(value, param.name_hint))
        if not hasattr(result, "dtype") or not fits(result, type_):
            raise refused(param.name_hint, type_, result, param.span)
        return result

    def _run(self, numbers: bytes, function: int | None = None) -> Value:
        """Run the program, or one of its functions, on encoded arguments, and return its value."""
        room = self._room
        count = self._go(self._machine, function, numbers, len(numbers) // 8, *room.buffer_info())
        if self.released:
            self._release_all()
        if not count:
            raise self.problem()
        try:
            if count > len(room):
                self._room = room = array("q", bytes(8 * count))
                self._held(self._machine, *room.buffer_info())
            return values_of(room, 1, self._constructors, _copied, self._function)
        finally:
            if room[0]:
                self._let_go(self._machine)

    def _function(self, address: int) -> NativeClosure:
        """Return a Python callable for a function that a run returned."""
        return NativeClosure(self, int(self._keep(address)), int(self._arity(address)))

    def _release_all(self) -> None:
        while self.released:
            self._release(self._machine, self.released.pop())

    def value_at(self, address: int) -> Value:
        """Read a value that the program holds."""
        room = array("q", bytes(8 * RESULT_CAPACITY))
        count = self._write(address, *room.buffer_info())
        if count > len(room):
            room = array("q", bytes(8 * count))
            self._write(address, *room.buffer_info())
        return values_of(room, 0, self._constructors, _copied, self._function)

    def read_at(self, value: Value, place: int) -> int:
        """Create a value of the program, and store it at an address. Return nonzero if memory ran out."""
        numbers, alive = self.numbers([value])
        wrong = int(self._read(self._machine, numbers, len(numbers) // 8, place, 1))
        self._release_all()
        del alive
        return wrong

    def _shown(self, value: Value) -> Any:
        """Convert a result to Python: arrays, tuples, constructor values, functions."""
        if isinstance(value, tuple):
            return tuple([self._shown(part) for part in value])
        if hasattr(value, "dtype"):
            return value
        interpreter = Interpreter(self.module)
        return to_result(value, lambda closure: FunctionValue(interpreter, closure))

    def time(self, args: Sequence[Any], named: Mapping[str, Any], repeat: int) -> float:
        """Return the seconds of the fastest of `repeat` runs, without the conversion of arguments and
        results.
        """
        repeat = whole(repeat, "repeat")
        with self.given(args, named) as run:
            return min(run() for _ in range(repeat + 1))

    @contextmanager
    def given(self, args: Sequence[Any], named: Mapping[str, Any]) -> Iterator[Callable[[], float]]:
        """Yield a function that runs the program on arguments, which are converted once, and returns the
        seconds that it took. The program is locked meanwhile.
        """
        clock, call, machine, arguments = time.perf_counter, self._call, self._machine, self._arguments
        count, result = len(self.native.arguments), ctypes.c_void_p()
        place = ctypes.byref(result)

        def run() -> float:
            begin = clock()
            failed = call(machine, arguments, place)
            took = clock() - begin
            if failed:
                raise self.problem()
            self._release(machine, result)
            return took

        with self.lock:
            numbers, alive = self._written(args, named)
            if self._read(machine, numbers, len(numbers) // 8, arguments, count):
                raise self.problem()
            try:
                yield run
            finally:
                for k in range(count):
                    self._release(machine, arguments[k])
                del alive

    def calls(self) -> array[int]:
        """Return the calls of kernels since the last call of this method, encoded as integers (see clock.c).
        There are none unless the library was built with the clock.
        """
        log = array("q", bytes(8 * max(0, self._clocked(self._machine, None, 0))))
        if self._clocked(self._machine, log.buffer_info()[0], len(log)) < 0:
            raise MemoryError("out of memory for the log of kernel calls")
        return log

    def problem(self) -> BaseException:
        if (problem := self._outside.raised()) is not None:
            return problem
        text = self._error(self._machine).decode("utf-8", "replace")
        message, *rest = text.split("\n")
        help = [line.removeprefix("help: ") for line in rest if line.startswith("help: ")]
        notes = [line.removeprefix("note: ") for line in rest if line.startswith("note: ")]
        return ExecutionError(message, None, [Note(note) for note in notes], help)


def _closed(library: ctypes.CDLL, end: Callable[[int], None], machine: int) -> None:
    """Free everything that a program holds, and unload its library."""
    end(machine)
    _ctypes.dlclose(library._handle)


def _copied(address: int, code: int, bits: int, shape: tuple[int, ...]) -> Array:
    """Copy the tensor at an address."""
    import numpy as np

    result: Array = np.empty(shape, numpy_type(code, bits))
    ctypes.memmove(result.ctypes.data, address, result.nbytes)
    return widened(result, code)
