"""`relay.vm.compile` and `tvm.runtime.vm.VirtualMachine`: they run the interpreter, and say so.

exe = relay.vm.compile(mod, target="llvm", params=params)
vm = tvm.runtime.vm.VirtualMachine(exe, tvm.cpu())
vm.invoke("main", image)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..execute.executor import Executor
from ..ir.errors import RelayError
from ..ir.expr import Function
from ..ir.module import IRModule
from .build import _flat, say_once, typed_module


class Executable:
    """A checked module."""

    def __init__(self, module: IRModule) -> None:
        self.ir_mod = module

    @property
    def globals(self) -> list[str]:
        """The names of the functions."""
        return [var.name_hint for var in self.ir_mod.functions]

    def save(self) -> None:
        raise RelayError(
            "there is no code to save: programs are interpreted here",
            help=["save the program: open(path, 'w').write(mod.astext())"],
        )


def compile(
    mod: IRModule | Function,
    target: Any = None,
    target_host: Any = None,
    params: Mapping[str, Any] | None = None,
) -> Executable:
    """Checks a module; `params` are bound to the parameters of `@main` by name."""
    say_once("relay.vm.compile")
    return Executable(typed_module(mod, params))


class VirtualMachine:
    """Runs the functions of an executable."""

    def __init__(self, exe: Executable, device: Any = None, memory_cfg: Any = None) -> None:
        self.module = exe.ir_mod
        self._inputs: dict[str, tuple[list[Any], dict[str, Any]]] = {}
        self._outputs: Any = None

    def invoke(self, func_name: str, *args: Any, **kwargs: Any) -> Any:
        """The value of a function."""
        function = Executor("vm", self.module).evaluate(self.module.get_global_var(func_name))
        self._outputs = function(*args, **kwargs)
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
