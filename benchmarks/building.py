"""Measure how long it takes until a network can run, built cold (nothing cached) and warm, for the package,
`torch.compile` and ONNX Runtime.

python -m benchmarks.building [model …]        (needs torch, onnx, onnxruntime: requirements-bench.txt)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import report, table
from benchmarks.networks import MODELS, prepare, weights_of
from relay_explorer.ir.narrow import as_tensor_type

PROGRAMS = ("ours", "compile", "onnx")
CACHES = {"ours": "RELAY_EXPLORER_CACHE", "compile": "TORCHINDUCTOR_CACHE_DIR"}


def measure(name: str, program: str) -> dict[str, float]:
    """Return the seconds from the program in Python to its first result, with the libraries already imported,
    and the number of our kernels.
    """
    from relay_explorer import models
    from relay_explorer.typing import infer_types

    module = infer_types(models.load(name))
    weights = weights_of(module)
    shape = as_tensor_type(module["main"].params[0]).concrete_shape
    data = np.random.default_rng(1).normal(size=shape).astype("float32")
    imported(program)
    start = time.perf_counter()
    prepare(program, module, weights, data, 2)()
    return {"seconds": time.perf_counter() - start}


def imported(program: str) -> Any:
    """Import the libraries of a program, because importing does not count as building."""
    if program == "ours":
        from relay_explorer.lower.require import tvm

        return tvm()
    import onnxruntime
    import torch

    return onnxruntime if program == "onnx" else torch


def once(name: str, program: str, cache: str) -> float:
    """Return the seconds of a build in its own process, with its kernel cache in the folder `cache`."""
    env = {**os.environ, "TVM_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    if program in CACHES:
        env[CACHES[program]] = cache
    command = [sys.executable, "-m", "benchmarks.building", "--one", name, program]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1])["seconds"])


def row(name: str) -> list[str]:
    cells = [name]
    for program in PROGRAMS:
        with tempfile.TemporaryDirectory() as cache:
            cold = once(name, program, cache)
            warm = once(name, program, cache)
            cells.append(f"{cold:.1f}")
            cells.append(f"{warm:.1f}")
            if program == "ours":
                files = [p for p in Path(cache).rglob("*") if p.is_file()]
                cells.append(f"{sum(p.stat().st_size for p in files) / 1e6:.1f}")
    print(*cells, file=sys.stderr, flush=True)
    return cells


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(*sys.argv[2:])))
        return
    names = [name for name in sys.argv[1:] if name in MODELS] or list(MODELS)
    headings = [
        "network", "ours, cold, s", "warm", "cache, MB", "torch.compile, cold, s", "warm",
        "ONNX Runtime, first, s", "again",
    ]  # fmt: skip
    report("building.md", table(headings, [row(name) for name in names]))


if __name__ == "__main__":
    main()
