"""Compare the thread pool on which kernels run their parallel loops with TVM's: alone, beside a process that
keeps one core busy, and as two processes at once.

python -m benchmarks.thread_pools
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np

from benchmarks.common import median, report, table

POOLS = {"ours": "this package's", "tvm": "TVM's"}
NETWORKS = ("mobilenet", "resnet18")
SECONDS = 4.0  # of runs in one process
ROUNDS = 2  # processes of each pool, in alternation
BUSY = "while True: pass"


def measure(network: str, pool: str) -> list[float]:
    """Return the shortest and the median milliseconds of a run."""
    import relay_explorer
    from relay_explorer import models
    from relay_explorer.ir.narrow import as_tensor_type
    from relay_explorer.lower.runtime import kernel

    if pool == "tvm":
        setattr(kernel, "connect", lambda library: None)  # noqa: B010 — the module does not export it
    module = models.load(network)
    random = np.random.default_rng(0)
    image, *weights = [
        np.abs(random.normal(0, 0.1, as_tensor_type(p).concrete_shape)).astype("float32")
        for p in module["main"].params
    ]
    params = {p.name_hint: value for p, value in zip(module["main"].params[1:], weights)}
    run = relay_explorer.build(module, params=params, quiet=True)
    run(image)
    times = []
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        run(image)
        times.append((time.perf_counter() - start) * 1e3)
    return [min(times), median(times)]


def started(network: str, pool: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.thread_pools", "--one", network, pool]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def result(process: subprocess.Popen[str]) -> list[float]:
    output, _ = process.communicate()
    if process.returncode:
        raise RuntimeError("a measurement failed")
    times: list[float] = json.loads(output.splitlines()[-1])
    return times


def situations(network: str, pool: str) -> list[list[float]]:
    """Return the times alone, beside a busy process, and (the slower) of two at once."""
    alone = result(started(network, pool))
    busy = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        beside = result(started(network, pool))
    finally:
        busy.kill()
        busy.wait()
    pair = [started(network, pool) for _ in range(2)]
    return [alone, beside, max(map(result, pair))]


def main() -> None:
    arguments = sys.argv[1:]
    if arguments[:1] == ["--one"]:
        print(json.dumps(measure(*arguments[1:])))
        return
    rows = []
    for network in NETWORKS:
        best: dict[str, list[list[float]]] = {}
        for pool in list(POOLS) * ROUNDS:
            got = situations(network, pool)
            old = best.get(pool, got)
            best[pool] = [min(pair, key=lambda t: t[1]) for pair in zip(old, got)]
        rows += [
            [network, POOLS[pool], *(f"{low:.1f} / {middle:.1f}" for low, middle in times)]
            for pool, times in best.items()
        ]
    headings = ["network", "thread pool", "alone", "beside a busy process", "two processes at once"]
    report("thread_pools.md", table(headings, rows))


if __name__ == "__main__":
    main()
