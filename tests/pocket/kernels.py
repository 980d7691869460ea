"""Kernels of random programs, with arguments and what the interpreter computes of them."""

from __future__ import annotations

import math
import re
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


HEAD = re.compile(r"for \(int (\w+) = 0; \1 < (\d+); \1\+\+\) {")


def python_lines(lines: list[str]) -> Iterator[str]:
    """Translate loops from C to Python."""
    for line in lines:
        if not line.endswith("}"):
            yield HEAD.sub(r"for \1 in range(\2):", line)


FUNCTIONS = {"exp": np.exp, "tanh": np.tanh, "max": np.maximum, "INFINITY": np.inf}


def run_as_python(kernel: Kernel, *inputs: Any) -> Any:
    """Run the loops of a kernel in Python."""
    buffers = {f"p{n}": x.ravel() for n, x in enumerate(inputs)}
    for name, shape in kernel.buffers.items():
        buffers[name] = np.full(math.prod(shape), np.nan, "float32")
    exec("\n".join(python_lines(naive(kernel))), {**FUNCTIONS, **buffers})
    return buffers[name].reshape(shape)


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
