"""Times each kernel call of a run, in the graph executor, in the virtual machine, and in programs that are
compiled ahead of time.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import singledispatch
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from ...analysis import call_cost
from ...execute.graph import Launch
from ...execute.vm.kernels import Kernel as Runs
from ...execute.vm.kernels import Shape, sized
from ...ir.errors import RelayError
from ...ir.ndarray import itemsize
from ..codegen import levels
from ..lowering import tensor_types
from ..runtime.executable import Executable, GraphExecutable
from ..runtime.kernel import Kernel
from ..runtime.virtual import ENTRY, InterpretedExecutable, VMExecutable, machine_of

if TYPE_CHECKING:
    from numpy import ndarray as Array

    from ..link.native import NativeExecutable

SECONDS = 5.0  # after so long no more runs start


class Timed(NamedTuple):
    """One call of a kernel: its index, its start and end in nanoseconds."""

    kernel: int
    start: int
    stop: int


class TimedGraph:
    """A program of the graph executor with its arguments. `kernels` are the kernels that it calls."""

    caller = "graph"

    def __init__(self, exe: GraphExecutable, args: Sequence[Any], named: dict[str, Any]) -> None:
        self.exe, self.executor, self.kernels = exe, exe.executor, list(exe.kernels)
        self._args, self._named = args, named
        self._numbers = [s.kernel if isinstance(s, Launch) else -1 for s in exe.program.steps]

    def __enter__(self) -> None:
        self.executor.lock.acquire()
        self.exe.bind(self._args, self._named)

    def __exit__(self, *problem: object) -> None:
        self.executor.lock.release()

    def run(self) -> None:
        """Run once without reading the clock."""
        self.executor.run()

    def clocked(self) -> list[Timed]:
        """Run once; return the kernel calls in order."""
        clock, calls, numbers, launches = time.perf_counter_ns, self.executor.calls, self._numbers, []
        at = 0
        while at < len(calls):
            if numbers[at] < 0:
                at = self.executor.step(at)
                continue
            run, arguments = calls[at]
            start = clock()
            run(*arguments)
            launches.append(Timed(numbers[at], start, clock()))
            at += 1
        return launches

    def cost(self, number: int) -> tuple[int, int]:
        """Return the operations of one call of a kernel, and the bytes of its arguments and results."""
        return self.kernels[number].flops, self.kernels[number].traffic


class _OfBytecode:
    """Counts the calls of the kernels of bytecode by the shapes of their tensors. `kernels` are the kernels
    that the bytecode calls; those that NumPy computes come last.
    """

    def __init__(self, exe: VMExecutable | NativeExecutable) -> None:
        self.kernels = list(exe.kernels)
        names = {kernel.name for kernel in self.kernels}
        self._numbers = []
        for code, kernel in zip(exe.program.kernels, exe.kernel_of):
            if kernel is None:
                name = code.name if code.name not in names else f"{code.name}_numpy_{len(self.kernels)}"
                kernel = Kernel(name, name, code.text, exe.target, {"host": True})
                self.kernels.append(kernel)
            self._numbers.append(self.kernels.index(kernel))
        self._functions = [code.function for code in exe.program.kernels]
        self._sizes: list[Counter[tuple[Shape, ...]]] = [Counter() for _ in self._numbers]

    def cost(self, number: int) -> tuple[int, int]:
        """Return the operations of a call of a kernel, and the bytes of its arguments and results, averaged
        over its calls, because their tensor sizes may differ.
        """
        calls = flops = traffic = 0
        for at, sizes in enumerate(self._sizes):
            if self._numbers[at] != number:
                continue
            for shapes, times in sizes.items():
                one = _cost(self._functions[at], shapes)
                calls, flops, traffic = calls + times, flops + times * one[0], traffic + times * one[1]
        return (round(flops / calls), round(traffic / calls)) if calls else (0, 0)


class TimedMachine(_OfBytecode):
    """A program of the virtual machine with values for its parameters."""

    caller = "vm"

    def __init__(self, exe: VMExecutable, args: Sequence[Any], named: dict[str, Any]) -> None:
        super().__init__(exe)
        self._values = exe.values(args, named)
        self._entry, self._plain = ENTRY, exe.machine
        self._log: list[Timed] = []
        self._machine = machine_of(exe.program, exe.kernel_of, self._watched)

    def __enter__(self) -> None:
        """Do nothing: every run has its own registers."""

    def __exit__(self, *problem: object) -> None:
        """Do nothing: there is nothing to release."""

    def _watched(self, number: int, kernel: Runs) -> Runs:
        return _Watched(kernel, self._numbers[number], self._log, self._sizes[number])

    def run(self) -> None:
        """Run once without reading the clock."""
        self._plain.call(self._entry, self._values)

    def clocked(self) -> list[Timed]:
        """Run once; return the kernel calls in order."""
        self._log.clear()
        self._machine.call(self._entry, self._values)
        return list(self._log)


class TimedNative(_OfBytecode):
    """A program that is compiled ahead of time, with its arguments. It is loaded twice: as it is, and
    compiled with the clock (see clock.c).
    """

    caller = "aot"

    def __init__(self, exe: NativeExecutable, args: Sequence[Any], named: dict[str, Any]) -> None:
        super().__init__(exe)
        self._exe, self._args, self._named = exe, args, named
        self._types = [_tensors(function) for function in self._functions]
        self._open = ExitStack()
        self._plain: Callable[[], float]
        self._clocked: Callable[[], float]

    def __enter__(self) -> None:
        with ExitStack() as opened:
            libraries = self._exe.library, self._exe.clocked
            self._plain, self._clocked = [
                opened.enter_context(library.given(self._args, self._named)) for library in libraries
            ]
            self._open = opened.pop_all()

    def __exit__(self, *problem: object) -> None:
        self._open.close()

    def run(self) -> None:
        """Run once without reading the clock."""
        self._plain()

    def clocked(self) -> list[Timed]:
        """Run once; return the kernel calls in order."""
        self._clocked()
        launches = []
        log = iter(self._exe.clocked.calls())
        for number in log:
            launches.append(Timed(self._numbers[number], next(log), next(log)))
            count = next(log)
            shapes = tuple([tuple([next(log) for _ in range(next(log))]) for _ in range(count)])
            self._sizes[number][shapes or self._types[number]] += 1
        return launches


def _tensors(function: Any) -> tuple[Shape, ...]:
    """Return the shapes of a kernel's arguments and results if all are static; otherwise an empty tuple."""
    parts = [*function.params, function.body]
    types = [t for part in parts for t in tensor_types(part.checked_type)]
    return tuple([t.concrete_shape for t in types]) if all(t.is_static for t in types) else ()


