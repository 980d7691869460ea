"""Measure the cost of the recorder: nothing when it is off, and how much when it is on.

python -m benchmarks.recorder [--before TREE]

TREE is a checkout of an earlier commit; its runs alternate with those of this one.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

import relay_explorer.transform
from relay_explorer import models, relay
from relay_explorer.execute import Interpreter, make_list
from relay_explorer.execute.vm import Machine, compile_program
from relay_explorer.ir import IRModule, TensorType
from relay_explorer.models.tree_lstm import phrase
from relay_explorer.typing import infer_types

ROUNDS = 25
LEAST = 0.04  # seconds of a measurement; a shorter run is repeated
ROOT = Path(__file__).parents[1]
Case = tuple[
    Callable[[], object], Callable[[], AbstractContextManager[Any]]
]  # the timed function, and its recorder


def arguments(module: IRModule, first: Any) -> list[Any]:
    """Return the first argument, and random weights."""
    rng = np.random.default_rng(0)
    types = [p.type_annotation for p in module["main"].params[1:]]
    shapes = [(t.concrete_shape, t.dtype) for t in types if isinstance(t, TensorType)]
    return [first, *((0.1 * rng.standard_normal(shape)).astype(dtype) for shape, dtype in shapes)]


def cases() -> dict[str, Case]:
    """Return the timed functions, by name. The earlier commit executes this code, too, but has no such
    recorder.
    """
    network = models.load("resnet18")
    typed = infer_types(network)
    letters = models.load("char_rnn")
    text = np.random.default_rng(1).integers(0, 57, 64).tolist()
    run = arguments(letters, make_list(letters, text).inner)
    machine = Machine(compile_program(letters))
    trees = models.load("tree_lstm")
    words = [np.random.default_rng(k).standard_normal((1, 300)).astype("float32") for k in range(8)]
    tree: Any = tuple(zip(words[::2], words[1::2]))
    tree = ((tree[0], tree[1]), (tree[2], tree[3]))
    steps = arguments(trees, phrase(trees, tree).inner)
    power = relay.parse(
        """
        def @power(%x: float32, %n: int32) -> float32 {
          if (equal(%n, 0)) { 1f } else { multiply(%x, @power(%x, subtract(%n, 1))) }
        }
        def @main(%x: float32) -> float32 { @power(%x, 300) }"""
    )
    partial, fuse = relay.transform.PartialEvaluate(), relay.transform.FuseOps(2)

    def recorder(name: str) -> Callable[[], AbstractContextManager[Any]]:
        def make() -> AbstractContextManager[Any]:
            from relay_explorer.execute.events import EvaluationEvent
            from relay_explorer.execute.vm.events import MachineEvent
            from relay_explorer.ir.recorder import Recorder
            from relay_explorer.ir.rewrites import Rewrite
            from relay_explorer.transform.fuse_ops.groups import Decision
            from relay_explorer.transform.partial_evaluate.record import PartialEvaluationEvent
            from relay_explorer.typing.events import InferenceEvent

            kinds: dict[str, type[Any]] = {
                "inference": InferenceEvent, "interpreter": EvaluationEvent, "machine": MachineEvent,
                "partial": PartialEvaluationEvent, "fusion": Decision, "rewrites": Rewrite,
            }  # fmt: skip
            return Recorder(kinds[name])

        return make

    interpret, interpret_tree = Interpreter(letters), Interpreter(trees)
    return {
        "inference, ResNet-18": (lambda: infer_types(network), recorder("inference")),
        "interpreter, character RNN of 64 letters": (
            lambda: interpret.call("main", run), recorder("interpreter")
        ),
        "interpreter, TreeLSTM of 8 words": (
            lambda: interpret_tree.call("main", steps), recorder("interpreter")
        ),
        "virtual machine, character RNN of 64 letters": (
            lambda: machine.call("main", run), recorder("machine")
        ),
        "partial evaluation, power with exponent 300": (lambda: partial(power), recorder("partial")),
        "fusion, ResNet-18": (lambda: fuse(typed), recorder("fusion")),
        "all passes of level 3, ResNet-18": (
            lambda: relay_explorer.transform.optimize(network, level=3), recorder("rewrites")
        ),
    }  # fmt: skip


def once(action: Callable[[], object], recorder: Callable[[], AbstractContextManager[Any]]) -> float:
    """Return the processor seconds of one run."""
    with recorder():
        start = time.process_time()
        action()
        return time.process_time() - start


def serve() -> None:
    """Run the case that each line of the input names, with or without its recorder; print the seconds."""
    available = cases()
    print(json.dumps(list(available)), flush=True)
    for line in sys.stdin:
        name, recorded = json.loads(line)
        action, recorder = available[name]
        gc.collect()
        seconds = once(action, recorder if recorded else nullcontext)
        times = 1 + int(LEAST / seconds)
        if times > 1:
            seconds = sum(once(action, recorder if recorded else nullcontext) for _ in range(times)) / times
        print(json.dumps(seconds), flush=True)


class Tree:
    """A checkout, whose cases run in their own process."""

    def __init__(self, path: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(path), "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--serve"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=path,
        )  # fmt: skip
        self.cases: list[str] = self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def seconds(self, name: str, recorded: bool = False) -> float:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([name, recorded]) + "\n")
        self.process.stdin.flush()
        return float(self._answer())

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def measure(name: str, now: Tree, before: Tree | None, rounds: int) -> list[str]:
    """Return one row: the minimum times, and the medians of the paired ratios."""
    from benchmarks.common import median

    runs: dict[str, Callable[[], float]] = {
        "off": lambda: now.seconds(name), "on": lambda: now.seconds(name, recorded=True)
    }  # fmt: skip
    if before is not None:
        runs["before"] = lambda: before.seconds(name)
    for run in runs.values():
        run()
    times: dict[str, list[float]] = {key: [] for key in runs}
    for iteration in range(rounds):
        for key in list(runs)[:: 1 if iteration % 2 else -1]:
            times[key].append(runs[key]())
    row = [name, f"{min(times['off']) * 1e3:.2f} ms"]
    if before is not None:
        ratio = median([a / b for a, b in zip(times["off"], times["before"])])
        row += [f"{min(times['before']) * 1e3:.2f} ms", f"{ratio:.2f}×"]
    ratio = median([a / b for a, b in zip(times["on"], times["off"])])
    return [*row, f"{ratio:.2f}×"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="a checkout of an earlier commit")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    from benchmarks.common import report, table

    load = os.getloadavg()[0]
    now = Tree(ROOT)
    before = Tree(options.before.resolve()) if options.before is not None else None
    rows = [measure(name, now, before, options.rounds) for name in now.cases]
    headings = ["algorithm", f"recorder off, best of {options.rounds}"]
    if before is not None:
        headings += ["the earlier commit", "off / earlier, median of pairs"]
        before.close()
    now.close()
    text = table([*headings, "on / off, median of pairs"], rows)
    report("recorder.md", text, f"\nLoad average at the start: {load:.1f}.\n")


if __name__ == "__main__":
    main()
