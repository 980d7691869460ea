"""Kernels of random programs, with arguments and what the interpreter computes of them."""

from __future__ import annotations

import contextlib
import ctypes
import math
import re
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from pocket import bridge, ir
from pocket.dce import remove_dead
from pocket.folding import fold_constants
from pocket.fusion import fuse
from pocket.interpreter import run
from pocket.loops import FORMULAS, Kernel, nest
from pocket.printer import show
from pocket.solver import infer_types
from pocket.types import TensorType
from pocket.visitor import find_all, map_functions

from tests.pocket.programs import programs


def prepared(program: Any) -> Any:
    """Share the results of operators."""
    return map_functions(program, lambda function: remove_dead(fold_constants(function)))


def fused(program: Any) -> Any:
    program = prepared(program)
    return fuse(program, infer_types(program))


def has_formulas(function: Any) -> bool:
    """Return whether a kernel can be lowered: all of float32, and of operators with formulas."""
    types = [function.return_type, *(p.type for p in function.params)]
    is_float = all(isinstance(t, TensorType) and t.dtype == "float32" for t in types)
    return is_float and {op.name for op in find_all(function, ir.Op)} <= FORMULAS.keys()


def naive(kernel: Kernel) -> list[str]:
    """Return the loops of all stages, as their formulas say."""
    return [line for stage in kernel.stages for line in nest(stage)]


def extents(lines: list[str]) -> list[int]:
    """Return the extents of loops in C, without those of a single iteration, from outside to inside."""
    found = [int(n) for line in lines for n in re.findall(r"for\s*\(.*?<\s*(\d+)", line)]
    return [n for n in found if n > 1]


HEADER = """#include <tgmath.h>
#include <stdlib.h>
#include <string.h>
static float max(float a, float b) { return a > b || a != a ? a : b; }
"""
MARGIN = 1024  # elements before and after each array


def run_loops(kernels: list[Kernel], cases: list[list[Any]]) -> list[Any]:
    """Compile the loops of kernels, and run each on its inputs.

    They are run as they stand, whatever C it is in which they are written, with their buffers as arguments.
    Each array lies between margins of NaN, so reading or writing outside of it is noticed.
    """
    source = HEADER
    for n, (kernel, inputs) in enumerate(zip(kernels, cases)):
        assert kernel.buffers, "a kernel stores its result in its last buffer, and here is none"
        names = [*(f"p{number}" for number in range(len(inputs))), *kernel.buffers]
        parameters = ", ".join(f"float *restrict {name}" for name in names)
        source += f"void run{n}({parameters}) {{\n" + "\n".join(naive(kernel)) + "\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        command = ["cc", "-w", "-shared", "-fPIC", "-x", "c", "-", "-o", f"{folder}/loops.so", "-lm"]
        done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"the loops do not compile:\n{done.stderr[:1500]}"
        library = ctypes.CDLL(f"{folder}/loops.so")
        return [
            run_one(getattr(library, f"run{n}"), kernel, inputs)
            for n, (kernel, inputs) in enumerate(zip(kernels, cases))
        ]


def run_one(code: Any, kernel: Kernel, inputs: list[Any]) -> Any:
    """Run the compiled loops of a kernel."""
    contents = [np.asarray(x, "float32").ravel() for x in inputs]
    contents += [np.full(math.prod(shape), np.nan, "float32") for shape in kernel.buffers.values()]
    arrays = [np.pad(x, MARGIN, constant_values=np.nan) for x in contents]
    code(*[ctypes.c_void_p(array[MARGIN:].ctypes.data) for array in arrays])
    outside = [np.r_[array[:MARGIN], array[-MARGIN:]] for array in arrays]
    assert np.isnan(outside).all(), "the loops write outside of a buffer:\n" + "\n".join(naive(kernel))
    inner = [array[MARGIN:-MARGIN] for array in arrays]
    kept = all(np.array_equal(*pair, equal_nan=True) for pair in zip(inner, contents[: len(inputs)]))
    assert kept, "the loops change an input:\n" + "\n".join(naive(kernel))
    return inner[-1].reshape(list(kernel.buffers.values())[-1])


@contextlib.contextmanager
def quick_to_compile() -> Iterator[None]:
    """Let the reader's compiler optimize less."""
    from pocket import c_code  # chapter 22 writes it, and chapter 21 does without

    flags = getattr(c_code, "FLAGS", "")
    if isinstance(flags, str):
        c_code.FLAGS = flags.replace("-O3", "-O1")
    yield
    c_code.FLAGS = flags


def kernels(count: int) -> Iterator[tuple[Any, list[Any], Any]]:
    """Yield different kernels of random programs: the function, arguments, and its value."""
    rng, seen = np.random.default_rng(0), set()
    for generated in programs():
        program = fused(bridge.from_relay(generated.module))
        for function in program.functions.values():
            if not function.primitive or show(function) in seen or not has_formulas(function):
                continue
            seen.add(show(function))
            args = [rng.uniform(0.1, 1, size=p.type.shape).astype("float32") for p in function.params]
            yield function, args, run(ir.Module({"main": function}), *args)
            if len(seen) == count:
                return
