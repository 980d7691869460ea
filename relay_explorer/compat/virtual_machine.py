"""`relay.vm.compile` and `tvm.runtime.vm.VirtualMachine`: bytecode for this package's virtual machine, and
kernels in machine code, which TVM generates. Where TVM is not installed, NumPy computes the kernels.

    exe = relay.vm.compile(mod, target="llvm", params=params)
    vm = tvm.runtime.vm.VirtualMachine(exe, tvm.cpu())
    vm.invoke("main", image)
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..execute.vm import VMProgram, compile_program, program_text
from ..ir.errors import RelayError
from ..ir.expr import Function, Var
from ..ir.module import IRModule
from ..ir.types import TensorType, Type
from ..lower.executor import CompilingExecutor
from ..transform import PassContext, optimize
from .arrays import DeviceArray, array
from .build import Factory
from .compiling import built, check_given, compiler_is_here, say_once, typed_module
from .graph_module import flat
from .libraries import Library

if TYPE_CHECKING:
    from ..lower.runtime.executable import Executable as Built


class Executable:
    """A program for the virtual machine: `compiled`, or only `ir_mod` where nothing can be compiled."""

    def __init__(self, ir_mod: IRModule | None, target: Any = None, compiled: Built | None = None) -> None:
        self.ir_mod = ir_mod
        self.target = target
        self.opt_level = PassContext.current().opt_level
        self.compiled = compiled

    @property
    def globals(self) -> list[str]:
        """The names of the functions."""
        return (
            [*self.program.functions] if self.ir_mod is None else [v.name_hint for v in self.ir_mod.functions]
        )

    global_vars = globals

    @cached_property
    def program(self) -> VMProgram:
        """The bytecode program of `@main`."""
        if self.compiled is not None:
            program: VMProgram = self.compiled.program  # type: ignore[assignment]  # the virtual machine's
            return program
        assert self.ir_mod is not None
        return compile_program(self.ir_mod, opt_level=self.opt_level)

    @property
    def bytecode(self) -> str:
        """The program as text."""
        return program_text(self.program)

    @property
    def primitive_ops(self) -> list[str]:
        """The names of the kernels."""
        return [kernel.name for kernel in self.program.kernels]

    @property
    def stats(self) -> str:
        """The numbers of functions, instructions, constants and kernels, as text."""
        program = self.program
        code = sum(len(function.code) for function in program.functions.values())
        return (
            f"{len(program.functions)} functions of {code} instructions, {len(program.constants)} constants, "
            f"{len(program.kernels)} kernels"
        )

    def get_function_params(self, func_name: str) -> list[str]:
        """Return the names of a function's parameters."""
        if func_name not in self.program.functions:
            raise RelayError(f"the program has no function `@{func_name:.60}`")
        return list(self.program.functions[func_name].params)

    @property
    def lib(self) -> Library:
        """The kernels."""
        return Library(Factory(self._compiled("a library"), {}, "default", {}))

    def save(self) -> tuple[bytearray, Library]:
        """Return the program as bytes, and its kernels as a library. The bytes contain the kernels too."""
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "program"
            self._compiled("machine code to save").save(path)
            return bytearray(path.read_bytes()), self.lib

    def _compiled(self, what: str) -> Built:
        if self.compiled is None:
            from ..lower.require import INSTALL

            raise RelayError(f"there is no {what}: NumPy computes the kernels here", help=[INSTALL])
        return self.compiled

    @staticmethod
    def load_exec(bytecode: bytes | bytearray, lib: object = None) -> Executable:
        """Load the program from the bytes that `save` returned. They contain machine code: load only what you
        trust.
        """
        from ..lower.saving import load

        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "program"
            path.write_bytes(bytecode)
            return Executable(None, compiled=load(path))


