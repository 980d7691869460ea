"""Measures the peak performance of this machine: arithmetic and memory bandwidth.

A kernel that performs `flops` operations and moves `traffic` bytes takes at least the longer of the two times
that these would take alone (Williams, Waterman and Patterson, "Roofline", Communications of the ACM 52(4),
2009). Winograd's algorithm needs fewer multiplications than the layer's definition, so the layer's operation
count is not a bound for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

from ...ir.errors import RelayError
from ...ir.lazy_dataclass import dataclass
from ..require import tvm
from ..targets.target import Target
from ..threads import threads

ACCUMULATORS = 12  # vectors: enough multiply-adds in flight, few enough for the registers
STEPS = 4096  # multiply-adds of each accumulator
STREAM = 1 << 28  # bytes read sequentially: far more than a last-level cache holds
SECONDS = 0.3  # for which each of the two measurements runs; the fastest run counts


@dataclass(frozen=True)
class Limits:
    """The peak performance of a machine: `flops`, floating-point operations per second, and `bandwidth`,
    bytes per second read sequentially from memory, both on `threads` threads.
    """

    flops: float
    bandwidth: float
    threads: int

    @property
    def ridge(self) -> float:
        """The operations per byte from which on a kernel is compute-bound (the roofline's ridge point)."""
        return self.flops / self.bandwidth

    def seconds(self, flops: float, traffic: float) -> float:
        """Return the minimum time for a number of operations and bytes (the roofline)."""
        return max(flops / self.flops, traffic / self.bandwidth)

    def __str__(self) -> str:
        many = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return f"{self.flops / 1e9:.0f} GFLOP/s and {self.bandwidth / 1e9:.1f} GB/s on {many}"


@cache
def limits(target: Target) -> Limits:
    """Measure the peak performance in float32, on all threads that kernels use. This takes about a second.
    Raise a RelayError for a GPU, and for a target that this machine cannot run.
    """
    if not target.runs_here or target.kind == "cuda":
        raise RelayError(
            f"the peak performance of {target} cannot be measured on this machine",
            help=['measure target="cpu", or run this on such a machine'],
        )
    many = threads()
    return Limits(_arithmetic(target, many), _bandwidth(target, many), many)


def _arithmetic(target: Target, many: int) -> float:
    """Measure the operations per second: vector multiply-adds, of two operations per lane, whose accumulators
    stay in registers.
    """
    te, lanes = tvm().te, target.lanes()
    x = te.placeholder((many, STEPS), name="x")
    w = te.placeholder((ACCUMULATORS, lanes), name="w")
    k = te.reduce_axis((0, STEPS), name="k")
    out = te.compute(
        (many, ACCUMULATORS, lanes),
        lambda t, a, lane: te.sum(x[t, k] * w[a, lane], axis=k),
        name="sums",
    )

    def schedule(sch: Any) -> None:
        block = sch.get_sblock("sums")
        held = sch.cache_write(block, 0, "local")
        thread, a, lane, step = sch.get_loops(block)
        sch.reorder(thread, step, a, lane)
        sch.parallel(thread)
        sch.unroll(a)
        sch.vectorize(lane)
        sch.reverse_compute_at(held, thread)
        sch.vectorize(sch.get_loops(held)[-1])
        sch.decompose_reduction(block, step)

    run = _compiled([x, w, out], schedule, target)
    return 2.0 * many * STEPS * ACCUMULATORS * lanes / _shortest(run)


def _bandwidth(target: Target, many: int) -> float:
    """Measure the bandwidth: sum a long array, each thread reading its part sequentially."""
    te, width = tvm().te, 4 * target.lanes()
    rows = STREAM // (4 * many * width)
    x = te.placeholder((many, rows, width), name="x")
    k = te.reduce_axis((0, rows), name="k")
    out = te.compute((many, width), lambda t, lane: te.sum(x[t, k, lane], axis=k), name="sums")

    def schedule(sch: Any) -> None:
        block = sch.get_sblock("sums")
        held = sch.cache_write(block, 0, "local")
        thread, lane, step = sch.get_loops(block)
        group, lane = sch.split(lane, [None, target.lanes()])
        sch.reorder(thread, step, group, lane)
        sch.parallel(thread)
        sch.unroll(group)
        sch.vectorize(lane)
        sch.reverse_compute_at(held, thread)
        sch.decompose_reduction(block, step)

    run = _compiled([x, out], schedule, target)
    return 4.0 * many * rows * width / _shortest(run)


def _compiled(tensors: list[Any], schedule: Callable[[Any], None], target: Target) -> Callable[[], object]:
    import numpy as np

    library = tvm()
    with target.tvm:
        func = library.te.create_prim_func(tensors).with_attr("global_symbol", "main")
        sch = library.s_tir.Schedule(library.IRModule({"main": func}))
        schedule(sch)
        run = library.compile(sch.mod, target=target.tvm)["main"]
    arrays = [library.runtime.tensor(np.ones([int(d) for d in t.shape], "float32")) for t in tensors]
    return lambda: run(*arrays)


def _shortest(run: Callable[[], object]) -> float:
    """Return the seconds of the fastest run, because other work on the machine only makes runs longer."""
    run()
    best, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best
