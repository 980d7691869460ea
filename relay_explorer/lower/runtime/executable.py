"""Compiled programs, which can be run, saved, loaded and inspected."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...execute.executor import in_order
from ...execute.graph import GraphProgram, Input
from ...execute.graph_executor import GraphExecutor
from ...execute.graph_values import arrays_of
from ...execute.interpreter import used_up
from ...execute.tensor_arguments import whole
from ...execute.vm import VMProgram
from ...ir.errors import RelayError
from ...ir.module import IRModule
from ...ir.show import counted
from ..targets.target import Target
from . import fork as forked
from .arrays import aligned, is_aligned, tensor_of
from .kernel import Kernel
from .services import service

if TYPE_CHECKING:
    from numpy import ndarray as Array

    from ..profiling.measurement import Measurement
    from ..profiling.profile import Profile


class Executable:
    """A compiled program, the result of `relay_explorer.build`. There is one subclass per executor.

        exe(x, y)           passes arguments in the order of the parameters, or
        exe.run(x=…, y=…)   by name: NumPy arrays, numbers, or objects that export their memory by DLPack

    The result is a new NumPy array, a tuple of arrays, or another value that the subclass describes.
    `kernels` are the program's kernels, `target` is their target, `mod` the optimized program (None if it was
    loaded from a file), `text` the same as text, `program` the program of the executor, and `seconds` the
    build time.
    """

    program: GraphProgram | VMProgram
    _text = ""  # the text of a program that was loaded

    def __init__(self, kernels: Sequence[Kernel], target: Target, mod: IRModule | None = None) -> None:
        self.kernels = list(kernels)
        self.target = target
        self.mod = mod
        self.seconds = 0.0

    @property
    def inputs(self) -> list[Input]:
        """The parameters: names, types as text, and for the graph executor the indices of their tensors."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """The optimized program as Relay text: calls of kernels, each printed in full at its first call."""
        return self._text if self.mod is None else str(self.mod)

    # -- running it

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """Run the program. Raise a RelayError for arguments of the wrong number, shape or type.

        A large array that kernels can read in place is not copied; others are.
        """
        if not forked.here():
            return forked.elsewhere(self, args, named)
        try:
            return self._called(args, named)
        except MemoryError as problem:  # NumPy's, for a copy of an argument or a result
            raise used_up(0, problem) from None

    def run(self, /, **named: Any) -> Any:
        """Run the program on arguments by name."""
        return self(**named)

    def time(self, *args: Any, repeat: int = 10, **named: Any) -> float:
        """Return the seconds of the fastest of `repeat` runs; the arguments are converted once, before the
        first.
        """
        if not forked.here():
            return float(forked.elsewhere(self.time, args, {"repeat": repeat, **named}))
        times = whole(repeat, "repeat")
        try:
            return self._least(args, named, times)
        except MemoryError as problem:
            raise used_up(0, problem) from None

    def profile(self, *args: Any, repeat: int = 10, **named: Any) -> Profile:
        """Run the program `repeat` times, after one warm-up run, and return the time of each kernel call: of
        the fastest run, or for the graph executor the minimum of each call.
        """
        times = whole(repeat, "repeat")
        try:
            result: Profile = service("profile")(self, args, named, times)
            return result
        except MemoryError as problem:
            raise used_up(0, problem) from None

    def measure(self, *args: Any, program: str = "program", runs: int = 200) -> Measurement:
        """Measure each kernel launch of a run, and the peak performance of this machine. The lowering
        explorer shows the result as a roofline and a timeline; saved as a file, it can be shown on any
        machine. Without arguments, the program runs on random values.
        """
        measurement: Measurement = service("measure")(self, args, program, runs)
        return measurement

    def save(self, path: object) -> None:
        """Save the program to one file, which `load` reads. It contains the libraries of the kernels, the
        constants, and the executor's program.
        """
        service("save")(self, path)

    # -- for subclasses

    def _called(self, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Run the program, on a thread that may run kernels, and return its result."""
        raise NotImplementedError

    def _least(self, args: Sequence[Any], named: Mapping[str, Any], repeat: int) -> float:
        """Return the seconds of the fastest of `repeat` runs, after one warm-up run."""
        raise NotImplementedError

    @property
    def _takes(self) -> str:
        """The first parameters, for a one-line description."""
        takes = ", ".join(f"%{param.name}: {param.type}" for param in self.inputs[:4])
        return takes + (", …" if len(self.inputs) > 4 else "")


