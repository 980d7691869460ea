"""Whole networks, compiled, against PyTorch eager, torch.compile and ONNX Runtime, on one and two threads.
Batch 1, float32.

python -m benchmarks.networks [model …]        (needs torch, onnx, onnxruntime: requirements-bench.txt)
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.common import report, table

MODELS = ("dqn", "mobilenet", "resnet18", "resnet50", "vgg16")
SECONDS = 10.0  # of runs of one network, all programs in turns


def weights_of(module: Any) -> dict[str, np.ndarray]:
    """Random weights whose values stay of one size from layer to layer, by name."""
    random = np.random.default_rng(0)
    found = {}
    for p in module["main"].params[1:]:
        shape = p.checked_type.concrete_shape
        name = p.name_hint
        if name.endswith(("gamma", "var")):
            found[name] = random.uniform(0.5, 1.5, shape).astype("float32")
        else:
            size = math.prod(shape[1:]) if len(shape) > 1 else 400
            found[name] = random.normal(0, math.sqrt(2 / size), shape).astype("float32")
    return found


def measure(name: str, threads: int) -> dict[str, float]:
    """Best milliseconds of each, in turns; run in a process of its own, where the threads are set."""
    import onnxruntime
    import torch

    import relay_explorer
    from benchmarks.same_network import as_onnx, as_torch
    from relay_explorer import models
    from relay_explorer.typing import infer_types

    torch.set_num_threads(threads)
    module = infer_types(models.load(name))
    weights = weights_of(module)
    shape = module["main"].params[0].checked_type.concrete_shape
    data = np.random.default_rng(1).normal(size=shape).astype("float32")

    start = time.perf_counter()
    ours = relay_explorer.build(module, params=weights, quiet=True)
    seconds = time.perf_counter() - start
    net, tensor = as_torch(module, weights), torch.from_numpy(data)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(as_onnx(module, weights), options, ["CPUExecutionProvider"])
    feed = {session.get_inputs()[0].name: data}
    cases: dict[str, Callable[[], Any]] = {
        "ours": lambda: ours(data),
        "eager": lambda: net(tensor),
        "onnx": lambda: session.run(None, feed)[0],
    }
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compiled = torch.compile(net)
            compiled(tensor)
            cases["compile"] = lambda: compiled(tensor)
        except Exception as problem:  # whatever it is, the table says that it does not work
            print(f"torch.compile: {problem!s:.200}", file=sys.stderr)
        wanted = net(tensor).numpy()
        for other in ("ours", "onnx"):
            np.testing.assert_allclose(cases[other](), wanted, rtol=2e-2, atol=1e-4)
        best = dict.fromkeys(cases, math.inf)
        end = time.perf_counter() + SECONDS
        while time.perf_counter() < end:
            for case, run in cases.items():
                start = time.perf_counter()
                run()
                best[case] = min(best[case], time.perf_counter() - start)
    return {case: value * 1e3 for case, value in best.items()} | {"build": seconds} | limits(module)


def limits(module: Any) -> dict[str, float]:
    """What there is to do at the least: the arithmetic, and the bytes of the weights."""
    from relay_explorer.analysis.cost import nbytes, total_cost

    return {
        "flops": float(total_cost(module).flops),
        "bytes": float(sum(nbytes(p.checked_type) for p in module["main"].params)),
    }


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
        return
    names = [name for name in sys.argv[1:] if name in MODELS] or list(MODELS)
    text = []
    for threads in (1, 2):
        rows, ratios = [], []
        for name in names:
            env = {**os.environ, "TVM_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
            command = [sys.executable, "-m", "benchmarks.networks", "--one", name, str(threads)]
            done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
            got = json.loads(done.stdout.splitlines()[-1])
            print(threads, name, got, file=sys.stderr, flush=True)
            ratios.append((got["eager"] / got["ours"], got["onnx"] / got["ours"]))
            rows.append(
                (
                    name, f"{got['ours']:.2f}", f"{got['eager']:.2f}",
                    f"{got['compile']:.2f}" if "compile" in got else "does not work", f"{got['onnx']:.2f}",
                    f"{ratios[-1][0]:.2f}×", f"{ratios[-1][1]:.2f}×",
                    f"{got['flops'] / 1e9:.2f}", f"{got['flops'] / got['ours'] / 1e6:.0f}",
                    f"{got['bytes'] / 1e6:.1f}",
                )
            )  # fmt: skip
        means = [math.prod(r[k] for r in ratios) ** (1 / len(ratios)) for k in (0, 1)]
        rows.append(("geometric mean", "", "", "", "", f"{means[0]:.2f}×", f"{means[1]:.2f}×", "", "", ""))
        headings = [
            "network", "ours, ms", "PyTorch eager", "torch.compile", "ONNX Runtime", "against eager",
            "against ONNX Runtime", "GFLOP", "our GFLOP/s", "weights, MB",
        ]  # fmt: skip
        text.append(f"{'One thread' if threads == 1 else f'{threads} threads'}:\n\n{table(headings, rows)}")
    report("networks.md", "\n\n".join(text))


if __name__ == "__main__":
    main()
