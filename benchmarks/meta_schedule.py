"""Run TVM's MetaSchedule on the layer of chapter 26: how long its search takes, and what it finds.

python -m benchmarks.meta_schedule [TRIALS]        (needs apache-tvm and a C compiler; takes minutes)

The search derives its space from the loops of the layer. Candidates are compiled and timed in this process,
as the package's own search does, rather than in processes of their own. Without xgboost there is no learned
cost model, so the evolutionary search works with a random one. Writes the table.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from benchmarks.common import report, table
from benchmarks.tuning import layer
from relay_explorer.lower.codegen.search import SECONDS, measured
from relay_explorer.lower.targets.target import Target

TRIALS = 48
CHANNELS, SIDE = 256, 28


def formula() -> Any:
    """Return the layer as unscheduled loops: 256 to 256 channels, 28 by 28 positions, bias and ReLU."""
    from tvm import te, tirx

    x = te.placeholder((CHANNELS, SIDE, SIDE), name="x")
    weight = te.placeholder((CHANNELS, CHANNELS), name="weight")
    bias = te.placeholder((CHANNELS,), name="bias")
    k = te.reduce_axis((0, CHANNELS), name="k")
    shape = (CHANNELS, SIDE, SIDE)
    conv = te.compute(shape, lambda o, i, j: te.sum(weight[o, k] * x[k, i, j], axis=k), name="conv")
    zero = tirx.const(0.0, "float32")
    relu = te.compute(shape, lambda o, i, j: tirx.max(conv[o, i, j] + bias[o], zero), name="relu")
    return te.create_prim_func([x, weight, bias, relu]).with_attr("global_symbol", "main")


def seconds(run: Callable[..., Any]) -> float:
    """Time a kernel as the package's search does: the minimum of at least three runs."""
    import numpy as np
    import tvm

    shapes = ((CHANNELS, SIDE, SIDE), (CHANNELS, CHANNELS), (CHANNELS,), (CHANNELS, SIDE, SIDE))
    arrays = [tvm.runtime.tensor(np.ones(shape, "float32")) for shape in shapes]
    fastest, end, runs = float("inf"), time.perf_counter() + SECONDS, 0
    while runs < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        run(*arrays)
        fastest = min(fastest, time.perf_counter() - start)
        runs += 1
    return fastest


def search(trials: int) -> tuple[float, list[float]]:
    """Run MetaSchedule; return its duration in seconds, and the run time of each candidate."""
    import tvm
    from tvm.s_tir import meta_schedule as ms

    compiled: dict[str, Any] = {}
    times: list[float] = []

    class Builder(ms.builder.PyBuilder):  # type: ignore[misc]
        def build(self, build_inputs: Any) -> list[Any]:
            results = []
            for one in build_inputs:
                path = str(len(compiled))
                compiled[path] = tvm.compile(one.mod, target=one.target)
                results.append(ms.builder.BuilderResult(path, None))
            return results

    class Runner(ms.runner.PyRunner):  # type: ignore[misc]
        def run(self, runner_inputs: Any) -> list[Any]:
            return [self.future(one.artifact_path) for one in runner_inputs]

        def future(self, path: str) -> Any:
            times.append(seconds(compiled[path]["main"]))
            result = ms.runner.RunnerResult([times[-1]], None)
            return ms.runner.RunnerFuture(lambda: True, lambda: result)

    derive = tvm.ir.utils.derived_object
    logging.getLogger("tvm").setLevel(logging.ERROR)
    here = Target.of("cpu")
    target = {**here.dict, "num-cores": here.cores}
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        ms.tune_tir(
            formula(), tvm.target.Target(target), folder, trials, num_trials_per_iter=16,
            builder=derive(Builder)(), runner=derive(Runner)(), cost_model="random",
            measure_callbacks=[ms.measure_callback.AddToDatabase()], seed=1,
        )  # fmt: skip
    return time.perf_counter() - start, times


def main() -> None:
    trials = int(sys.argv[1]) if sys.argv[1:] else TRIALS
    kernel = layer()
    own = measured(kernel.scheduled)
    took, times = search(trials)
    rows = [
        ("the package's first candidate", "1", "–", f"{own * 1e6:,.0f} µs"),
        ("MetaSchedule", len(times), f"{took:.0f} s", f"{min(times) * 1e6:,.0f} µs"),
    ]
    report("meta_schedule.md", table(["schedule", "candidates measured", "search", "time per run"], rows))


if __name__ == "__main__":
    main()
