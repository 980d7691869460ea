"""Functions as arguments and results of native programs: Python callables for functions that a program
returns, and values of the program for Python functions that are passed to it.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from ...execute.executor import FunctionValue
from ...execute.interpreter import Interpreter
from ...execute.values import Closure, ForeignClosure, Value
from ...ir.adt import Constructor
from ...ir.expr import Call, Var
from ...ir.op import Op

if TYPE_CHECKING:
    from .native_library import NativeLibrary

_Code = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p
)
_Done = ctypes.CFUNCTYPE(None, ctypes.c_size_t)


class NativeClosure(ForeignClosure):
    """A function of a native program, at an address. It is a reference that keeps the function alive."""

    __slots__ = ("__weakref__", "address", "arity", "library")

    def __init__(self, library: NativeLibrary, address: int, arity: int) -> None:
        self.library, self.address, self.arity = library, address, arity
        self.captured = []
        # The machine may be running when this object dies, so its next caller releases the function.
        weakref.finalize(self, library.released.append, address)

    @property
    def parameters(self) -> list[str]:
        return [f"x{k}" for k in range(self.arity)]

    def call(self, args: Sequence[Value]) -> Value:
        return self.library.apply(self.address, args)


class WrappedFunction(ForeignClosure):
    """A function from outside the program, together with the interpreter that runs it."""

    __slots__ = ("interpreter", "of")

    def __init__(self, value: FunctionValue) -> None:
        self.of, self.interpreter = value.inner, value.interpreter
        self.captured = []

    @property
    def parameters(self) -> list[str]:
        return _parameters(self.of)

    def call(self, args: Sequence[Value]) -> Value:
        return called(self.of, args, self.interpreter)


def _parameters(function: Value) -> list[str]:
    if isinstance(function, Closure):
        return function.parameters
    return [f"x{k}" for k in range(len(function.inputs or ()))]


def called(function: Value, args: Sequence[Value], interpreter: Interpreter) -> Value:
    """Call a function of any kind, and return its value."""
    if isinstance(function, Closure):
        return interpreter.call(function, args)
    assert isinstance(function, (Op, Constructor))
    params = [Var(f"x{k}") for k in range(len(args))]
    return Interpreter().evaluate(Call(function, params), dict(zip(params, args)))


class OutsideFunctions:
    """The Python functions that a program refers to, by number."""

    def __init__(self, library: NativeLibrary, loaded: Any) -> None:
        self._library = weakref.ref(library)
        self._functions: dict[int, Value] = {}
        self._numbers = count(1)
        self._raised: BaseException | None = None
        self._code, self._done = _Code(self._call), _Done(self._forget)
        prefix = library.native.prefix
        self._make = getattr(loaded, f"{prefix}_function")
        self._make.restype = ctypes.c_void_p
        self._make.argtypes = (ctypes.c_void_p, ctypes.c_int, _Code, _Done, ctypes.c_size_t)
        self._fail = getattr(loaded, f"{prefix}_fail")
        self._fail.restype, self._fail.argtypes = ctypes.c_int, (ctypes.c_void_p, ctypes.c_char_p)

    def made(self, machine: int, function: Value) -> int:
        """Create a value of the program that represents a function, and return its address."""
        number = next(self._numbers)
        address = self._make(machine, len(_parameters(function)), self._code, self._done, number)
        if not address:
            library = self._library()
            assert library is not None
            raise library.problem()
        self._functions[number] = function
        return int(address)

    def raised(self) -> BaseException | None:
        """Return the exception that a function has raised since the last call of this method."""
        exception, self._raised = self._raised, None
        return exception

    def _forget(self, number: int) -> None:
        self._functions.pop(number, None)

    def _call(self, number: int, machine: int, arguments: Any, result: int) -> int:
        """Run a function that the program calls. An error ends the run, and is raised again by the caller of
        the run.
        """
        library, function = self._library(), self._functions[number]
        assert library is not None
        try:
            values = [library.value_at(arguments[k]) for k in range(len(_parameters(function)))]
            return library.read_at(called(function, values, Interpreter(library.module)), result)
        except BaseException as problem:
            self._raised = problem
            return int(self._fail(machine, b"an external function raised an error"))
