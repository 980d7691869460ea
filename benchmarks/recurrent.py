"""Compare compiled recurrent networks and trees with PyTorch and ONNX Runtime, on one and two threads, at
batch 1 in float32.

python -m benchmarks.recurrent        (needs torch, onnx, onnxruntime: requirements-bench.txt)
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import evaluation
from benchmarks.common import report, table
from benchmarks.recurrent_models import (
    CELL_NETWORKS,
    NETWORKS,
    arguments,
    as_array,
    inputs_of,
    module,
    weights_of,
)

OURS = ("aot", "graph", "vm")
PROGRAMS = ("eager", *OURS, "layer", "onnx", "compile")
ROUNDS = {"vm": 1, "compile": 1}  # processes of each program; two for those not listed
SECONDS = 0.6  # of runs of one network in one process
MAX_LENGTH = 150  # seconds of a process; networks not measured by then are left out


def prepared(name: str, program: str, threads: int) -> Callable[[], Any] | None:
    """Return the function that is timed, from Python's values to an array or a list; None where the program
    cannot run the network.
    """
    if program in OURS:
        unrolled = program == "graph"
        if unrolled and name not in CELL_NETWORKS:
            return None
        import relay_explorer

        mod = module(name, unrolled)
        names = [param.name_hint for param in mod["main"].params[inputs_of(name) :]]
        weights = {key: value for key, value in weights_of(name).items() if key in names}
        exe = relay_explorer.build(mod, params=weights, executor=program, quiet=True)
        values = arguments(name, mod, unrolled)
        return lambda: exe(*values)
    from benchmarks import recurrent_torch

    if program == "onnx":
        return recurrent_torch.onnx_session(name, threads)
    import torch

    torch.set_num_threads(threads)
    return recurrent_torch.prepared(name, program)


def measure(program: str, threads: int, folder: Path, names: list[str]) -> None:
    """Print the minimum microseconds of each network, as one JSON line each. The first program that runs a
    network writes its result into the folder, and the results of the others must agree with it.
    """
    for name in names:
        try:
            run = prepared(name, program, threads)
            if run is None:
                continue
            got = as_array(run())
        except Exception as problem:  # torch.compile may fail in many ways
            if program != "compile":
                raise
            print(f"{name}: {str(problem)[:200]}", file=sys.stderr)
            continue
        expected = folder / f"{name}.npy"
        if expected.exists():  # 1e-3: the order of summation differs, and errors accumulate in the state
            np.testing.assert_allclose(got.ravel(), np.load(expected).ravel(), rtol=1e-3, atol=1e-5)
        else:
            np.save(expected, got)
        best, end = math.inf, time.perf_counter() + SECONDS
        while time.perf_counter() < end:
            start = time.perf_counter()
            run()
            best = min(best, time.perf_counter() - start)
        print(json.dumps([name, best * 1e6]), flush=True)


def best_times(threads: int, names: list[str]) -> dict[tuple[str, str], float]:
    """Return each network's minimum microseconds in each program, by both names."""
    env = {**os.environ, "TVM_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    fastest: dict[tuple[str, str], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for iteration in range(2):
            for program in PROGRAMS:
                if iteration < ROUNDS.get(program, 2):
                    command = [sys.executable, "-m", "benchmarks.recurrent", "--one", program, str(threads)]
                    text = _output([*command, folder, *names], env, program)
                    for line in text.splitlines():
                        name, micros = json.loads(line)
                        fastest[name, program] = min(micros, fastest.get((name, program), math.inf))
    return fastest


def _output(command: list[str], env: dict[str, str], program: str) -> str:
    try:
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=MAX_LENGTH, check=False
        )
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode() if isinstance(late.stdout, bytes) else (late.stdout or "")
    if done.returncode:
        raise RuntimeError(f"{program}:\n{done.stderr[-3000:]}")
    return done.stdout


def rows_of(best_of: dict[tuple[str, str], float], names: list[str]) -> list[tuple[str, ...]]:
    rows = []
    for name in names:
        best = min(best_of[name, program] for program in OURS if (name, program) in best_of)
        chosen = next(program for program in OURS if best_of.get((name, program)) == best)
        against = [best_of[name, "eager"] / best]
        others = [best_of[name, p] for p in ("eager", "layer", "onnx", "compile") if (name, p) in best_of]
        against.append(min(others) / best)
        times = [
            f"{best_of[name, p]:.0f}" if (name, p) in best_of else "–" for p in (*OURS, "eager", "layer")
        ]
        times += [f"{best_of[name, p]:.0f}" if (name, p) in best_of else "–" for p in ("compile", "onnx")]
        rows.append((name, *times, chosen, f"{against[0]:.1f}×", f"{against[1]:.1f}×"))
    return rows


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        program, count, folder, *names = sys.argv[2:]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            measure(program, int(count), Path(folder), names)
        return
    names = [name for name in sys.argv[1:] if name in NETWORKS] or list(NETWORKS)
    headings = [
        "network", "ahead of time, µs", "graph, unrolled", "virtual machine", "PyTorch eager",
        "PyTorch's layer", "torch.compile", "ONNX Runtime", "ours", "speedup over eager",
        "speedup over the fastest other",
    ]  # fmt: skip
    text = []
    for threads in (1, 2):
        times = best_times(threads, names)
        title = "One thread" if threads == 1 else f"{threads} threads"
        text.append(f"{title}:\n\n{table(headings, rows_of(times, names))}")
        print(text[-1], file=sys.stderr, flush=True)
    report("recurrent.md", "\n\n".join(text))
    evaluation.main()


if __name__ == "__main__":
    main()
