"""Compare networks with 8-bit integers, compiled here, with our float32, with ONNX Runtime, which reads the
same quantized file, and with PyTorch's quantized engine, on one and two threads, at batch 1.

python -m benchmarks.quantized [--threads 1] [--rounds 3] [network …]

The networks are those of benchmarks/quantized_networks.py. The whole run also writes `quantized.json`, the
seconds by number of threads, network and program, from which `make figures` draws chapter 20's figure.
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

from benchmarks.common import report, table
from benchmarks.quantized_networks import NETWORKS, export, quantized_by_torch

DATA = Path(__file__).with_suffix(".json")
PROGRAMS = ("ours", "float", "onnx", "onnx_float", "torch")
SECONDS = 3.0  # of runs of one program in one process
ROUNDS = 3  # processes of each program, in alternation, by default


def measure(name: str, program: str, threads: int, folder: Path) -> dict[str, float]:
    """Return the minimum milliseconds of one program, in a process that runs nothing else, and the bytes of
    its file.
    """
    with np.load(folder / "inputs.npz") as archive:
        inputs = [archive[key] for key in archive.files]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run, size = prepare(name, program, inputs, threads, folder)
        result = np.asarray(run())
    if program != "torch":
        np.save(folder / f"{program}.npy", result)
    best = math.inf
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return {"ms": best * 1e3, "bytes": size}


def prepare(
    name: str, program: str, inputs: list[np.ndarray], threads: int, folder: Path
) -> tuple[Callable[[], Any], int]:
    """Return the function that is timed, arrays in and arrays out, and the bytes of the program's file."""
    path = folder / ("float.onnx" if "float" in program else "int8.onnx")
    if program in ("ours", "float"):
        ours = compiled(path)
        ours.save(folder / "program")
        return lambda: ours(*inputs), (folder / "program").stat().st_size
    if program.startswith("onnx"):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
        feed = {entry.name: value for entry, value in zip(session.get_inputs(), inputs)}
        return lambda: session.run(None, feed)[0], path.stat().st_size
    import torch

    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    net, tensors = quantized_by_torch(name)
    torch.save(net.state_dict(), folder / "state")
    return lambda: net(*tensors), (folder / "state").stat().st_size


def compiled(path: Path) -> Any:
    """Import an ONNX file, let its quantized operators compute with integers, and compile it."""
    import relay_explorer
    from relay_explorer import relay
    from relay_explorer.ir.bind import bind_params_by_name

    module, params = relay.frontend.from_onnx(str(path))
    module["main"] = bind_params_by_name(module["main"], params)
    module = relay.transform.InferType()(module)
    module = relay.transform.FakeQuantizationToInteger()(module)
    return relay_explorer.build(module, quiet=True)


def best_of(name: str, threads: int, folder: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Return each program's minimum time, from alternating processes."""
    env = {**os.environ, "TVM_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    best: dict[str, dict[str, float]] = {}
    for program in PROGRAMS * rounds:
        command = [sys.executable, "-m", "benchmarks.quantized", "--one", name, program]
        command += [str(threads), str(folder)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{name}, {program}:\n{done.stderr[-4000:]}")
        got = json.loads(done.stdout.splitlines()[-1])
        if program not in best or got["ms"] < best[program]["ms"]:
            best[program] = got
    results = {program: np.load(folder / f"{program}.npy") for program in ("ours", "onnx", "onnx_float")}
    largest = float(np.abs(results["onnx_float"]).max())
    best["ours"]["difference"] = float(np.abs(results["ours"] - results["onnx"]).max()) / largest
    best["ours"]["error"] = float(np.abs(results["ours"] - results["onnx_float"]).max()) / largest
    best["onnx"]["error"] = float(np.abs(results["onnx"] - results["onnx_float"]).max()) / largest
    return best


def tabled(threads: int, results: dict[str, dict[str, dict[str, float]]]) -> str:
    """Format the table for a number of threads."""
    rows: list[list[str]] = []
    ratios: list[tuple[float, ...]] = []
    for name, got in results.items():
        ms = {program: entry["ms"] for program, entry in got.items()}
        ratios.append(tuple(ms[other] / ms["ours"] for other in ("onnx", "float", "torch")))
        rows.append([
            name, *[f"{ms[program]:.1f}" for program in ("ours", "onnx", "torch", "float", "onnx_float")],
            *[f"{ratio:.2f}×" for ratio in ratios[-1]],
        ])  # fmt: skip
    means = [math.prod(r[k] for r in ratios) ** (1 / len(ratios)) for k in range(3)]
    rows.append(["geometric mean", *[""] * 5, *[f"{mean:.2f}×" for mean in means]])
    headings = [
        "network", "ours, int8, ms", "ONNX Runtime, int8", "PyTorch, int8", "ours, float32",
        "ONNX Runtime, float32", "speedup over ONNX Runtime's int8", "over our float32",
        "over PyTorch's int8",
    ]  # fmt: skip
    title = "One thread" if threads == 1 else f"{threads} threads"
    return f"{title}:\n\n{table(headings, rows)}"


def sizes(results: dict[str, dict[str, dict[str, float]]]) -> str:
    """Format the table of file sizes and of differences."""
    rows = []
    for name, got in results.items():
        megabytes = [f"{got[p]['bytes'] / 1e6:.1f}" for p in ("ours", "float", "onnx", "onnx_float", "torch")]
        errors = [got["ours"]["difference"], got["ours"]["error"], got["onnx"]["error"]]
        rows.append([name, *megabytes, *[f"{error:.1%}" for error in errors]])
    headings = [
        "network", "ours, int8, MB", "ours, float32", "ONNX, int8", "ONNX, float32", "PyTorch, int8",
        "ours and ONNX Runtime, int8", "ours and float32", "ONNX Runtime and float32",
    ]  # fmt: skip
    return (
        "Sizes of the files, and the largest differences between outputs, relative to the largest output:\n\n"
        + table(headings, rows)
    )


def main() -> None:
    arguments = sys.argv[1:]
    if arguments[:1] == ["--one"]:
        name, program, count, folder = arguments[1:]
        print(json.dumps(measure(name, program, int(count), Path(folder))))
        return
    counts: tuple[int, ...] = (1, 2)
    rounds = ROUNDS
    if "--threads" in arguments:
        counts = (int(arguments[arguments.index("--threads") + 1]),)
    if "--rounds" in arguments:
        rounds = int(arguments[arguments.index("--rounds") + 1])
    names = [name for name in arguments if name in NETWORKS] or list(NETWORKS)
    results: dict[int, dict[str, dict[str, dict[str, float]]]] = {count: {} for count in counts}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            export(name, Path(folder))
            for threads in counts:
                results[threads][name] = best_of(name, threads, Path(folder), rounds)
                print(threads, name, results[threads][name], file=sys.stderr, flush=True)
    tables = [tabled(threads, results[threads]) for threads in counts]
    if len(names) == len(NETWORKS) and counts == (1, 2):
        report("quantized.md", "\n\n".join([*tables, sizes(results[1])]))
        seconds = {
            count: {
                name: {program: entry["ms"] / 1e3 for program, entry in got.items()}
                for name, got in rows.items()
            }
            for count, rows in results.items()
        }
        DATA.write_text(json.dumps(seconds, indent=1) + "\n", "utf-8")
    else:
        print("\n\n".join(tables))


if __name__ == "__main__":
    main()
