"""Measure what it costs to run a whole program in addition to its kernels, under each of the four executors.

python -m benchmarks.executors        (needs apache-tvm and a C compiler)

The kernels are as small as useful kernels can be, vectors of SIZE elements, so nearly all of the time is
spent calling them. Writes the table, and `executors.json`, from which `make figures` draws.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import relay_explorer
from benchmarks.common import alternate, machine, report, table
from relay_explorer import relay
from relay_explorer.execute import make_list
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.models.tree_lstm import phrase, tree_lstm

DATA = Path(__file__).with_suffix(".json")
EXECUTORS = ("interpreter", "vm", "graph", "aot")
SIZE, CALLS, ROUNDS = 16, 256, 41

LIST = """
type List { Cons(Tensor[(1, 16), float32], List), Nil, }
def @read(%words: List, %state: Tensor[(1, 16), float32], %w: Tensor[(16, 16), float32])
    -> Tensor[(1, 16), float32] {
  match (%words) {
    Nil => { %state },
    Cons(%word, %rest) => { @read(%rest, tanh(nn.dense(%state, %w) + %word), %w) },
  }
}
def @main(%words: List, %state: Tensor[(1, 16), float32], %w: Tensor[(16, 16), float32]) {
  @read(%words, %state, %w)
}
"""


class Case(NamedTuple):
    """A program with its arguments, and the minimum number of kernel calls in a run."""

    module: IRModule
    args: tuple[Any, ...]
    calls: int
    executors: tuple[str, ...] = EXECUTORS


def chain() -> Case:
    """Return a network without control flow: as many layers as the list has words."""
    word, state = (relay.var(name, shape=(1, SIZE)) for name in ("word", "state"))
    w = relay.var("w", shape=(SIZE, SIZE))
    value: relay.Expr = state
    for _ in range(CALLS):
        value = relay.tanh(relay.add(relay.nn.dense(value, w), word))
    module = IRModule.from_expr(relay.Function([word, state, w], value))
    return Case(module, (numbers(1, SIZE), numbers(1, SIZE), numbers(SIZE, SIZE)), CALLS)


def words() -> Case:
    """Return the same layers for a list of dynamic length."""
    module = relay.parse(LIST)
    word_list = make_list(module, [numbers(1, SIZE) for _ in range(CALLS)])
    args = (word_list, numbers(1, SIZE), numbers(SIZE, SIZE))
    return Case(module, args, CALLS, ("interpreter", "vm", "aot"))


def tree() -> Case:
    """Return a TreeLSTM on a balanced tree of 64 words."""
    module = tree_lstm(inputs=SIZE, hidden=SIZE)
    sentence: Any = numbers(1, SIZE)
    for _ in range(6):
        sentence = (sentence, sentence)
    flat = phrase(module, _copied(sentence))
    params = relay.transform.InferType()(module)["main"].params[1:]
    args = (flat, *[numbers(*as_tensor_type(p).concrete_shape) for p in params])
    return Case(module, args, 127, ("interpreter", "vm", "aot"))


def _copied(sentence: Any) -> Any:
    """Copy the tree without sharing, so that every node is a separate object."""
    return tuple([_copied(part) for part in sentence]) if isinstance(sentence, tuple) else sentence


def numbers(*shape: int) -> Any:
    return (np.sin(np.arange(np.prod(shape))).reshape(shape) / 4).astype("float32")


CASES = {"a chain of 256 layers": chain, "a list of 256 words": words, "a tree of 64 words": tree}


def measured(case: Case) -> dict[str, float]:
    """Return the minimum seconds of a run under each executor, measured in alternation; passing the arguments
    is not timed.
    """
    programs = {name: relay_explorer.build(case.module, executor=name, quiet=True) for name in case.executors}
    expected = _array(programs["interpreter"](*case.args))
    for program in programs.values():
        np.testing.assert_allclose(_array(program(*case.args)), expected, rtol=1e-3, atol=1e-4)
    times: dict[str, list[float]] = {name: [] for name in programs}

    def timed(name: str) -> Any:
        return lambda: times[name].append(programs[name].time(*case.args, repeat=5))

    alternate({name: timed(name) for name in programs}, ROUNDS)
    return {name: min(seconds) for name, seconds in times.items()}


def _array(value: Any) -> Any:
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value)


def main() -> None:
    os.environ.setdefault("TVM_NUM_THREADS", "1")
    cases = {name: make() for name, make in CASES.items()}
    seconds = {name: measured(case) for name, case in cases.items()}
    rows = [
        (name, cases[name].calls, *[_told(times.get(executor)) for executor in EXECUTORS])
        for name, times in seconds.items()
    ]
    report("executors.md", table(["program", "steps", *EXECUTORS], rows))
    measurement = {
        "machine": machine(),
        "steps": {name: case.calls for name, case in cases.items()},
        "seconds": {
            name: {executor: float(f"{each:.4g}") for executor, each in times.items()}
            for name, times in seconds.items()
        },
    }
    DATA.write_text(json.dumps(measurement, indent=1) + "\n")


def _told(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e6:,.0f} µs"


if __name__ == "__main__":
    main()
