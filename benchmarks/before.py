"""Compare imports, builders, inference, passes, building and compiled networks with an earlier commit.

python -m benchmarks.before TREE

TREE is a checkout of the earlier commit. The two commits run in separate processes, which alternate, so that
other programs on the machine slow both down.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ROUNDS = 7
LEAST = 0.1  # seconds of a measurement; a shorter run is repeated
IMPORTS = ("import relay_explorer", "from relay_explorer import relay")
BUILDING = "building ResNet-18, without compiling kernels"  # which happens in other processes
BUILD = """
import time
from relay_explorer import build, models
from relay_explorer.lower.require import tvm
tvm()
network = models.load("resnet18")
start = time.process_time()
build(network)
print(time.process_time() - start)
"""
NETWORKS = ("resnet18", "mobilenet", "lstm")
COMPILED = "a run of "  # the wall clock: kernels use all cores
Run = Callable[[], object]


def cases() -> dict[str, tuple[Run, float]]:
    """Return the timed functions, and the number of runs per measurement; both commits execute this code."""
    from relay_explorer import models, relay, transform
    from relay_explorer.ir import Call, Expr, IRModule
    from relay_explorer.typing import infer_types

    def chain(calls: int) -> IRModule:
        x = relay.var("x", shape=(8, 16))
        body: Expr = x
        for index in range(calls):
            body = relay.add(body, x) if index % 2 else relay.tanh(body)
        return IRModule.from_expr(relay.Function([x], body))

    def network(calls: int) -> IRModule:
        params = [relay.var("data", shape=(1, 8, 8, 8))]
        x: Expr = params[0]
        for index in range(calls // 5):
            w, b, s = (
                relay.var(f"{name}{index}", shape=shape)
                for name, shape in (("w", (8, 8, 3, 3)), ("b", (8,)), ("s", (8,)))
            )
            params += [w, b, s]
            y = relay.nn.bias_add(relay.nn.conv2d(x, w, padding=(1, 1), channels=8), b)
            y = relay.multiply(y, relay.expand_dims(s, axis=1, num_newaxis=2))
            x = relay.add(relay.nn.relu(y), x)
        return IRModule.from_expr(relay.Function(params, x))

    x = relay.var("x", shape=(2, 3))
    add, args = relay.Op.get("add"), [x, x]
    builders: dict[str, Run] = {
        "Call(…)": lambda: Call(add, args),
        "relay.add": lambda: relay.add(x, x),
        "relay.nn.softmax": lambda: relay.nn.softmax(x),
        "relay.sum, with an axis": lambda: relay.sum(x, axis=1),
        "relay.nn.conv2d": lambda: relay.nn.conv2d(x, x, padding=(1, 1), channels=8),
    }
    resnet, encoder, long = models.load("resnet50"), models.load("transformer"), chain(10_000)
    text, typed = resnet.astext(), infer_types(network(1_000))
    steps: list[transform.Pass] = [
        transform.SimplifyInference(), transform.FoldConstant(), transform.EliminateCommonSubexpr(),
        transform.FuseOps(2), transform.ToANormalForm(), transform.DeadCodeElimination(),
        transform.PartialEvaluate(), transform.FoldScaleAxis(), transform.FirstOrderGradient(),
        transform.ConvertLayout({"nn.conv2d": ["NHWC", "default"]}), transform.ToMixedPrecision(),
    ]  # fmt: skip

    def compiled(name: str) -> Run:
        """Return a function that runs a compiled network with constant weights; it compiles the network on
        its first call.
        """
        import numpy as np

        from relay_explorer import build

        @cache
        def program() -> tuple[Any, Any]:
            network = infer_types(models.load(name))
            rng = np.random.default_rng(1)
            types: dict[str, Any] = {p.name_hint: p.checked_type for p in network["main"].params}
            values = {n: rng.uniform(0.5, 1.0, t.concrete_shape).astype(t.dtype) for n, t in types.items()}
            first = next(iter(values))
            data = values.pop(first)
            return build(network, params=values, quiet=True), data

        def run() -> object:
            executable, data = program()
            return executable(data)

        return run

    def often(run: Run) -> Run:
        return lambda: [run() for _ in range(1_000)]

    result = {name: (often(run), 1e3) for name, run in builders.items()}
    runs: dict[str, Run] = {
        "reading the text of ResNet-50": lambda: relay.parse(text),
        "printing ResNet-50": lambda: resnet.astext(),
        "inference, ResNet-50": lambda: infer_types(resnet),
        "inference, transformer": lambda: infer_types(encoder),
        "inference, a chain of 10,000 calls": lambda: infer_types(long),
        "all passes of level 3, ResNet-50": lambda: transform.optimize(resnet, level=3),
        "all passes of level 3, transformer": lambda: transform.optimize(encoder, level=3),
    }
    runs |= {f"{step.info.name}, 1,000 calls": partial(step, typed) for step in steps}
    runs |= {COMPILED + name: compiled(name) for name in NETWORKS}
    return result | {name: (run, 1) for name, run in runs.items()}


def serve() -> None:
    """Run the case that each line of the input names; print the time of its fastest run."""
    timed = cases()
    print(json.dumps(list(timed)), flush=True)
    for line in sys.stdin:
        name = json.loads(line)
        run, count = timed[name]
        clock = time.perf_counter if name.startswith(COMPILED) else time.process_time
        run()
        gc.collect()
        begin, best = clock(), float("inf")
        while clock() - begin < LEAST:
            start = clock()
            run()
            best = min(best, clock() - start)
        print(json.dumps(best / count), flush=True)


class Tree:
    """A checkout, whose cases run in their own process."""

    def __init__(self, path: Path, bytecode: str) -> None:
        self.environment = {**os.environ, "PYTHONPATH": str(path), "PYTHONPYCACHEPREFIX": bytecode}
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.path = path
        self.server = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--serve", "."],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment, cwd=path,
        )  # fmt: skip
        self.cases: list[str] = self._answer()

    def _answer(self) -> Any:
        assert self.server.stdout is not None
        return json.loads(self.server.stdout.readline())

    def seconds(self, name: str) -> float:
        """Return the time of a case; an import or a build is timed in its own process."""
        if name in IMPORTS:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            self._python(name)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if name == BUILDING:
            with tempfile.TemporaryDirectory() as cache:
                return float(self._python(BUILD, cache).splitlines()[-1])
        assert self.server.stdin is not None
        self.server.stdin.write(json.dumps(name) + "\n")
        self.server.stdin.flush()
        return float(self._answer())

    def _python(self, program: str, cache: str = "") -> str:
        environment = self.environment | ({"RELAY_EXPLORER_CACHE": cache} if cache else {})
        return subprocess.run(
            [sys.executable, "-c", program],
            env=environment, cwd=self.path, check=True, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ).stdout  # fmt: skip


def shown(seconds: float) -> str:
    """Format a time in a suitable unit."""
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.2f} µs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=Path, help="a checkout of the earlier commit")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="", help="print only cases whose names begin so")
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    from benchmarks.common import report, table

    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as bytecode:
        trees = {"before": Tree(options.tree.resolve(), bytecode), "now": Tree(ROOT, bytecode)}
        names = [n for n in (*IMPORTS, *trees["now"].cases, BUILDING) if n.startswith(options.only)]
        best = {key: dict.fromkeys(names, float("inf")) for key in trees}
        for iteration in range(options.rounds):
            for name in names:
                if iteration and name == BUILDING:  # it takes a minute
                    continue
                for key, tree in list(trees.items())[:: 1 if iteration % 2 else -1]:
                    times = [tree.seconds(name) for _ in range(5 if name in IMPORTS else 1)]
                    best[key][name] = min(best[key][name], *times)
    before, now = best["before"], best["now"]
    rows = [(n, shown(before[n]), shown(now[n]), f"{now[n] / before[n]:.2f}×") for n in names]
    headings = ["measurement", "18d4abe", "now", "now / 18d4abe"]
    if options.only:
        print(table(headings, rows))
    else:
        report("before.md", table(headings, rows), f"\nLoad average at the start: {load:.1f}.\n")


if __name__ == "__main__":
    main()
