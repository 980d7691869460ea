"""Measure what there is to tune and what a search finds: every tile of one layer, the candidates of a whole
network, and the noise of repeated measurements.

python -m benchmarks.tuning        (needs apache-tvm and a C compiler; takes about two minutes)

Writes the table, and `relay_explorer/lower/profiling/measured/tuning.json`, from which chapter 26 and its
figures are made.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import relay_explorer
from benchmarks.common import machine, report, table
from relay_explorer import models, relay
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.lower.codegen.compile_kernel import generated, scheduled
from relay_explorer.lower.codegen.search import measured
from relay_explorer.lower.runtime.kernel import Kernel
from relay_explorer.lower.targets.target import Target
from relay_explorer.typing import infer_types

DATA = Path(relay_explorer.__file__).parent / "lower" / "profiling" / "measured" / "tuning.json"
CHANNELS, COLUMNS = (1, 2, 4), (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 20, 28)
TURNS, RUNS = 3, 600
NETWORK = "resnet18"


def layer() -> Kernel:
    """Return a layer of MobileNet: 256 to 256 channels, 28 by 28 positions, a 1 by 1 kernel, bias and
    ReLU.
    """
    x = relay.var("x", shape=(1, 256, 28, 28))
    weight, bias = numbers(256, 256, 1, 1), numbers(256)
    y = relay.nn.bias_add(relay.nn.conv2d(x, relay.const(weight)), relay.const(bias))
    exe = relay_explorer.build(relay.Function([x], relay.nn.relu(y)), quiet=True)
    return next(kernel for kernel in exe.kernels if kernel.rule == "blocked")


def numbers(*shape: int) -> Any:
    return (np.sin(np.arange(np.prod(shape))).reshape(shape) / 4).astype("float32")


def space(kernel: Kernel) -> list[dict[str, Any]]:
    """Return the layer's time for each tile, the minimum of several iterations over all of them."""
    tiles = [{"channels": a, "columns": b, "rows": 28} for a in CHANNELS for b in COLUMNS]
    variants = [scheduled(kernel.function, kernel.symbol, kernel.target, tile) for tile in tiles]
    seconds = [float("inf")] * len(tiles)
    for _ in range(TURNS):
        for number, one in enumerate(variants):
            seconds[number] = min(seconds[number], measured(one))
    return [{**tile, "seconds": _short(best)} for tile, best in zip(tiles, seconds)]


def noise(kernel: Kernel) -> list[float]:
    """Return the seconds of consecutive runs of the same kernel."""
    variant = kernel.scheduled
    run = generated(variant)[variant.composed.name]
    tensor = relay_explorer.lower.require.tvm().runtime.tensor
    arrays = [
        tensor(np.ones([int(d) for d in t.shape], str(t.dtype)))
        for t in (*variant.composed.inputs, *variant.composed.outputs)
    ]
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run(*arrays)
        times.append(_short(time.perf_counter() - start))
    return times


def network() -> tuple[IRModule, dict[str, Any]]:
    module = infer_types(models.load(NETWORK))
    random = np.random.default_rng(0)
    params = {
        p.name_hint: np.abs(random.normal(0, 0.05, as_tensor_type(p).concrete_shape)).astype("float32")
        for p in module["main"].params[1:]
    }
    return module, params


def search() -> list[dict[str, Any]]:
    """Return the candidates, with their times, of each kernel of the network that has a choice."""
    module, params = network()
    built = relay_explorer.build(module, params=params, search=True, quiet=True)
    results = []
    for kernel in built.kernels:
        tried = [c for c in kernel.candidates if c["seconds"] is not None]
        if len(tried) > 1:
            candidates = [{"choice": c["choice"], "seconds": _short(c["seconds"])} for c in tried]
            results.append(
                {"kernel": kernel.name, "rule": kernel.rule, "uses": kernel.uses, "tried": candidates}
            )
    return results


def _short(seconds: float) -> float:
    return float(f"{seconds:.4g}")


def main() -> None:
    kernel = layer()
    target = Target.of("cpu")
    measurement: dict[str, Any] = {
        "machine": machine(),
        "target": str(target),
        "lanes": target.lanes(),
        "flops": kernel.flops,
        "space": space(kernel),
        "noise": noise(kernel),
        "network": NETWORK,
        "search": search(),
    }
    DATA.write_text(json.dumps(measurement) + "\n")
    rows = []
    for one in measurement["search"]:
        first, best = one["tried"][0], min(one["tried"], key=lambda c: c["seconds"])
        rows.append(
            (
                one["rule"], one["uses"], len(one["tried"]), f"{first['seconds'] * 1e6:,.0f} µs",
                f"{best['seconds'] * 1e6:,.0f} µs", f"{first['seconds'] / best['seconds']:.2f}×",
                ", ".join(f"{k} {v}" for k, v in best["choice"].items()),
            )
        )  # fmt: skip
    report(
        "tuning.md", table(["schedule", "calls", "tried", "first", "best", "gain", "fastest candidate"], rows)
    )


if __name__ == "__main__":
    main()
