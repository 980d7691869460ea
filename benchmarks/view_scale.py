"""Time every view on programs of 500 to 10,000 calls: its time must grow linearly with the program.

python -m benchmarks.view_scale [--before TREE] [--only VIEW …]

TREE is a checkout of an earlier commit.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.fusion_view import chain, text

ROOT = Path(__file__).parents[1]
LENGTHS = (500, 2_000, 10_000)
LARGE = 50_000
LARGE_VIEWS = ("ir", "types", "fusion")
VIEWS = (
    "ir", "costs", "types", "evaluation", "sharing", "fusion", "pipeline", "gradient", "partial", "memory",
    "machine", "quantize",
)  # fmt: skip
PASSES = "SimplifyInference, FoldScaleAxis, EliminateCommonSubexpr, FuseOps"


def options_of(kind: str) -> dict[str, Any]:
    """Return what a view needs besides the program."""
    import numpy as np

    if kind in ("evaluation", "sharing", "machine"):
        return {"args": (np.ones((8, 8), "float32"), np.full((8, 8), 0.1, "float32"))}
    return {"passes": PASSES} if kind == "pipeline" else {}


def one(kind: str, calls: int) -> dict[str, float]:
    """Return the processor time of building a view's data from the parsed program, and the data's size."""
    from relay_explorer import explore, relay

    module, options = relay.parse(text(chain(calls))), options_of(kind)
    explore(relay.parse("def @main(%x: float32) { exp(%x) }"), view="fusion")  # imports
    start = time.process_time()
    data = explore(module, view=kind, **options).to_json()
    return {"seconds": time.process_time() - start, "bytes": float(len(data))}


def measured(tree: Path, kind: str, calls: int) -> dict[str, float]:
    """Measure the same in a separate process, on a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    command = [sys.executable, str(Path(__file__).resolve()), "--one", kind, str(calls)]
    # This file measures, also where the checkout has none of its name: only the package is the checkout's.
    environment["PYTHONPATH"] += f"{os.pathsep}{ROOT}"
    done = subprocess.run(command, env=environment, cwd=tree, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="a checkout of an earlier commit")
    parser.add_argument("--only", nargs="+", choices=VIEWS, default=VIEWS, help="these views")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one[0], int(options.one[1]))))
        return
    from benchmarks.common import report, table

    load = os.getloadavg()[0]
    rows = []
    for kind in options.only:
        lengths = (*LENGTHS, LARGE) if kind in LARGE_VIEWS else LENGTHS
        now = {calls: measured(ROOT, kind, calls) for calls in lengths}
        most = max(LENGTHS)
        before = measured(options.before.resolve(), kind, most) if options.before else None
        growth = now[most]["seconds"] / now[2_000]["seconds"]
        rows.append(
            [
                kind,
                *(f"{now[calls]['seconds']:.2f} s" if calls in now else "–" for calls in (*LENGTHS, LARGE)),
                f"× {growth:.1f}",
                f"{now[most]['bytes'] / 1e6:.1f} MB",
                f"{before['seconds']:.2f} s" if before else "–",
            ]
        )
    headings = [
        "view", *(f"{calls:,}" for calls in (*LENGTHS, LARGE)), "10,000 for 2,000", "JSON of 10,000",
        "10,000 before",
    ]  # fmt: skip
    report("view_scale.md", table(headings, rows), f"\nLoad average at the start: {load:.1f}.\n")


if __name__ == "__main__":
    main()
