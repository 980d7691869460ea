"""Compare compiled networks with PyTorch eager, torch.compile and ONNX Runtime, on one and two threads, at
batch 1 in float32.

python -m benchmarks.networks [model …]        (needs torch, onnx, onnxruntime: requirements-bench.txt)
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
from typing import Any

import numpy as np

from benchmarks import evaluation
from benchmarks.common import report, table
from relay_explorer.ir.narrow import as_tensor_type

MODELS = ("dqn", "mobilenet", "resnet18", "resnet50", "vgg16")
PROGRAMS = ("ours", "eager", "compile", "onnx")
SECONDS = 3.0  # of runs of one program in one process
ROUNDS = 2  # processes of each program, in alternation


def weights_of(module: Any) -> dict[str, np.ndarray]:
    """Return random weights by name, scaled so that values keep their magnitude from layer to layer."""
    random = np.random.default_rng(0)
    weights = {}
    for p in module["main"].params[1:]:
        shape = as_tensor_type(p).concrete_shape
        name = p.name_hint
        if name.endswith(("gamma", "var")):
            weights[name] = random.uniform(0.5, 1.5, shape).astype("float32")
        else:
            size = math.prod(shape[1:]) if len(shape) > 1 else 400
            weights[name] = random.normal(0, math.sqrt(2 / size), shape).astype("float32")
    return weights


def measure(name: str, program: str, threads: int, expected: str) -> dict[str, float]:
    """Return the minimum milliseconds of one program, in a process that runs nothing else, because the idle
    threads of one library spin for a while on the cores that another one needs. `expected` is the file of the
    expected outputs, which the first program writes.
    """
    from relay_explorer import models
    from relay_explorer.typing import infer_types

    module = infer_types(models.load(name))
    weights = weights_of(module)
    shape = as_tensor_type(module["main"].params[0]).concrete_shape
    data = np.random.default_rng(1).normal(size=shape).astype("float32")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        run = prepare(program, module, weights, data, threads)
        got = np.asarray(run())
        seconds = time.perf_counter() - start
        if os.path.exists(expected):
            np.testing.assert_allclose(got, np.load(expected), rtol=2e-2, atol=1e-4)
        else:
            np.save(expected, got)
        best = math.inf
        end = time.perf_counter() + SECONDS
        while time.perf_counter() < end:
            start = time.perf_counter()
            run()
            best = min(best, time.perf_counter() - start)
    return {"ms": best * 1e3, "prepare": seconds} | (work(module) if program == "ours" else {})


def prepare(program: str, module: Any, weights: Any, data: np.ndarray, threads: int) -> Callable[[], Any]:
    """Return the function that is timed: arrays in, arrays out."""
    if program == "ours":
        import relay_explorer

        ours = relay_explorer.build(module, params=weights, quiet=True)
        return lambda: ours(data)
    if program == "onnx":
        import onnxruntime

        from benchmarks.same_network import as_onnx

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(as_onnx(module, weights), options, ["CPUExecutionProvider"])
        feed = {session.get_inputs()[0].name: data}
        return lambda: session.run(None, feed)[0]
    import torch

    from benchmarks.same_network import as_torch

    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    net, tensor = as_torch(module, weights), torch.from_numpy(data)
    run = torch.compile(net) if program == "compile" else net
    return lambda: run(tensor)


def best_of(name: str, threads: int) -> dict[str, dict[str, float]]:
    """Return each program's minimum time, from alternating processes; a program that fails is left out."""
    env = {**os.environ, "TVM_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    best: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        expected = os.path.join(folder, "expected.npy")
        for program in PROGRAMS * ROUNDS:
            command = [
                sys.executable,
                "-m",
                "benchmarks.networks",
                "--one",
                name,
                program,
                str(threads),
                expected,
            ]
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
            if done.returncode:
                if program != "compile":
                    raise RuntimeError(f"{name}, {program}:\n{done.stderr}")
                print(f"torch.compile does not work: {done.stderr[-300:]}", file=sys.stderr)
                continue
            got = json.loads(done.stdout.splitlines()[-1])
            if program not in best or got["ms"] < best[program]["ms"]:
                best[program] = got
    return best


def work(module: Any) -> dict[str, float]:
    """Return the number of operations, the bytes of the weights, and the peak performance of this machine."""
    from relay_explorer.analysis.cost import nbytes, total_cost
    from relay_explorer.lower.profiling.peak import limits
    from relay_explorer.lower.targets.target import Target

    most = limits(Target.of("cpu"))
    return {
        "flops": float(total_cost(module).flops),
        "bytes": float(sum(nbytes(p.checked_type) for p in module["main"].params)),
        "peak": most.flops,
        "bandwidth": most.bandwidth,
    }


def tabled(threads: int, results: dict[str, dict[str, dict[str, float]]]) -> str:
    """Format the table for a number of threads. The limits are the highest that any process measured."""
    peak = max(got["ours"]["peak"] for got in results.values())
    bandwidth = max(got["ours"]["bandwidth"] for got in results.values())
    rows: list[list[str]] = []
    ratios = []
    for name, got in results.items():
        ms = {program: entry["ms"] for program, entry in got.items()}
        ours = got["ours"]
        ratios.append((ms["eager"] / ms["ours"], ms["onnx"] / ms["ours"]))
        rows.append([
            name, f"{ms['ours']:.2f}", f"{ms['eager']:.2f}",
            f"{ms['compile']:.2f}" if "compile" in ms else "does not work", f"{ms['onnx']:.2f}",
            *[f"{ratio:.2f}×" for ratio in ratios[-1]],
            f"{ours['flops'] / 1e9:.2f}", f"{ours['flops'] / peak * 1e3:.2f}",
            f"{ours['bytes'] / 1e6:.1f}", f"{ours['bytes'] / bandwidth * 1e3:.2f}",
        ])  # fmt: skip
    means = [math.prod(r[k] for r in ratios) ** (1 / len(ratios)) for k in (0, 1)]
    rows.append(["geometric mean", *[""] * 4, *[f"{mean:.2f}×" for mean in means], *[""] * 4])
    headings = [
        "network", "ours, ms", "PyTorch eager", "torch.compile", "ONNX Runtime", "speedup over eager",
        "speedup over ONNX Runtime", "GFLOP", "arithmetic at the peak, ms",
        "weights, MB", "reading weights, ms",
    ]  # fmt: skip
    title = "One thread" if threads == 1 else f"{threads} threads"
    most = f"{peak / 1e9:.0f} GFLOP/s and {bandwidth / 1e9:.1f} GB/s at most"
    return f"{title}, {most}:\n\n{table(headings, rows)}"


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        model, program, count, expected = sys.argv[2:]
        print(json.dumps(measure(model, program, int(count), expected)))
        return
    names = [name for name in sys.argv[1:] if name in MODELS] or list(MODELS)
    text = []
    for threads in (1, 2):
        results = {}
        for name in names:
            results[name] = best_of(name, threads)
            print(threads, name, results[name], file=sys.stderr, flush=True)
        text.append(tabled(threads, results))
    report("networks.md", "\n\n".join(text))
    evaluation.main()


if __name__ == "__main__":
    main()
