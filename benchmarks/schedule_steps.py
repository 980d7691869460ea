"""Time a matrix product after each step of its schedule. The steps are those of chapter 22, whose cells this
script executes.

python -m benchmarks.schedule_steps [--page]

Each step is compiled for this machine, with a tile that fits its registers, and the shortest of several runs
counts. The peak and the bandwidth are measured in the same process (`relay_explorer.lower.profiling.peak`).
The measurement is stored in `schedule_steps.json`, from which the chapter's figure is drawn; `--page` writes
its page again. The page also has the gain that the lowering explorer estimates for each step.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import machine, report, table
from relay_explorer.lower.inspect.estimate import estimate
from relay_explorer.lower.profiling.peak import Limits, limits
from relay_explorer.lower.require import tvm
from relay_explorer.lower.targets.target import Target

PAGE = Path(__file__).parents[1] / "book" / "ch22_cpu.md"
DATA = Path(__file__).with_suffix(".json")
SIZE = 768
SECONDS, LEAST = 1.5, 3  # of runs of each step, and the minimum number of runs
TILES = {8: (6, 2), 16: (8, 2)}  # rows and vectors, by lanes: 16 registers and 32; for others 4 × 2


def steps_of_the_page() -> Any:
    """Return the function `steps` of the chapter."""
    cell = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    cells = cell.findall(PAGE.read_text("utf-8"))
    names: dict[str, Any] = {}
    for start in ("import numpy as np\nimport tvm", "def steps("):
        (code,) = [cell for cell in cells if cell.startswith(start)]
        exec(code, names)
    return names["steps"]


def shortest(sch: Any, target: Target) -> float:
    run = tvm().compile(sch.mod, target=target.tvm)["main"]
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((SIZE, SIZE)).astype("float32") for _ in range(2)]
    tensors = [tvm().runtime.tensor(a) for a in (*arrays, np.zeros((SIZE, SIZE), "float32"))]
    run(*tensors)
    np.testing.assert_allclose(tensors[2].numpy(), arrays[0] @ arrays[1], rtol=1e-3, atol=1e-3)
    fastest, count, end = float("inf"), 0, time.perf_counter() + SECONDS
    while count < LEAST or time.perf_counter() < end:
        start = time.perf_counter()
        run(*tensors)
        fastest = min(fastest, time.perf_counter() - start)
        count += 1
    return fastest


def estimated(measurement: dict[str, Any]) -> list[int]:
    """Return the estimated cycles of each step, with caches of 48 KB and 1 MB."""
    rows, vectors, lanes = measurement["tile"]
    nests = steps_of_the_page()(measurement["size"], rows, vectors, lanes)
    return [estimate(sch.mod["main"], measurement["threads"], (48 << 10, 1 << 20)).cycles for _, sch in nests]


def page(measurement: dict[str, Any]) -> None:
    """Write the page of the measurements, with the estimates of the lowering explorer."""
    work, seconds, cycles = (
        2 * measurement["size"] ** 3,
        list(measurement["seconds"].values()),
        estimated(measurement),
    )
    lines = []
    for at, name in enumerate(measurement["seconds"]):
        speed = work / seconds[at]
        lines.append(
            (
                name,
                f"{seconds[at] * 1e3:.2f} ms",
                f"{seconds[0] / seconds[at]:.0f}×",
                f"{speed / 1e9:.1f}",
                f"{speed / measurement['flops']:.1%}",
                f"{seconds[at - 1] / seconds[at]:.2f}×" if at else "",
                f"{cycles[at - 1] / cycles[at]:.2f}×" if at else "",
            )
        )
    head = [
        "step",
        "time per run",
        "speedup over the first",
        "GFLOP/s",
        "fraction of the peak",
        "gain of this step",
        "estimated gain",
    ]
    rows, vectors, lanes = measurement["tile"]
    most = Limits(measurement["flops"], measurement["bandwidth"], measurement["threads"])
    tail = (
        f"\nMeasured peak: {most}. Matrices of {measurement['size']} × {measurement['size']}, a tile of "
        f"{rows} × {vectors} vectors of {lanes}. The estimate is that of the lowering explorer "
        "(`relay_explorer/lower/inspect/estimate.py`), which does not run the program.\n"
    )
    report("schedule_steps.md", table(head, lines), tail, measurement["machine"])


def main() -> None:
    if "--page" in sys.argv:  # the stored measurement
        return page(json.loads(DATA.read_text("utf-8")))
    target = Target.of("cpu")
    rows, vectors = TILES.get(target.lanes(), (4, 2))
    most = limits(target)
    fastest = {
        name: shortest(sch, target) for name, sch in steps_of_the_page()(SIZE, rows, vectors, target.lanes())
    }
    measurement = {
        "machine": machine(),
        "target": str(target),
        "size": SIZE,
        "tile": [rows, vectors, target.lanes()],
        "threads": most.threads,
        "flops": float(f"{most.flops:.4g}"),
        "bandwidth": float(f"{most.bandwidth:.4g}"),
        "seconds": {name: float(f"{seconds:.4g}") for name, seconds in fastest.items()},
    }
    DATA.write_text(json.dumps(measurement, indent=1) + "\n")
    return page(measurement)


if __name__ == "__main__":
    main()
