"""Compiles programs for this machine; `create_executor` uses it for "graph", "vm" and "aot".

It replaces the interpreter. A function whose types are all known is built as a whole, as
`relay_explorer.build` does; other expressions run in the virtual machine, with compiled kernels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..execute.results import as_it_is, to_result, to_value
from ..execute.values import Closure, ForeignClosure, Value
from ..execute.vm import Machine, VMProgram
from ..execute.vm.executor import VMInterpreter
from ..ir.expr import Expr, Function, GlobalVar, Var
from ..ir.module import IRModule
from ..ir.types import is_complete
from ..ir.walk import free_type_vars, post_order
from ..transform.infrastructure import PassContext
from .build import build
from .kernels import Progress, make_kernels
from .link.bytecode import UnlinkedBytecode
from .prepare import prepared
from .runtime.executable import Executable
from .runtime.virtual import VMExecutable, machine_of
from .targets.target import Target


class BuiltClosure(ForeignClosure):
    """A function that was built as a whole."""

    __slots__ = ("exe",)

    def __init__(self, exe: Executable) -> None:
        self.exe = exe
        self.captured = []

    @property
    def parameters(self) -> list[str]:
        return [param.name for param in self.exe.inputs]

    def call(self, args: Sequence[Value]) -> Value:
        return to_value(self.exe(*[to_result(arg, as_it_is) for arg in args]))


class CompiledInterpreter(VMInterpreter):
    """Evaluates expressions in a module by compiling them for `target`. `kind` is that of `create_executor`:
    with "graph", functions that only compute tensors run in planned memory, the rest in the virtual machine.
    """

    def __init__(self, module: IRModule, kind: str, target: object = None) -> None:
        super().__init__(module, self._machine)
        self.kind = kind
        self.target = here(target)

    def _machine(self, program: VMProgram) -> Machine:
        unlinked = UnlinkedBytecode(program, self.target)
        kernels = make_kernels(unlinked.functions, self.target, Progress(quiet=True))
        return machine_of(program, unlinked.table(kernels))

    def prepared(self, module: IRModule, entry: str) -> IRModule:
        return prepared(module, self.target, _level(), entry)

    def call(self, function: Function | str | Closure, args: Sequence[Value]) -> Value:
        if isinstance(function, str):
            function = self.evaluate(self.module.get_global_var(function))
        if isinstance(function, BuiltClosure):
            return function.call(args)
        return super().call(function, args)

    def evaluate(self, expr: Expr, values: Mapping[Var, Value] | None = None) -> Value:
        module = None if values else self._whole(expr)
        if module is None:
            return super().evaluate(expr, values)
        executor = None if self.kind == "graph" else self.kind
        exe = build(module, self.target, opt_level=_level(), executor=executor, quiet=True)
        return exe.machine.closure("main") if type(exe) is VMExecutable else BuiltClosure(exe)

    def _whole(self, expr: Expr) -> IRModule | None:
        """Return the module with `expr` as its `@main` if that is a function whose types are all known;
        otherwise None.
        """
        if isinstance(expr, GlobalVar):
            name = self.module.get_global_var(expr.name_hint).name_hint
            if name != "main":
                return None
            expr = self.module[name]
        if not isinstance(expr, Function) or expr.type_params:
            return None
        types = [param.type_annotation for param in expr.params]
        if any(t is None or not is_complete(t) or free_type_vars(t) for t in types):
            return None
        if "main" in self.module and self.module["main"] is expr:
            return self.module
        if "main" in self.module and _reaches_main(expr, self.module):
            return None
        module = self.module.copy()
        module["main"] = expr
        return module


def _reaches_main(expr: Expr, module: IRModule) -> bool:
    """Whether an expression calls `@main`, directly or not."""
    visited: set[str] = set()
    pending: list[Expr] = [expr]
    while pending:
        for node in post_order(pending.pop()):
            if isinstance(node, GlobalVar) and node.name_hint not in visited and node in module:
                visited.add(node.name_hint)
                pending.append(module[node])
    return "main" in visited


def _level() -> int:
    """Return the optimization level of the current context, at most 4 as in TVM."""
    return min(4, max(0, PassContext.current().opt_level))


def here(target: object) -> Target:
    """Return the target that is passed to `create_executor` if this machine can run it; otherwise its CPU."""
    text = str(target or "cpu")
    if text.partition(" ")[0] in ("cpu", "llvm", "cuda"):
        result = Target.of(target or "cpu")
        if result.runs_here:
            return result
    return Target.of("cpu")