def compile(
    mod: IRModule | Function,
    target: Any = None,
    target_host: Any = None,
    params: Mapping[str, Any] | None = None,
) -> Executable:
    """Compile a module, with the optimization level of the current PassContext; `params` are bound to the
    parameters of `@main` by name.
    """
    if not compiler_is_here():
        say_once(
            "relay.vm.compile",
            "compiles to bytecode whose kernels NumPy computes, because TVM is not installed",
        )
        return Executable(typed_module(mod, params))
    module = typed_module(mod, params)
    return Executable(module, target, built("relay.vm.compile", module, target, executor="vm"))


class VMCompiler:
    """Splits `compile` into the steps of old code: `lower`, `codegen`, `get_exec`."""

    def __init__(self) -> None:
        self._params: dict[str, Any] = {}
        self._given: tuple[IRModule | Function, Any] | None = None

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Set values for parameters of `@main`, by name; set before `lower`, they become part of the
        program.
        """
        self._params = dict(params)

    def get_params(self) -> dict[str, Any]:
        return self._params

    def lower(self, mod: IRModule | Function, target: Any = None, target_host: Any = None) -> None:
        """Set the program to compile."""
        check_given(mod, None)
        self._given = mod, target

    def optimize(
        self,
        mod: IRModule | Function,
        target: Any = None,
        target_host: Any = None,
        params: Mapping[str, Any] | None = None,
    ) -> tuple[IRModule, dict[str, Any]]:
        """Optimize a module for the virtual machine, `params` bound as constants; return it with the
        parameters that it still takes by name, which are none.
        """
        module = typed_module(mod, {**self._params, **(params or {})})
        return optimize(module, target)

    def codegen(self) -> None:
        """Do nothing: `get_exec` compiles."""

    def get_exec(self) -> Executable:
        """Return the compiled program."""
        if self._given is None:
            raise RelayError("there is no program yet", help=["give one: compiler.lower(mod, target)"])
        return compile(*self._given, params=self._params)


class VirtualMachine:
    """Runs the functions of an executable."""

    def __init__(self, exe: Executable, device: Any = None, memory_cfg: Any = None) -> None:
        if isinstance(exe, Factory):
            exe = Executable(None, compiled=exe.program)
        self.executable = exe
        self._inputs: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {}
        self._outputs: Any = None
        self._functions: dict[str, Any] = {}

    @property
    def module(self) -> IRModule | None:
        return self.executable.ir_mod

    def invoke(self, func_name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a function; without arguments, on those that `set_input` and `set_one_input` stored."""
        if func_name not in self._functions:
            self._functions[func_name] = self._function(func_name)
        if not args and not kwargs and func_name in self._inputs:
            args, kwargs = self._inputs[func_name]
        elif kwargs and not args:  # as in TVM, names that the function does not have are ignored
            names = self.executable.get_function_params(func_name)
            kwargs = {name: value for name, value in kwargs.items() if name in names}
        self._outputs = self._functions[func_name](*args, **kwargs)
        return self._outputs

    def invoke_with_outputs(
        self, func_name: str, input_args: Mapping[str, Any], output_args: Sequence[DeviceArray]
    ) -> None:
        """Call a function on named arguments and copy the tensors of its result into `output_args`."""
        self.invoke(func_name, **input_args)
        outputs = self.get_outputs()
        if len(outputs) != len(output_args):
            raise RelayError(
                f"`@{func_name:.60}` returns {len(outputs)} tensors, but there are arrays for "
                f"{len(output_args)}"
            )
        for array_, output in zip(output_args, outputs):
            array_.copyfrom(output)

    def _function(self, name: str) -> Any:
        exe = self.executable
        if exe.ir_mod is not None:
            var = exe.ir_mod.get_global_var(name)
            if name != "main" or exe.compiled is None:
                return CompilingExecutor("vm", exe.ir_mod, target=exe.target).evaluate(var)
            return _Function(exe.compiled, exe.ir_mod[var].params)
        if name != "main":
            raise RelayError(f"only `@main` of a loaded program can be called, not `@{name:.60}`")
        return _Function(exe._compiled("program"))

    def set_input(self, func_name: str, *args: Any, **kwargs: Any) -> None:
        """Store the arguments of the next calls of a function."""
        if func_name not in self.executable.globals:
            self._function(func_name)  # raises the error that names the problem
        self._inputs[func_name] = (args, kwargs)

    def set_one_input(self, func_name: str, *args: Any, **kwargs: Any) -> None:
        """Store one argument of the next calls: `(name or index, value)`, or `name=value`."""
        if len(args) + 2 * len(kwargs) != 2:
            raise RelayError("set_one_input takes one input: its name or number and a value, or name=value")
        names = self.executable.get_function_params(func_name)
        ((key, value),) = kwargs.items() if kwargs else [args]
        name = names[key] if isinstance(key, int) and 0 <= key < len(names) else key
        if name not in names:
            raise RelayError(
                f"`@{func_name:.60}` has no input {key!r:.60}", help=[f"its inputs are {', '.join(names)}"]
            )
        stored, named = self._inputs.get(func_name, ((), {}))
        self._inputs[func_name] = ((), {**dict(zip(names, stored)), **named, name: value})

    def get_input_index(self, input_name: str, func_name: str = "main") -> int:
        """Return the index of a function's parameter; -1 where it has none of that name."""
        names = self.executable.get_function_params(func_name)
        return names.index(input_name) if input_name in names else -1

    def invoke_stateful(self, func_name: str = "main", *args: Any, **kwargs: Any) -> None:
        """Call a function on these arguments, or on those that were stored; `get_outputs` has the result."""
        self.invoke(func_name, *args, **kwargs)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result of `@main`, for these arguments or those that were set."""
        if args or kwargs or "main" not in self._inputs:
            return self.invoke("main", *args, **kwargs)
        self.invoke_stateful("main")
        return self._outputs

    def get_outputs(self) -> list[Any]:
        """Return the tensors of the last result."""
        return list(flat(self._outputs))

    def benchmark(self, device: Any = None, *args: Any, func_name: str = "main", **options: Any) -> Any:
        """Measure `@main`; see `GraphModule.benchmark`."""
        from .graph_module import Times

        exe = self.executable._compiled("machine code to measure")
        number, repeat = int(options.pop("number", 5)), int(options.pop("repeat", 5))
        inputs = {name: v for name, v in options.items() if name in [i.name for i in exe.inputs]}
        return Times([exe.time(*args, repeat=number, **inputs) for _ in range(repeat)])


class _Function:
    """Calls `@main` of a compiled program for old code: results are arrays of `tvm.nd`.

    `params` are its parameters if they are known. TVM's virtual machine did not compare the shapes of
    arguments with theirs, so old code leaves out axes of extent 1, or adds some.
    """

    def __init__(self, exe: Built, params: Sequence[Var] = ()) -> None:
        self.exe = exe
        self.types = [param.type_annotation for param in params]

    def __call__(self, *args: Any, **named: Any) -> Any:
        missing = len(args) - len(self.types)
        fitting = [_fitting(arg, type_) for arg, type_ in zip(args, [*self.types, *[None] * missing])]
        return _arrays(self.exe(*fitting, **named))


def _fitting(value: Any, type_: Type | None) -> Any:
    """Return an argument with the shape that a parameter has if they differ in axes of extent 1 alone."""
    shape = getattr(value, "shape", None)
    if not isinstance(type_, TensorType) or not type_.is_static or not isinstance(shape, tuple):
        return value
    expected = type_.concrete_shape
    if shape == expected or [n for n in shape if n != 1] != [n for n in expected if n != 1]:
        return value
    import numpy

    return numpy.asarray(value).reshape(expected)


def _arrays(value: Any) -> Any:
    """Convert the NumPy arrays of a result to arrays of `tvm.nd`. Tuples nest a few levels."""
    if isinstance(value, tuple):
        return tuple([_arrays(part) for part in value])
    return array(value) if hasattr(value, "dtype") else value


__all__ = ["Executable", "VMCompiler", "VirtualMachine", "compile"]
