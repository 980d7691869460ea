"""Evaluate expressions with the virtual machine, through the interpreter's interface, which executors use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...ir.errors import TypeInferenceError
from ...ir.expr import Expr, Function, GlobalVar, Var
from ...ir.module import IRModule
from ...transform.infrastructure import PassContext
from ...transform.remove_unused_functions import RemoveUnusedFunctions
from ..interpreter import Interpreter
from ..values import Closure, Value
from .bytecode import VMProgram
from .compiler import compile_module
from .machine import Machine, VMClosure
from .prepare import prepared


class VMInterpreter(Interpreter):
    """Evaluates expressions in a module by compiling them to bytecode. `make` creates the machine for a
    program; by default, NumPy computes the kernels.
    """

    def __init__(
        self, module: IRModule | None = None, make: Callable[[VMProgram], Machine] | None = None
    ) -> None:
        super().__init__(module)
        self.make = make or Machine
        self.machines: dict[str, Machine] = {}

    def call(self, function: Function | str | Closure, args: Sequence[Value]) -> Value:
        """Call a function (or the global function of that name) with `args`."""
        if isinstance(function, str):
            return self.machine(function).call(function, args)
        callee = self.evaluate(function) if isinstance(function, Function) else function
        if isinstance(callee, VMClosure):
            return callee.code.machine.call(callee, args)
        return super().call(callee, args)

    def machine(self, name: str) -> Machine:
        """Return the machine that runs a function of the module; it is created on first use."""
        name = self.module.get_global_var(name).name_hint
        if name not in self.machines:
            self.machines[name] = self.make(compile_module(self._prepared(self.module, name)))
        return self.machines[name]

    def evaluate(self, expr: Expr, values: Mapping[Var, Value] | None = None) -> Value:
        """Evaluate an expression whose free variables have `values`."""
        if isinstance(expr, GlobalVar):
            return self.machine(expr.name_hint).closure(self.module.get_global_var(expr.name_hint).name_hint)
        bindings = dict(values or {})
        module = self.module.copy()
        name = "expression"
        while name in module:
            name += "_"
        whole = isinstance(expr, Function) and not bindings
        module[name] = expr if whole else Function(list(bindings), expr)
        machine = self.make(compile_module(self._prepared(module, name, bool(bindings))))
        return machine.closure(name) if whole else machine.call(name, list(bindings.values()))

    def prepared(self, module: IRModule, entry: str) -> IRModule:
        """Optimize and fuse the module for one of its functions."""
        return prepared(module, PassContext.current().opt_level, entry)

    def _prepared(self, module: IRModule, entry: str, open: bool = False) -> IRModule:
        """Prepare the module for one of its functions. If it is `open`, the types of its parameters may be
        unknown; then it is compiled without optimization, operator by operator.
        """
        try:
            return self.prepared(module, entry)
        except TypeInferenceError:
            if open:
                return RemoveUnusedFunctions((entry,))(module)
            raise
