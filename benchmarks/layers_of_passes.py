"""Measure how the passes, added group by group, change the time of networks: the figure of the paper's
evaluation, from our own runs.

python -m benchmarks.layers_of_passes [model …]        (needs apache-tvm: it is in requirements.txt)

Writes the tables, one for the processor and, where there is a GPU, one for it; and the processor's times,
`layers_of_passes.json`, from which `make figures` draws the figure.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import relay_explorer
from benchmarks.common import machine, report, table
from relay_explorer import models
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.lower.runtime.executable import Executable
from relay_explorer.transform import PassContext
from relay_explorer.typing import infer_types

MODELS = ("dqn", "mobilenet", "resnet18", "vgg16")
DATA = Path(__file__).with_suffix(".json")
SECONDS = 8.0  # of runs of one network, all groups of passes together
OF_LEVEL_3 = ("EliminateCommonSubexpr", "FoldScaleAxis", "CanonicalizeCast", "CanonicalizeOps")


class Layer(NamedTuple):
    """One more group of passes: what it adds, the level, and which passes of that level are disabled."""

    adds: str
    level: int
    without: tuple[str, ...] = ()


LAYERS = (
    Layer("none", 0),
    Layer("+ fusion", 1),
    Layer("+ constant folding", 2),
    Layer("+ layouts", 3, OF_LEVEL_3),
    Layer("+ scale folding, CSE", 3),
)


def built(name: str, layer: Layer, target: str) -> Executable:
    module = infer_types(models.load(name))
    random = np.random.default_rng(0)
    params = {
        p.name_hint: random.normal(0, 0.05, as_tensor_type(p).concrete_shape).astype("float32")
        for p in module["main"].params[1:]
    }
    for key, value in params.items():
        if "var" in key:  # variances are not negative
            params[key] = np.abs(value) + 0.5
    with PassContext(disabled_pass=layer.without):
        return relay_explorer.build(module, target, params=params, opt_level=layer.level, quiet=True)


def measured(name: str, target: str) -> list[float]:
    """Return the minimum seconds of a run with each group of passes, measured in alternation, to the four
    digits that are stored: the table and the figure are computed from the same numbers.
    """
    programs = [built(name, layer, target) for layer in LAYERS]
    shape = as_tensor_type(infer_types(models.load(name))["main"].params[0]).concrete_shape
    x = np.random.default_rng(1).normal(size=shape).astype("float32")
    expected = programs[0](x)
    for program in programs[1:]:
        np.testing.assert_allclose(program(x), expected, rtol=1e-2, atol=1e-4)
    fastest = [math.inf] * len(programs)
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for index, program in enumerate(programs):
            start = time.perf_counter()
            program(x)
            fastest[index] = min(fastest[index], time.perf_counter() - start)
    return [float(f"{seconds:.4g}") for seconds in fastest]


def targets() -> list[str]:
    """Return the CPU, and the GPU if there is a usable one."""
    from relay_explorer.lower.require import tvm
    from relay_explorer.lower.targets.device import lacks
    from relay_explorer.lower.targets.target import Target

    return ["cpu", "cuda"] if tvm().cuda(0).exist and not lacks(Target.of("cuda")) else ["cpu"]


def tabled(times: dict[str, list[float]]) -> str:
    speeds = {name: [seconds[0] / each for each in seconds] for name, seconds in times.items()}
    rows: list[tuple[str, ...]] = [
        (
            name,
            f"{seconds[0] * 1e3:.2f} ms",
            *(f"{speed:.2f}×" for speed in speeds[name][1:]),
            f"{seconds[-1] * 1e3:.2f} ms",
        )
        for name, seconds in times.items()
    ]
    means = [math.prod(s[k] for s in speeds.values()) ** (1 / len(speeds)) for k in range(len(LAYERS))]
    rows.append(("geometric mean", "", *(f"{mean:.2f}×" for mean in means[1:]), ""))
    return table(["network", "no passes", *(layer.adds for layer in LAYERS[1:]), "all passes"], rows)


def main() -> None:
    names = [name for name in sys.argv[1:] if name in MODELS] or list(MODELS)
    times: dict[str, dict[str, list[float]]] = {}
    for target in targets():
        for name in names:
            print(target, name, file=sys.stderr, flush=True)
            times.setdefault(target, {})[name] = measured(name, target)
    threads = os.environ.get("TVM_NUM_THREADS") or os.cpu_count()
    text = tabled(times["cpu"])
    if "cuda" in times:
        text += f"\n\nOn the GPU:\n\n{tabled(times['cuda'])}"
    report("layers_of_passes.md", text, f"Threads: {threads}.\n")
    if names == list(MODELS):
        results = {
            "machine": machine(),
            "layers": [layer.adds for layer in LAYERS],
            "seconds": times["cpu"],
        }
        DATA.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
