"""A product of matrices after each step of its schedule: the steps are those of chapter 22, whose cells are
run here as they stand in the page.

python -m benchmarks.schedule_steps

Each is compiled for this machine, with a tile for its registers, and the shortest of several runs counts;
the peak and the bandwidth are measured in the same process (`relay_explorer.lower.limits`). The measurement
is kept in `schedule_steps.json`, from which the chapter's figure is drawn.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import machine, report, table
from relay_explorer.lower.limits import limits
from relay_explorer.lower.require import tvm
from relay_explorer.lower.target import Target

PAGE = Path(__file__).parents[1] / "book" / "ch22_cpu.md"
DATA = Path(__file__).with_suffix(".json")
SIZE = 768
SECONDS, LEAST = 1.5, 3  # for which each step is run, and how often at least
TILES = {8: (6, 2), 16: (8, 2)}  # rows and vectors, by lanes: 16 registers and 32; for others 4 × 2


def steps_of_the_page() -> Any:
    """The function `steps` of the chapter."""
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
    found, turns, end = float("inf"), 0, time.perf_counter() + SECONDS
    while turns < LEAST or time.perf_counter() < end:
        start = time.perf_counter()
        run(*tensors)
        found = min(found, time.perf_counter() - start)
        turns += 1
    return found


def main() -> None:
    target = Target.of("cpu")
    rows, vectors = TILES.get(target.lanes(), (4, 2))
    most = limits(target)
    found = {
        name: shortest(sch, target) for name, sch in steps_of_the_page()(SIZE, rows, vectors, target.lanes())
    }
    work = 2 * SIZE**3
    first, lines = next(iter(found.values())), []
    for name, seconds in found.items():
        speed = work / seconds
        lines.append(
            (
                name,
                f"{seconds * 1e3:.2f} ms",
                f"{first / seconds:.0f}×",
                f"{speed / 1e9:.1f}",
                f"{speed / most.flops:.1%}",
            )
        )
    text = table(["step", "a run", "against the first", "GFLOP/s", "of the peak"], lines)
    tail = (
        f"\nMost that it can do, measured: {most}. Matrices of {SIZE} × {SIZE}, a tile of {rows} × {vectors} "
        f"vectors of {target.lanes()}.\n"
    )
    report("schedule_steps.md", text, tail)
    made = {
        "machine": machine(),
        "target": str(target),
        "size": SIZE,
        "tile": [rows, vectors, target.lanes()],
        "threads": most.threads,
        "flops": float(f"{most.flops:.4g}"),
        "bandwidth": float(f"{most.bandwidth:.4g}"),
        "seconds": {name: float(f"{seconds:.4g}") for name, seconds in found.items()},
    }
    DATA.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
