"""`relay_explorer.build`: compiles a program to an executable."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ..execute.vm import compile_module
from ..ir.errors import RelayError
from ..ir.expr import Expr
from ..ir.module import IRModule
from ..typing import infer_types
from .codegen.compile_kernel import SEARCH
from .kernels import Progress, make_kernels
from .link import Unlinked
from .link.bytecode import UnlinkedBytecode
from .link.graph import UnlinkedGraph
from .link.native import NativeExecutable, UnlinkedNative
from .passes.invariant import with_constants_in
from .prepare import planned, prepared, with_params
from .runtime.executable import Executable
from .runtime.virtual import InterpretedExecutable
from .targets.target import Target
from .targets.toolchain import toolchain

EXECUTORS = ("graph", "vm", "aot", "interpreter")


def build(
    mod: IRModule | Expr,
    target: object = "cpu",
    params: Mapping[str, Any] | None = None,
    opt_level: int = 3,
    *,
    executor: str | None = None,
    name: str = "program",
    quiet: bool = False,
    search: bool = False,
) -> Executable:
    """Compile `@main` of a module, or a function: prepare it, lower its operators to kernels, and link them.

    `executor` selects what runs the kernels: "graph", for programs that only compute tensors, in memory that
    is planned beforehand; or "vm", the virtual machine, which runs every program. The default is the first of
    the two that can run the program. "aot" generates C and a library that needs no Python (see
    `link.native`); the names of its interface begin with `name`. "interpreter" compiles nothing: it
    interprets the program as it was written.

    `target` is "cpu" (this machine), "arm64" or a board's name, "cuda", a TVM target as a dictionary, or a
    target string of the form that older TVM code uses. `params` maps parameters of `@main`, by name, to
    values, which become constants of the program. `opt_level`, 0 to 4, is the optimization level of the
    passes; from level 3 on they choose layouts for the target.

    With `search`, several tilings of each kernel are timed on this machine, and the fastest is used. Without
    it, the tiling is computed, so two builds give the same result.

    Kernels are compiled in parallel and cached on disk (see `lower.cache`), so that a second build is fast.
    Progress is shown on the standard error, unless `quiet` or RELAY_EXPLORER_QUIET is set.
    """
    if not isinstance(opt_level, int) or opt_level not in range(5):
        raise RelayError(f"the optimization level must be 0 to 4, not {opt_level!r:.40}")
    start = time.perf_counter()
    where = Target.of(target)
    if executor not in (None, *EXECUTORS):
        raise RelayError(
            f"there is no executor {executor!r:.40}", help=[f"there are {', '.join(map(repr, EXECUTORS))}"]
        )
    if executor == "interpreter":
        return InterpretedExecutable(infer_types(with_params(mod, params)), where)
    if executor == "aot":
        toolchain(where)  # a missing tool is reported before the work begins
    module = prepared(with_constants_in(with_params(mod, params)), where, opt_level)
    program = _unlinked(module, where, executor, opt_level, name)
    kernels = make_kernels(program.functions, where, Progress(quiet), SEARCH if search else None)
    exe = program.link(kernels)
    exe.seconds = time.perf_counter() - start
    return exe


def build_native(
    mod: IRModule | Expr,
    target: object = "cpu",
    params: Mapping[str, Any] | None = None,
    opt_level: int = 3,
    *,
    name: str = "program",
    quiet: bool = False,
    search: bool = False,
) -> NativeExecutable:
    """Compile a module ahead of time, with all its functions, data types, closures and recursion.

    The names of the C interface begin with `name`. Raise a RelayError if a tool is missing, or if a part of
    the program can run only in Python: a user-defined operator that has only a NumPy reference
    implementation.
    """
    exe = build(mod, target, params, opt_level, executor="aot", name=name, quiet=quiet, search=search)
    assert isinstance(exe, NativeExecutable)
    return exe


def _unlinked(module: IRModule, target: Target, executor: str | None, opt_level: int, name: str) -> Unlinked:
    """Compile a prepared module to the program of an executor, with the functions that it needs kernels for.
    Without `executor`, compile it for the graph executor if that can run the module, otherwise for the
    virtual machine.
    """
    if executor == "aot":
        return UnlinkedNative(module, target, name)
    if executor != "vm":
        try:
            # Kernels for a GPU cannot take a tensor that begins inside another, so there slices are copied.
            plan = planned(module, parts=opt_level >= 3 and target.kind != "cuda")
        except RelayError:
            if executor is not None:
                raise
        else:
            return UnlinkedGraph(plan, target, module)
    return UnlinkedBytecode(compile_module(module), target, module)
