"""`create_executor`: evaluate expressions and call a module's functions, from Python.

Programs run in the interpreter ("debug"), or are compiled as by `relay_explorer.build` if TVM is installed
(see `lower.evaluate`).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from ..execute.executor import Executor
from ..execute.interpreter import Interpreter
from ..ir.bind import bind_params_by_name
from ..ir.errors import RelayError
from ..ir.hooks import provide
from ..ir.module import IRModule
from .require import versions

KINDS = ("debug", "graph", "vm", "aot")
_announced: set[str] = set()


def create_executor(
    kind: str = "debug",
    mod: IRModule | None = None,
    device: object = None,
    target: object = "llvm",
    params: Mapping[str, object] | None = None,
) -> Executor:
    """Create an executor of `mod` (by default an empty module).

    `kind` is "debug", the interpreter; or "graph", "vm" (the virtual machine) or "aot", for which the program
    is optimized at the level of the current PassContext, and compiled. If TVM, which generates the code, is
    not installed, the virtual machine computes with NumPy, and "graph" and "aot" run the interpreter after a
    warning, which is given once. The device is ignored, and so is a `target` that this machine cannot run.
    `params` are bound to the parameters of `@main` by name.
    """
    if kind not in KINDS:
        raise RelayError(
            f"there is no executor called {kind!r:.60}", help=[f"there are {', '.join(map(repr, KINDS))}"]
        )
    if kind in ("graph", "aot") and kind not in _announced and (missing := _missing_compiler()):
        _announced.add(kind)
        warnings.warn(
            f'the executor "{kind}" cannot compile here, so it uses the interpreter ({missing})',
            stacklevel=2,
        )
    module = mod or IRModule()
    if params is not None:
        module = module.copy()
        module["main"] = bind_params_by_name(module["main"], params)
    return CompilingExecutor(kind, module, device, target)


provide("create_executor", create_executor)


class CompilingExecutor(Executor):
    """An executor that compiles, unless its kind is "debug" or TVM is not installed."""

    def interpreter(self) -> Interpreter:
        if self.kind == "debug" or _missing_compiler():
            return super().interpreter()
        from .evaluate import CompiledInterpreter

        return CompiledInterpreter(self.mod, self.kind, self.target)


def _missing_compiler() -> str:
    """Return the message about a missing requirement of compilation; "" if all are installed."""
    try:
        versions()
    except RelayError as problem:
        return problem.message
    return ""
