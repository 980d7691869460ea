"""Compare imported networks, compiled here, with ONNX Runtime, PyTorch eager and torch.compile, on one and
two threads, at batch 1 in float32. ONNX Runtime and this package read the same file.

python -m benchmarks.imported [--threads 1] [network …]        (the networks: benchmarks/imported_networks.py)
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
from benchmarks.imported_networks import NETWORKS

PROGRAMS = ("onnx", "ours", "eager", "compile")
SECONDS = 4.0  # of runs of one program in one process
ROUNDS = 2  # processes of each program, in alternation
OPSET = 17


def export(name: str, folder: Path) -> None:
    """Write the network as an ONNX file, with its inputs and PyTorch's output beside it."""
    import torch

    torch.manual_seed(0)
    model, inputs = NETWORKS[name].make()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, inputs, str(folder / "model.onnx"), dynamo=False, opset_version=OPSET)
        np.save(folder / "expected.npy", model(*inputs).numpy())
    np.savez(folder / "inputs.npz", *[value.numpy() for value in inputs])


def measure(name: str, program: str, threads: int, folder: Path) -> dict[str, float]:
    """Return the minimum milliseconds of one program, in a process that runs nothing else, and the seconds
    that it took to prepare.
    """
    with np.load(folder / "inputs.npz") as archive:
        inputs = [archive[key] for key in archive.files]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        run = prepare(name, program, inputs, threads, folder)
        got = np.asarray(run())
        seconds = time.perf_counter() - start
        expected = np.load(folder / "expected.npy")
        difference = float(np.abs(got - expected).max() / np.abs(expected).max())
        best = math.inf
        end = time.perf_counter() + SECONDS
        while time.perf_counter() < end:
            start = time.perf_counter()
            run()
            best = min(best, time.perf_counter() - start)
    return {"ms": best * 1e3, "prepare": seconds, "difference": difference}


def prepare(
    name: str, program: str, inputs: list[np.ndarray], threads: int, folder: Path
) -> Callable[[], Any]:
    """Return the function that is timed: arrays in, arrays out."""
    if program == "ours":
        import relay_explorer
        from relay_explorer import relay

        module, params = relay.frontend.from_onnx(str(folder / "model.onnx"))
        ours = relay_explorer.build(module, params=params, quiet=True)
        return lambda: ours(*inputs)
    if program == "onnx":
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, ["CPUExecutionProvider"])
        feed = {entry.name: value for entry, value in zip(session.get_inputs(), inputs)}
        return lambda: session.run(None, feed)[0]
    import torch

    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    torch.manual_seed(0)
    net, _ = NETWORKS[name].make()
    tensors = [torch.from_numpy(value) for value in inputs]
    run = torch.compile(net) if program == "compile" else net
    return lambda: run(*tensors)


def best_of(name: str, threads: int, folder: Path, programs: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Return each program's minimum time, from alternating processes. torch.compile is left out where it
    fails.
    """
    env = {**os.environ, "TVM_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    best: dict[str, dict[str, float]] = {}
    for program in programs * ROUNDS:
        command = [sys.executable, "-m", "benchmarks.imported", "--one", name, program]
        command += [str(threads), str(folder)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            if program != "compile":
                raise RuntimeError(f"{name}, {program}:\n{done.stderr[-4000:]}")
            print(f"torch.compile does not work: {done.stderr[-300:]}", file=sys.stderr)
            continue
        got = json.loads(done.stdout.splitlines()[-1])
        if program not in best or got["ms"] < best[program]["ms"]:
            best[program] = got
    return best


def tabled(threads: int, results: dict[str, dict[str, dict[str, float]]]) -> str:
    """Format the table for a number of threads."""
    rows: list[list[str]] = []
    ratios: list[tuple[float, float]] = []
    for name, got in results.items():
        ms = {program: entry["ms"] for program, entry in got.items()}
        ratios.append((ms["onnx"] / ms["ours"], ms["eager"] / ms["ours"]))
        rows.append([
            name, f"{ms['ours']:.1f}", f"{ms['onnx']:.1f}", f"{ms['eager']:.1f}",
            f"{ms['compile']:.1f}" if "compile" in ms else "does not work",
            *[f"{ratio:.2f}×" for ratio in ratios[-1]],
            f"{got['ours']['difference']:.0e}", f"{got['ours']['prepare']:.0f}",
        ])  # fmt: skip
    means = [math.prod(r[k] for r in ratios) ** (1 / len(ratios)) for k in (0, 1)]
    rows.append(["geometric mean", *[""] * 4, *[f"{mean:.2f}×" for mean in means], "", ""])
    headings = [
        "network", "ours, ms", "ONNX Runtime", "PyTorch eager", "torch.compile", "speedup over ONNX Runtime",
        "speedup over eager", "largest difference", "importing and compiling, s",
    ]  # fmt: skip
    title = "One thread" if threads == 1 else f"{threads} threads"
    return f"{title}:\n\n{table(headings, rows)}"


def main() -> None:
    arguments = sys.argv[1:]
    if arguments[:1] == ["--one"]:
        name, program, count, folder = arguments[1:]
        print(json.dumps(measure(name, program, int(count), Path(folder))))
        return
    counts: tuple[int, ...] = (1, 2)
    programs: tuple[str, ...] = PROGRAMS
    if "--threads" in arguments:
        counts = (int(arguments[arguments.index("--threads") + 1]),)
    if "--quick" in arguments:  # without PyTorch, whose programs take long to prepare
        programs = ("onnx", "ours")
    names = [name for name in arguments if name in NETWORKS] or list(NETWORKS)
    results: dict[int, dict[str, dict[str, dict[str, float]]]] = {count: {} for count in counts}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            export(name, Path(folder))
            for threads in counts:
                results[threads][name] = best_of(name, threads, Path(folder), programs)
                print(threads, name, results[threads][name], file=sys.stderr, flush=True)
    if programs == PROGRAMS and len(names) == len(NETWORKS) and counts == (1, 2):
        report("imported.md", "\n\n".join(tabled(threads, results[threads]) for threads in counts))
        evaluation.main()


if __name__ == "__main__":
    main()
