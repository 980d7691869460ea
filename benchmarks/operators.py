"""Compare single compiled operators with PyTorch eager, on one thread.

python -m benchmarks.operators [part of a name …]        (needs torch: pip install -r requirements-bench.txt)
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ["TVM_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # read when they are loaded

import numpy as np
import torch

import relay_explorer
from benchmarks.common import report, table
from benchmarks.operator_cases import Case, cases
from relay_explorer.ir.expr import Function
from relay_explorer.lower.runtime.executable import GraphExecutable
from relay_explorer.relay import const, var

SECONDS = 0.4  # of runs of each operator, ours and PyTorch's together
ERROR = 1e-3  # relative to the largest element


def built(case: Case) -> GraphExecutable:
    params = [var(f"x{n}", shape=x.shape, dtype=str(x.dtype)) for n, x in enumerate(case.arrays)]
    body = case.relay(*params, *map(const, case.weights))
    exe = relay_explorer.build(Function(params, body), quiet=True)
    assert isinstance(exe, GraphExecutable)
    return exe


def check(case: Case, got: Any, expected: torch.Tensor) -> None:
    right = expected.numpy()
    assert got.shape == right.shape, case.name
    error = np.abs(got.astype("float64") - right.astype("float64")).max()
    assert error <= ERROR * max(1.0, np.abs(right.astype("float64")).max()), f"{case.name}: {error}"


def measured(case: Case) -> tuple[GraphExecutable, float, float]:
    """Return the program, and the minimum seconds of a run, ours and PyTorch's."""
    program = built(case)
    tensors = [torch.from_numpy(x) for x in (*case.arrays, *case.weights)]
    check(case, program(*case.arrays), case.torch(*tensors))
    runs: list[Callable[[], object]] = [program.executor.run, lambda: case.torch(*tensors)]
    best = [math.inf, math.inf]
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for number, run in enumerate(runs):
            start = time.perf_counter()
            run()
            best[number] = min(best[number], time.perf_counter() - start)
    return program, best[0], best[1]


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main() -> None:
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    filters = sys.argv[1:]
    lines: list[list[object]] = []
    ratios: dict[str, list[float]] = {}
    for case in cases():
        if filters and not any(part in f"{case.group}: {case.name}" for part in filters):
            continue
        program, ours, theirs = measured(case)
        ratios.setdefault(case.group, []).append(theirs / ours)
        rules = ", ".join(dict.fromkeys(kernel.rule for kernel in program.kernels))
        lines.append([
            case.group, case.name, rules, f"{ours * 1e6:.1f}", f"{theirs * 1e6:.1f}", f"{theirs / ours:.2f}×",
        ])  # fmt: skip
        print(*lines[-1], sep="  ", file=sys.stderr, flush=True)
    every = [ratio for group in ratios.values() for ratio in group]
    means = [
        [group, len(speedups), f"{mean(speedups):.2f}×", f"{min(speedups):.2f}×"]
        for group, speedups in ratios.items()
    ]
    means.append(["all", len(every), f"{mean(every):.2f}×", f"{min(every):.2f}×"])
    summary = table(["group", "operators", "geometric mean", "minimum"], means)
    if filters:
        print(summary)
        return
    headings = ["group", "operator", "schedules", "ours, µs", "PyTorch, µs", "speedup over PyTorch"]
    report("operators.md", f"{summary}\n\n{table(headings, lines)}", "Threads: 1.\n")


if __name__ == "__main__":
    main()