class _Watched:
    """Wraps a kernel of the virtual machine to record its calls, and the shapes of their tensors."""

    def __init__(
        self, kernel: Runs, number: int, log: list[Timed], sizes: Counter[tuple[Shape, ...]]
    ) -> None:
        self._kernel, self._number, self._log, self._sizes = kernel, number, log, sizes
        self.shapes = kernel.shapes

    def run(self, *tensors: Array) -> None:
        start = time.perf_counter_ns()
        self._kernel.run(*tensors)
        self._log.append(Timed(self._number, start, time.perf_counter_ns()))
        self._sizes[tuple([tensor.shape for tensor in tensors])] += 1

    def compute(self, arguments: Sequence[Any]) -> list[Any]:
        start = time.perf_counter_ns()
        results = self._kernel.compute(arguments)
        self._log.append(Timed(self._number, start, time.perf_counter_ns()))
        self._sizes[tuple([getattr(value, "shape", ()) for value in (*arguments, *results)])] += 1
        return results


def _cost(function: Any, shapes: tuple[Shape, ...]) -> tuple[int, int]:
    """Return the operations and bytes of a kernel whose arguments and results have these shapes; zeros if it
    takes anything but tensors, or if its operators reject the shapes.
    """
    typed = sized(function, shapes)
    if typed is None:
        return 0, 0
    inputs = [t for p in typed.params for t in tensor_types(p.checked_type)]
    results = tensor_types(typed.body.checked_type)
    traffic = 0
    for type_, shape in zip((*inputs, *results), shapes):
        traffic += itemsize(type_.dtype) * prod(shape)
    return sum(call_cost(call).flops for call in levels.calls(typed)), traffic


Program = TimedGraph | TimedMachine | TimedNative


@singledispatch
def timed(exe: Executable, args: Sequence[Any], named: dict[str, Any] | None = None) -> Program:
    """Prepare a program with arguments for timing each kernel call. Each kind of executable registers an
    implementation, which raises a RelayError if the program cannot be timed.
    """
    raise NotImplementedError(type(exe).__name__)


@timed.register(GraphExecutable)
def _graph(exe: GraphExecutable, args: Sequence[Any], named: dict[str, Any] | None = None) -> Program:
    return TimedGraph(exe, args, named or {})


@timed.register(VMExecutable)
def _machine(exe: VMExecutable, args: Sequence[Any], named: dict[str, Any] | None = None) -> Program:
    return TimedMachine(exe, args, named or {})


@timed.register(InterpretedExecutable)
def _interpreted(exe: VMExecutable, args: Sequence[Any], named: dict[str, Any] | None = None) -> Program:
    raise RelayError(
        "the interpreter runs this program, so it has no kernels to measure",
        help=['build it without executor="interpreter"'],
    )


def fastest(program: Program, runs: int, least: int = 1) -> tuple[int, list[Timed], int]:
    """Return the number of runs, at most `runs`; the calls of the fastest run; and the minimum nanoseconds of
    a run without timing the calls. Raise a RelayError for a run with fewer than `least` calls.
    """
    clock = time.perf_counter_ns
    best: list[Timed] = []
    whole, count = 0, 0
    with program:
        program.run()
        program.clocked()  # warm up: libraries are loaded at the first run
        end = time.perf_counter() + SECONDS
        while count < runs and (count < 3 or time.perf_counter() < end):
            calls = program.clocked()
            if len(calls) < least:
                raise RelayError("the run calls no kernel, so there is nothing to measure")
            if not best or _span(calls) < _span(best):
                best = calls
            start = clock()
            program.run()
            took = clock() - start
            whole = min(whole, took) if whole else took
            count += 1
    return count, best, whole


def _span(calls: Sequence[Timed]) -> int:
    return calls[-1].stop - calls[0].start if calls else 0