def all_in_order(inputs: Sequence[Input], args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """Return positional and named arguments in the order of a program's parameters. Raise a RelayError unless
    there is one for each.
    """
    values = in_order([param.name for param in inputs], args, named) if named else list(args)
    if len(values) != len(inputs):
        shown = ", ".join(f"`%{param.name}: {param.type}`" for param in inputs[:6])
        more = f" and {len(inputs) - 6} more" if len(inputs) > 6 else ""
        raise RelayError(
            f"the program expects {counted(len(inputs), 'argument')}, got {len(values)}",
            help=[f"they are {shown}{more}"] if inputs else [],
        )
    return values


class GraphExecutable(Executable):
    """A program that only computes tensors, for the graph executor. `program` contains the order of its steps
    and the plan of its memory; `constants` maps the indices of constant tensors to their values.
    """

    program: GraphProgram

    def __init__(
        self,
        program: GraphProgram,
        kernels: Sequence[Kernel],
        constants: Mapping[int, Array],
        target: Target,
        mod: IRModule | None = None,
    ) -> None:
        super().__init__(kernels, target, mod)
        self.program = program
        self.constants = dict(constants)
        self._executor: GraphExecutor | None = None

    @property
    def inputs(self) -> list[Input]:
        return list(self.program.inputs)

    @property
    def executor(self) -> GraphExecutor:
        """The executor of the kernels, created at the first run."""
        if self._executor is None:
            try:
                self._executor = self._new_executor()
            except (MemoryError, ValueError) as problem:  # NumPy raises either
                raise RelayError(
                    f"the program's tensors need {_mega(self.program.arena)}, which cannot be allocated",
                    help=["give it smaller inputs, or fewer at a time"],
                ) from problem
        return self._executor

    def _new_executor(self) -> GraphExecutor:
        if self.target.kind == "cuda":
            from ..require import tvm
            from .device_executor import DeviceExecutor

            return DeviceExecutor(self.program, self.kernels, self.constants, tvm().cuda(0))
        return GraphExecutor(
            self.program, [kernel.run for kernel in self.kernels], self.constants,
            aligned=aligned, is_aligned=is_aligned, tensor=tensor_of,
        )  # fmt: skip

    def _called(self, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        executor = self.executor
        with executor.lock:
            self.bind(args, named)
            executor.run()
            return executor.result()

    def bind(self, args: Sequence[Any], named: Mapping[str, Any]) -> None:
        """Set the parameters to the values of a call. The caller holds the executor's lock."""
        for param, value in zip(self.program.inputs, all_in_order(self.program.inputs, args, named)):
            for number, array in arrays_of(param, value, self.program.slots):
                self.executor.bind(number, array)

    def written(self, step: int, args: Sequence[Any]) -> list[Array]:
        """Return the arrays that the kernel call with index `step` writes when a program without branches
        runs on `args`.
        """
        with self.executor.lock:
            self.bind(args, {})
            return self.executor.written(step)

    def _least(self, args: Sequence[Any], named: Mapping[str, Any], repeat: int) -> float:
        with self.executor.lock:
            self.bind(args, named)
            return min(_clocked(self.executor.run) for _ in range(repeat + 1))

    def __repr__(self) -> str:
        launches = sum(kernel.uses for kernel in self.kernels)
        cached = sum(kernel.cached for kernel in self.kernels)
        weights = sum(array.nbytes for array in self.constants.values())
        return (
            f"<program for {self.target}: ({self._takes}); {counted(launches, 'kernel call')} of "
            f"{counted(len(self.kernels), 'kernel')} ({cached} from the cache), "
            f"{_mega(self.program.arena)} of memory, {_mega(weights)} of constants, "
            f"built in {self.seconds:.1f} s>"
        )


def _mega(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} KB"


def _clocked(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
