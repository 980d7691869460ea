"""The middle stage of `build`: compiles a kernel for each primitive function, or loads it from the cache."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ..ir.expr import Expr, Function
from ..ir.op import Op
from ..ir.walk import post_order
from ..text import astext
from .cache import store as cache
from .codegen.levels import kernel_name
from .codegen.process_pool import POOL, Request, compiled_here
from .lowering import is_users
from .runtime.host_kernel import needs_host
from .runtime.kernel import Kernel
from .targets.target import Target
from .targets.toolchain import c_compiler

QUIET = "RELAY_EXPLORER_QUIET"  # the environment variable that turns progress messages off
MAX_IN_PROCESS = 2  # up to so many kernels are compiled in this process, since workers take a second to start


def make_kernels(
    functions: Sequence[Function],
    target: Target,
    progress: Progress,
    choice: dict[str, Any] | None = None,
) -> list[Kernel]:
    """Compile a kernel for each primitive function; equal functions share one. `choice` fixes the choice of
    their schedules, or is SEARCH.
    """
    by_function: dict[Expr, Kernel] = {}
    by_text: dict[str, Kernel] = {}
    names: Counter[str] = Counter()
    for function in functions:
        if function in by_function:
            continue
        text = kernel_text(function)
        if text not in by_text:
            symbol = kernel_name(function)
            names[symbol] += 1
            name = symbol if names[symbol] == 1 else f"{symbol}_{names[symbol] - 1}"
            by_text[text] = Kernel(name, symbol, text, target, _entry_in_process(function))
        by_function[function] = by_text[text]
    kernels = [by_function[function] for function in functions]
    for kernel in kernels:
        kernel.uses += 1
    _compile([k for k in by_text.values() if not k.entry], target, progress, choice)
    return kernels


def kernel_text(function: Function) -> str:
    """Print a function with everything that its kernel depends on. Functions with the same text share one
    kernel, in memory and on disk.
    """
    return astext(Function(function.params, function.body, function.ret_type, None, {"Primitive": 1}))


def _entry_in_process(function: Function) -> dict[str, Any]:
    """Return the entry of a kernel that is not compiled in a worker process, {} for others. It is a kernel
    that runs on the host, or one that its text does not fully describe, because it uses operators with
    user-defined lowerings.
    """
    if needs_host(function):
        return {"host": True, "function": function}
    ops = [node for node in post_order(function) if isinstance(node, Op)]
    return {"function": function, "rule": "in this process"} if any(map(is_users, ops)) else {}


def _compile(
    kernels: Sequence[Kernel], target: Target, progress: Progress, choice: dict[str, Any] | None
) -> None:
    """Fill in the entries of kernels: from the cache on disk, or by compiling them."""
    missing = []
    for kernel in kernels:
        stored = cache.get(cache.key(kernel.text, target, choice))
        if stored is None:
            missing.append(kernel)
        else:
            kernel.entry, kernel.cached = stored, True
    if not missing:
        return
    if target.runs_here and c_compiler() is None:
        progress.say("there is no C compiler (cc, gcc, clang): kernels are compiled at their first run")
        for kernel in missing:
            kernel.entry = {"rule": "in this process"}
        return
    requests = [Request(kernel.text, kernel.symbol, target, choice) for kernel in missing]
    if (len(missing) <= MAX_IN_PROCESS and "tvm" in sys.modules) or not sys.executable:
        for kernel, request in zip(missing, requests):
            kernel.entry = compiled_here(request)
        return
    progress.begin(len(kernels), len(missing))

    def on_entry(number: int, entry: dict[str, Any]) -> None:
        missing[number].entry = entry
        progress.done(missing[number])

    try:
        POOL.compile(requests, os.cpu_count() or 1, on_entry)
    finally:
        progress.end()


class Progress:
    """Reports the progress of compiling kernels on the standard error, in one line that is updated."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet or bool(os.environ.get(QUIET))
        self.start = time.perf_counter()
        self.count = self.missing = 0

    def begin(self, kernels: int, missing: int) -> None:
        self.missing = missing
        cached = kernels - missing
        self.say(f"compiling {missing} kernels{f', {cached} are in the cache' if cached else ''}")

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
        with suppress(OSError, ValueError):  # the reading end is closed
            sys.stderr.write(text)
            sys.stderr.flush()
