"""Compiles one kernel from its Relay text to a library, which is the work of a worker process."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Function
from ...text import parse_expr
from ..cache import store as cache
from ..compose import Composed, compose
from ..require import tvm
from ..schedules import Choice, Scheduled, schedule
from ..targets.target import Target
from ..targets.toolchain import c_compiler
from . import exact_doubles as exact
from . import stack_buffers as on_stack
from .device_code import compiled_for
from .symbolic_sizes import sizes_program

SEARCH = {"search": True}  # instead of a choice


def function_of(text: str) -> Function:
    """Parse a primitive function."""
    function = parse_expr(text)
    assert isinstance(function, Function)
    return function


def scheduled(function: Function, name: str, target: Target, choice: Choice | None = None) -> Scheduled:
    """Compose and schedule the loops of a kernel."""
    with target.tvm:
        return schedule(compose(function, target, name), target, choice)


def generated(kernel: Scheduled) -> Any:
    """Compile a scheduled kernel to TVM's executable. Raise a RelayError if TVM fails."""
    from . import vector_math  # imports TVM

    vector_math.use()
    target = kernel.composed.target
    try:
        if target.kind != "cuda":
            return tvm().compile(kernel.mod, target=target.tvm, tir_pipeline=on_stack.pipeline())
        with compiled_for(target):
            return tvm().compile(kernel.mod, target=target.tvm, tir_pipeline=exact.pipeline())
    except Exception as problem:
        raise RelayError(
            f"TVM cannot compile the kernel `{kernel.composed.name}`, scheduled by `{kernel.rule}`",
            help=[_first_line(problem)],
        ) from problem


def _first_line(problem: Exception) -> str:
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[-1] if lines else ''}"[:600]


def compiled(text: str, name: str, target: Target, choice: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Compile a kernel into the cache, and return its entry: the `path` of the library and its size in
    `bytes`, the `rule`, `choice` and `candidates` of its schedule, the compile time in `seconds`, and the
    `sizes` of its outputs (see `symbolic_sizes`).

    The library is an object file for a target that this machine cannot run, and CUDA C source for a GPU. With
    SEARCH as the `choice`, the candidates are timed (see `search`).
    """
    tvm()
    start = time.perf_counter()
    kernel = _scheduled(text, name, target, choice)
    executable = generated(kernel)
    with tempfile.TemporaryDirectory() as place:
        library, ending, linkable = _library(executable, Path(place), target)
    entry = {
        **described(kernel),
        "name": name,
        "text": text,
        "target": target.options,
        "seconds": time.perf_counter() - start,
        "bytes": len(library),
    }
    return cache.put(cache.key(text, target, choice), library, ending, entry, linkable)


def _scheduled(text: str, name: str, target: Target, choice: Mapping[str, Any] | None) -> Scheduled:
    if choice != SEARCH:
        return scheduled(function_of(text), name, target, choice)
    from .search import searched

    return searched(function_of(text), name, target)


def described(kernel: Scheduled) -> dict[str, Any]:
    """Return the part of a cache entry that describes the kernel's schedule."""
    return {
        "rule": kernel.rule,
        "choice": dict(kernel.choice),
        "candidates": [asdict(candidate) for candidate in kernel.candidates],
        "refused": list(kernel.refused),
        "sizes": output_sizes(kernel.composed),
    }


def output_sizes(composed: Composed) -> list[list[Any]] | None:
    """Return the programs that compute the outputs' sizes from the inputs'; None if all sizes are static."""
    return None if composed.is_static else sizes_program(composed.inputs, composed.outputs)


def _library(executable: Any, place: Path, target: Target) -> tuple[bytes, str, bytes]:
    """Return a kernel's library, the extension of its file, and the object file that it was linked from.
    Programs that run without Python are linked from the object files.
    """
    if target.kind == "cuda":
        return str(executable.mod.imports[0].inspect_source()).encode(), ".cu", b""
    object_file = place / "kernel.o"
    executable.mod.write_to_file(str(object_file), "o")
    tool = c_compiler()
    if not target.runs_here or tool is None:
        return object_file.read_bytes(), ".o", b""
    linked = place / "kernel.so"
    done = subprocess.run(
        [tool, "-shared", "-o", str(linked), str(object_file)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RelayError(f"{tool} cannot link a kernel", help=[done.stderr.strip()[-600:]])
    return linked.read_bytes(), ".so", object_file.read_bytes()
