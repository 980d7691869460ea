"""`relay_explorer.build`: from a program to something that runs."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..analysis import StoragePlan
from ..execute.graph import graph_program
from ..execute.vm import VMProgram, compile_module
from ..ir.errors import RelayError
from ..ir.expr import Expr, Function
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.size import Size
from ..ir.walk import post_order
from ..text import astext
from ..typing import infer_types
from .cache import store as cache
from .codegen.compile_kernel import SEARCH
from .codegen.levels import kernel_name
from .codegen.process_pool import POOL, Request, compiled_here
from .lowering import tensor_types
from .passes.invariant import with_constants_in
from .prepare import kernel_calls, planned, prepared, with_params
from .runtime.arrays import aligned_copy
from .runtime.executable import Executable, GraphExecutable
from .runtime.host_kernel import needs_host
from .runtime.kernel import Kernel
from .targets.target import Target
from .targets.toolchain import c_compiler

QUIET = "RELAY_EXPLORER_QUIET"  # the environment variable that turns progress off
EXECUTORS = ("graph", "vm", "aot", "interpreter")
FEW = 2  # kernels that are compiled here rather than in processes of their own, which take a second to start


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
    """Compiles `@main` of a module, or a function.

    `executor` is what runs the kernels: "graph", for programs of tensors and nothing else, in memory that is
    planned beforehand; "vm", the virtual machine, which runs every program. Without it, the first that can.
    "aot" makes C and a library that needs no Python (see `native`); `name` begins the names of its interface.
    "interpreter" compiles nothing: the program runs as it was written.

    `target` is "cpu" (this machine), "arm64" or a board's name, "cuda", a dictionary of TVM's, or a target
    string as old code had it; `params` are values for parameters of `@main`, by name, and become part of the
    program; `opt_level` is that of the passes, 0 to 4, and from 3 on layers are laid out for the target.

    With `search`, kernels are tried in several tilings on this machine, and the fastest are taken; without,
    the tiling is computed, and two builds give the same.

    Kernels are compiled side by side and kept on disk (see `lower.cache`), so that a second build is fast.
    Progress is shown on the standard error, unless `quiet` or RELAY_EXPLORER_QUIET is set.
    """
    if not isinstance(opt_level, int) or opt_level not in range(5):
        raise RelayError(f"an optimization level is 0 to 4, not {opt_level!r:.40}")
    start = time.perf_counter()
    where = Target.of(target)
    if executor not in (None, *EXECUTORS):
        raise RelayError(
            f"there is no executor {executor!r:.40}", help=[f"there are {', '.join(map(repr, EXECUTORS))}"]
        )
    if executor == "aot":
        from .link.native import build_native

        return build_native(mod, where, params, opt_level, name=name, quiet=quiet, search=search)
    checked = with_params(mod, params)
    if executor == "interpreter":
        from .runtime.virtual import InterpretedExecutable

        return InterpretedExecutable(infer_types(checked), where)
    module = prepared(with_constants_in(checked), where, opt_level)
    progress, choice = Progress(quiet), SEARCH if search else None
    plan = _plan(module, executor, parts=opt_level >= 3 and where.kind != "cuda")
    made = (
        _for_machine(module, where, progress, choice)
        if plan is None
        else _for_graph(plan, module, where, progress, choice)
    )
    made.seconds = time.perf_counter() - start
    return made


def _plan(module: IRModule, executor: str | None, parts: bool) -> StoragePlan | None:
    """The graph executor's plan; None for a program that the virtual machine is to run. With `parts`, what is
    a stretch of another tensor is not copied; a GPU's kernels take no tensor that begins inside another.
    """
    if executor == "vm":
        return None
    try:
        return planned(module, parts=parts)
    except RelayError:
        if executor is None:
            return None
        raise


def _for_graph(
    plan: StoragePlan, module: IRModule, target: Target, progress: Progress, choice: dict[str, Any] | None
) -> Executable:
    """A program for the graph executor."""
    calls = kernel_calls(plan)
    kernels = make_kernels([function for _, function in calls], target, progress, choice)
    distinct = list(dict.fromkeys(kernels))
    number = {kernel: k for k, kernel in enumerate(distinct)}
    program = graph_program(plan, {call: number[kernel] for (call, _), kernel in zip(calls, kernels)})
    constants = {}
    for n in program.constants:
        data = plan.tensors[n].expr.data  # type: ignore[attr-defined]  # a constant
        constants[n] = aligned_copy(data.numpy(), data.dtype)
    return GraphExecutable(program, distinct, constants, target, module)


def _for_machine(
    module: IRModule, target: Target, progress: Progress, choice: dict[str, Any] | None
) -> Executable:
    """A program for the virtual machine."""
    from .runtime.virtual import VMExecutable

    program = compile_module(module)
    return VMExecutable(program, machine_kernels(program, target, progress, choice), target, module)


def machine_kernels(
    program: VMProgram, target: Target, progress: Progress, choice: dict[str, Any] | None = None
) -> list[Kernel | None]:
    """The kernels of bytecode, by number; None for one that only NumPy can compute."""
    from .runtime.virtual import can_be_compiled

    compiled = [number for number, code in enumerate(program.kernels) if can_be_compiled(code, target)]
    functions = [program.kernels[number].function for number in compiled]
    made = dict(zip(compiled, make_kernels(functions, target, progress, choice)))
    return [made.get(number) for number in range(len(program.kernels))]


def make_kernels(
    functions: Sequence[Function],
    target: Target,
    progress: Progress,
    choice: dict[str, Any] | None = None,
) -> list[Kernel]:
    """A kernel for each primitive function; equal functions have the same. `choice` is that of their
    schedules, or SEARCH.
    """
    by_function: dict[int, Kernel] = {}
    by_text: dict[str, Kernel] = {}
    names: Counter[str] = Counter()
    for function in functions:
        if id(function) in by_function:
            continue
        text = _text(function)
        if text not in by_text:
            symbol = kernel_name(function)
            names[symbol] += 1
            name = symbol if names[symbol] == 1 else f"{symbol}_{names[symbol] - 1}"
            by_text[text] = Kernel(name, symbol, text, target, _known(function))
        by_function[id(function)] = by_text[text]
    found = [by_function[id(function)] for function in functions]
    for kernel in found:
        kernel.uses += 1
    _compile([k for k in by_text.values() if not k.entry], target, progress, choice)
    return found


def _text(function: Function) -> str:
    """The function as text that says all there is to know: what is equal has one kernel, here and on disk."""
    return astext(Function(function.params, function.body, function.ret_type, None, {"Primitive": 1}))


def _known(function: Function) -> dict[str, Any]:
    """What is known of a kernel that is not compiled like the others: one that runs on the host, and one that
    other processes cannot compile, since it is not all said by its text: operators with lowerings of the
    user's, and sizes with names.
    """
    if needs_host(function):
        return {"host": True, "function": function}
    ops = [node for node in post_order(function) if isinstance(node, Op)]
    own = any(op.get_attr("FTVMCompute") is not None for op in ops)
    types = [t for p in function.params for t in tensor_types(p.checked_type)]
    named = any(isinstance(size, Size) for t in types for size in t.shape)
    return {"function": function, "rule": "in this process"} if own or named else {}


def _compile(
    kernels: Sequence[Kernel], target: Target, progress: Progress, choice: dict[str, Any] | None
) -> None:
    """Fills in the entries of kernels: from the disk, or by compiling them."""
    missing = []
    for kernel in kernels:
        found = cache.get(cache.key(kernel.text, target, choice))
        if found is None:
            missing.append(kernel)
        else:
            kernel.entry, kernel.cached = found, True
    if not missing:
        return
    if target.runs_here and c_compiler() is None:
        progress.say("there is no C compiler (cc, gcc, clang): kernels are compiled at their first run")
        for kernel in missing:
            kernel.entry = {"rule": "in this process"}
        return
    requests = [Request(kernel.text, kernel.symbol, target, choice) for kernel in missing]
    if (len(missing) <= FEW and "tvm" in sys.modules) or not sys.executable:
        for kernel, request in zip(missing, requests):
            kernel.entry = compiled_here(request)
        return
    progress.begin(len(kernels), len(missing))

    def told(number: int, entry: dict[str, Any]) -> None:
        missing[number].entry = entry
        progress.done(missing[number])

    try:
        POOL.compile(requests, os.cpu_count() or 1, told)
    finally:
        progress.end()


class Progress:
    """One line on the standard error, which grows while kernels are compiled."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet or bool(os.environ.get(QUIET))
        self.start = time.perf_counter()
        self.count = self.missing = 0

    def begin(self, kernels: int, missing: int) -> None:
        self.missing = missing
        kept = kernels - missing
        self.say(f"compiling {missing} kernels{f', {kept} are in the cache' if kept else ''}")

    def done(self, kernel: Kernel) -> None:
        self.count += 1
        took = time.perf_counter() - self.start
        self._write(f"\r  {self.count}/{self.missing}  {took:5.1f} s  {kernel.name[:60]:60}")

    def end(self) -> None:
        if self.missing:
            self._write("\n")

    def say(self, text: str) -> None:
        self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        if self.quiet or sys.stderr is None:  # as in a process without a terminal
            return
        with suppress(OSError, ValueError):  # nobody reads it any more
            sys.stderr.write(text)
            sys.stderr.flush()
