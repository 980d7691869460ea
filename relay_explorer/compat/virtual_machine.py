"""`relay.vm.compile` and `tvm.runtime.vm.VirtualMachine`: bytecode for this package's virtual machine, which
computes kernels with NumPy here, and says so. `relay_explorer.build(mod, executor="vm")` has them compiled.

exe = relay.vm.compile(mod, target="llvm", params=params)
vm = tvm.runtime.vm.VirtualMachine(exe, tvm.cpu())
vm.invoke("main", image)
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ..execute.executor import Executor
from ..execute.vm import VMProgram, compile_program, program_text
from ..ir.errors import RelayError
from ..ir.expr import Function
from ..ir.module import IRModule
from ..transform.infrastructure import PassContext
from .build import _flat, say_once, typed_module


class Executable:
    """A checked module, and its bytecode."""

    def __init__(self, module: IRModule) -> None:
        self.ir_mod = module
        self.opt_level = PassContext.current().opt_level

    @property
    def globals(self) -> list[str]:
        """The names of the functions."""
        return [var.name_hint for var in self.ir_mod.functions]

    @cached_property
    def program(self) -> VMProgram:
        """What the machine runs for `@main`."""
        return compile_program(self.ir_mod, opt_level=self.opt_level)

    @property
    def bytecode(self) -> str:
        """The program as text."""
        return program_text(self.program)

    @property
    def primitive_ops(self) -> list[str]:
        """The names of the kernels."""
        return [kernel.name for kernel in self.program.kernels]

    def save(self) -> None:
        raise RelayError(
            "there is no machine code to save: kernels are computed with NumPy here",
            help=[
                'relay_explorer.build(mod, params=params, executor="vm").save(path) saves code and kernels'
            ],
        )


def compile(
    mod: IRModule | Function,
    target: Any = None,
    target_host: Any = None,
    params: Mapping[str, Any] | None = None,
) -> Executable:
    """Checks a module; `params` are bound to the parameters of `@main` by name."""
    say_once(
        "relay.vm.compile",
        'makes bytecode whose kernels NumPy computes; relay_explorer.build(mod, executor="vm") compiles them',
    )
    return Executable(typed_module(mod, params))


class VirtualMachine:
    """Runs the functions of an executable."""

    def __init__(self, exe: Executable, device: Any = None, memory_cfg: Any = None) -> None:
        self.module = exe.ir_mod
        self._inputs: dict[str, tuple[list[Any], dict[str, Any]]] = {}
        self._outputs: Any = None
        self._functions: dict[str, Any] = {}

    def invoke(self, func_name: str, *args: Any, **kwargs: Any) -> Any:
        """The value of a function."""
        if func_name not in self._functions:
            var = self.module.get_global_var(func_name)
            self._functions[func_name] = Executor("vm", self.module).evaluate(var)
        self._outputs = self._functions[func_name](*args, **kwargs)
        return self._outputs

    def set_input(self, func_name: str, *args: Any, **kwargs: Any) -> None:
        """Keeps arguments for the next `invoke_stateful`, or `run`."""
        self.module.get_global_var(func_name)
        self._inputs[func_name] = (list(args), kwargs)

    def invoke_stateful(self, func_name: str = "main") -> None:
        """Runs a function on the arguments that were set."""
        args, kwargs = self._inputs.get(func_name, ([], {}))
        self.invoke(func_name, *args, **kwargs)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """The value of `@main`, for these arguments or those that were set."""
        if args or kwargs or "main" not in self._inputs:
            return self.invoke("main", *args, **kwargs)
        self.invoke_stateful("main")
        return self._outputs

    def get_outputs(self) -> list[Any]:
        """The tensors of the last result."""
        return list(_flat(self._outputs))


__all__ = ["Executable", "VirtualMachine", "compile"]
