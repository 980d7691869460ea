"""Compiled programs for the virtual machine: bytecode, and kernels of machine code."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...execute.arguments import check_arguments, fits
from ...execute.executor import FunctionValue
from ...execute.graph import Input
from ...execute.interpreter import Interpreter
from ...execute.results import to_result, to_value
from ...execute.tensor_arguments import by_dlpack, of_number, refused
from ...execute.values import Value
from ...execute.vm import Machine, VMFunction, VMProgram
from ...execute.vm.executor import VMInterpreter
from ...execute.vm.kernels import Kernel as Runs
from ...execute.vm.kernels import NumPyKernel
from ...ir.errors import RelayError
from ...ir.expr import Function, Var
from ...ir.module import IRModule
from ...ir.show import counted
from ...ir.types import FuncType, GlobalTypeVar, RefType, TensorType, TupleType, Type, TypeCall
from ...text import parse_expr
from ..targets.target import Target
from .arrays import aligned_copy, tensor_of
from .executable import Executable, all_in_order
from .kernel import Kernel
from .machine_memory import KernelMemory

if TYPE_CHECKING:
    from numpy import ndarray as Array


ENTRY = "main"


class VMExecutable(Executable):
    """A program for the virtual machine, which also runs programs with control flow, data types, closures, or
    dynamic sizes.

    Arguments may also be tuples, lists and trees. The result is a NumPy array, a tuple, a constructed value
    with `.constructor` and `.fields`, a reference cell, or a function. `program` is the bytecode, which can
    be printed. `kernel_of` lists the kernels by their indices in the bytecode; None where NumPy computes.
    """

    program: VMProgram

    def __init__(
        self,
        program: VMProgram,
        kernels: Sequence[Kernel | None],
        target: Target,
        mod: IRModule | None = None,
    ) -> None:
        super().__init__(list(dict.fromkeys(k for k in kernels if k is not None)), target, mod)
        self.program = program
        self.kernel_of = list(kernels)
        self._machine: Machine | None = None
        main = program.functions[ENTRY]
        self._inputs = [Input(name, None, type_) for name, type_ in zip(main.params, main.types)]
        self._params = parameters(program)
        self._types = types_of(program)

    @property
    def inputs(self) -> list[Input]:
        return list(self._inputs)

    @property
    def machine(self) -> Machine:
        """The machine that runs the bytecode, created at the first run."""
        if self._machine is None:
            self._machine = machine_of(self.program, self.kernel_of)
        return self._machine

    def _called(self, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        return self._result(self.machine.call(ENTRY, self.values(args, named)))

    def values(self, args: Sequence[Any], named: Mapping[str, Any]) -> list[Value]:
        """Convert arguments to values of the virtual machine."""
        arguments = all_in_order(self._inputs, args, named)
        values = [_value(argument, param) for argument, param in zip(arguments, self._params)]
        check_arguments(self._params, values, self._types)
        return values

    def _result(self, value: Value) -> Any:
        if isinstance(value, tuple):
            return tuple([self._result(part) for part in value])
        if hasattr(value, "dtype"):
            return value.copy()
        return to_result(value, lambda closure: FunctionValue(VMInterpreter(self._types), closure))

    def _least(self, args: Sequence[Any], named: Mapping[str, Any], repeat: int) -> float:
        values, seconds = self.values(args, named), []
        for _ in range(repeat + 1):
            start = time.perf_counter()
            self.machine.call(ENTRY, values)
            seconds.append(time.perf_counter() - start)
        return min(seconds)

    def __repr__(self) -> str:
        code = sum(len(function.code) for function in self.program.functions.values())
        return (
            f"<program for the virtual machine on {self.target}: ({self._takes}); "
            f"{counted(len(self.program.functions), 'function')} of {counted(code, 'instruction')}, "
            f"{counted(len(self.program.kernels), 'kernel')}, built in {self.seconds:.1f} s>"
        )


def machine_of(
    program: VMProgram,
    kernels: Sequence[Kernel | None],
    watched: Callable[[int, Runs], Runs] = lambda _, kernel: kernel,
) -> Machine:
    """Build the machine that runs bytecode with compiled kernels; NumPy computes those that are None.
    `watched` takes the index and the implementation of each kernel, and may wrap it.
    """
    if any(kernel is not None and kernel.target.kind == "cuda" for kernel in kernels):
        return _machine_on_device(program, kernels, watched)
    memory = KernelMemory()
    runs: list[Runs] = [
        NumPyKernel(code)
        if kernel is None or kernel.on_host
        else CompiledKernel(kernel, NumPyKernel(code), memory)
        for code, kernel in zip(program.kernels, kernels)
    ]
    runs = [watched(number, kernel) for number, kernel in enumerate(runs)]
    constants = [memory.constant(data.numpy()) for data in program.constants]
    return Machine(program, runs, memory=memory, constants=constants)


def _machine_on_device(
    program: VMProgram, kernels: Sequence[Kernel | None], watched: Callable[[int, Runs], Runs]
) -> Machine:
    """Build the machine for a GPU, in whose memory the tensors stay."""
    from ..require import tvm
    from .device_memory import DeviceKernel, DeviceMemory, HostKernel

    memory = DeviceMemory(tvm().cuda(0))
    runs: list[Runs] = [
        HostKernel(code) if kernel is None or kernel.on_host else DeviceKernel(kernel, code, memory)
        for code, kernel in zip(program.kernels, kernels)
    ]
    runs = [watched(number, kernel) for number, kernel in enumerate(runs)]
    constants = [memory.own(data.numpy()) for data in program.constants]
    return Machine(program, runs, memory=memory, constants=constants)


class CompiledKernel:
    """A compiled kernel, as the virtual machine calls it. Its NumPy reference implementation computes the
    shapes of results, and results in new memory.
    """

    def __init__(self, kernel: Kernel, meaning: NumPyKernel, memory: KernelMemory) -> None:
        self.kernel = kernel
        self.shapes = meaning.shapes  # uses the type relations, so inconsistent sizes are an error
        self.compute = meaning.compute
        self._given, self._known = memory.given, memory.known
        self._run: Any = None
        types = [t.dtype for t in (*kernel.input_types, *kernel.output_types)]
        self._reads = len(kernel.input_types)
        self._narrow = types if "bfloat16" in types else None

    def run(self, *arrays: Array) -> None:
        if self._run is None:
            self._run = self.kernel.run
        if self._narrow is not None:
            self._run_narrow(arrays, self._narrow)
            return
        to_tensor, cached = self._given, self._known.get
        self._run(*[to_tensor(a) if (tensor := cached(id(a))) is None else tensor for a in arrays])

    def _run_narrow(self, arrays: Sequence[Array], dtypes: Sequence[str]) -> None:
        """Run with bfloat16 tensors, which the virtual machine, like NumPy, stores as float32."""
        own = [aligned_copy(array, dtype) for array, dtype in zip(arrays, dtypes)]
        self._run(*map(tensor_of, own))
        for array, result in zip(arrays[self._reads :], own[self._reads :]):
            array[...] = result


def parameters(program: VMProgram) -> list[Var]:
    """Return the parameters of `@main`; those whose types cannot be parsed have no type annotation."""
    main, types = program.functions[ENTRY], types_of(program)
    return [Var(name, parsed_type(text, types)) for name, text in zip(main.params, main.types)]


def parsed_type(text: str, types: IRModule | None = None) -> Type | None:
    """Parse a type; return None if the text is not enough, as for a type variable. `types` contains the data
    types that it may refer to.
    """
    try:
        header = parse_expr(f"fn (%x: {text}) {{ () }}", init_module=types)
    except RelayError:
        return None
    assert isinstance(header, Function)
    return header.params[0].type_annotation


def types_of(program: VMProgram) -> IRModule:
    """Return a module with the data types of a program."""
    return IRModule({}, {data.header: data for data in program.types})


def _value(argument: Any, param: Var) -> Value:
    """Convert an argument to a value of the virtual machine. A Python number takes the parameter's element
    type. Raise a RelayError if the value does not fit the parameter's type.
    """
    type_ = param.type_annotation
    if isinstance(type_, TensorType) and not type_.shape:
        argument = of_number(argument, type_.dtype)
    value = to_value(by_dlpack(argument, param.name_hint))
    tensor = hasattr(value, "dtype")
    if (isinstance(type_, TensorType) and not (tensor and fits(value, type_))) or (
        tensor and isinstance(type_, (TupleType, FuncType, RefType, TypeCall, GlobalTypeVar))
    ):
        raise refused(param.name_hint, type_, value)
    return value


class InterpretedExecutable(VMExecutable):
    """A program that is not compiled: the interpreter runs it as it was written, with the same checks of its
    arguments. `program` contains only the signature of `@main`.
    """

    def __init__(self, module: IRModule, target: Target) -> None:
        main = module[ENTRY]
        types = [str(part.checked_type) for part in (*main.params, main.body)]
        head = VMFunction(ENTRY, tuple([p.name_hint for p in main.params]), tuple(types), 0, 0, ())
        super().__init__(VMProgram({ENTRY: head}, types=tuple(module.type_definitions.values())), [], target)
        self.mod = module
        self._interpreter = Interpreter(module)

    @property
    def machine(self) -> Interpreter:  # type: ignore[override]  # it is called as the machine is
        """The interpreter that runs the program."""
        return self._interpreter

    def save(self, path: object) -> None:
        raise RelayError(
            "there is nothing compiled to save: the interpreter runs this program",
            help=["save its text: open(path, 'w').write(exe.mod.astext())"],
        )

    def __repr__(self) -> str:
        return f"<program for the interpreter: ({self._takes})>"
