"""Measure a run of a model, kernel by kernel, for the book's lowering explorers.

    python -m benchmarks.run_of_a_model [resnet18 mobilenet …]

Writes `relay_explorer/lower/profiling/measured/MODEL.json`, which includes the machine's name. Run it on an
otherwise idle machine.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from benchmarks.networks import weights_of
from relay_explorer import build, models
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.lower.profiling import measurement
from relay_explorer.typing import infer_types

FOLDER = Path(measurement.__file__).parent / "measured"


def measured(name: str) -> measurement.Measurement:
    """Build the model with random weights as constants for this machine, and measure it."""
    module = infer_types(models.load(name))
    exe = build(module, params=weights_of(module))
    shape = as_tensor_type(module["main"].params[0]).concrete_shape
    data = np.random.default_rng(1).normal(size=shape).astype("float32")
    return measurement.measure(exe, [data], program=name)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in [name for name in sys.argv[1:] if name in models.names()] or measurement.STORED:
        run = measured(name)
        run.save(FOLDER / f"{name}.json")
        print(f"{name}: {run.ns / 1e6:.2f} ms, {len(run.launches)} launches")
        print(f"{run.machine}: {run.limits}")


if __name__ == "__main__":
    main()
