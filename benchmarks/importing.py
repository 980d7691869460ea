"""Time the import of ONNX files: ours, that of TVM's Relax, and onnx's own shape inference; and the peak
memory of each.

    python -m benchmarks.importing

Each measurement runs in a process of its own, which has loaded the importer before. The processes alternate.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.common import median, report, table
from benchmarks.imported import export

NETWORKS = ("ResNet-50", "BERT-base")
ROUNDS = 3  # processes of each program, in alternation
REPEATS = 5  # imports in one process; the first is reported too
PROGRAMS = {
    "ours": "`from_onnx`",
    "relax": "`tvm.relax.frontend.onnx.from_onnx`",
    "shapes": "`onnx.shape_inference`, with `onnx.load`",
}


def importer(program: str) -> Callable[[str], object]:
    """Return the function that imports a file, with everything loaded that it needs."""
    import onnx

    if program == "ours":
        from relay_explorer.frontends import from_onnx
        from relay_explorer.frontends.onnx import registry

        registry.load()
        return from_onnx
    if program == "relax":
        from tvm.relax.frontend.onnx import from_onnx as from_onnx_to_relax

        return lambda path: from_onnx_to_relax(onnx.load(path))
    return lambda path: onnx.shape_inference.infer_shapes(onnx.load(path))


def peak_memory() -> int:
    """Return the peak memory of this process in bytes. (`getrusage` would include that of the parent.)"""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


def measure(program: str, path: str) -> dict[str, Any]:
    """Import a file several times in this process; return the seconds, and the memory of the first."""
    run = importer(program)
    before = peak_memory()
    seconds: list[float] = []
    memory = 0
    for _ in range(REPEATS):
        start = time.perf_counter()
        run(path)
        seconds.append(time.perf_counter() - start)
        memory = memory or peak_memory() - before
    return {"first": seconds[0], "seconds": median(seconds), "memory": memory}


def in_process(program: str, path: Path) -> dict[str, Any]:
    """Measure a program in a process of its own."""
    call = f"measure({program!r}, {str(path)!r})"
    code = f"import json; from benchmarks.importing import measure; print(json.dumps({call}))"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(out.stdout.splitlines()[-1])
    return result


def main() -> None:
    rows: list[tuple[str, ...]] = []
    for name in NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            export(name, Path(folder))
            path = Path(folder) / "model.onnx"
            size = path.stat().st_size
            results: dict[str, list[dict[str, Any]]] = {program: [] for program in PROGRAMS}
            for _ in range(ROUNDS):
                for program in PROGRAMS:
                    results[program].append(in_process(program, path))
        ours = median([result["seconds"] for result in results["ours"]])
        for program, about in PROGRAMS.items():
            seconds = median([result["seconds"] for result in results[program]])
            first = median([result["first"] for result in results[program]])
            memory = max(result["memory"] for result in results[program])
            rows.append(
                (
                    f"{name}, {size / 1e6:.0f} MB",
                    about,
                    f"{first * 1e3:.0f} ms",
                    f"{seconds * 1e3:.0f} ms",
                    f"{seconds / ours:.1f}",
                    f"{memory / 1e6:.0f} MB",
                )
            )
    headings = ["model", "program", "first", "median", "relative to ours", "memory added"]
    report("importing.md", table(headings, rows))


if __name__ == "__main__":
    main()
