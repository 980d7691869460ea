"""Compare the interpreter with PyTorch eager on two models with control flow, and break down its time.

python -m benchmarks.interpreter        (needs torch: pip install -r requirements-bench.txt)
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is imported

import numpy as np
import torch

from benchmarks.common import alternate, median, report, table
from benchmarks.torch_recurrent import CharRNN, TreeLSTM
from relay_explorer import models, relay
from relay_explorer.execute import Interpreter, make_list
from relay_explorer.execute.code import Instruction, Kind
from relay_explorer.execute.events import BranchChosen, EvaluationEvent, Frame, FunctionEntered, ValueComputed
from relay_explorer.execute.interpreter import apply_operator
from relay_explorer.execute.values import Closure
from relay_explorer.ir import IRModule, TensorType
from relay_explorer.ir.recorder import Recorder
from relay_explorer.models.tree_lstm import phrase
from relay_explorer.ops.numeric import quiet

LEAVES, STEPS = 64, 256
ROUNDS = 31


class Case(NamedTuple):
    """A model, its arguments here, and the same computation in PyTorch."""

    module: IRModule
    argument: Any
    weights: dict[str, np.ndarray]
    theirs: Callable[[], torch.Tensor]


def weights_of(module: IRModule) -> dict[str, np.ndarray]:
    """Return random weights by the names of the parameters of `@main`."""
    rng = np.random.default_rng(0)
    types = {p.name_hint: p.type_annotation for p in module["main"].params}
    return {
        name: (0.1 * rng.standard_normal(t.concrete_shape)).astype(t.dtype)
        for name, t in types.items()
        if isinstance(t, TensorType)
    }


def tree_lstm() -> Case:
    module = models.load("tree_lstm")
    weights = weights_of(module)
    words = iter(np.random.default_rng(1).standard_normal((LEAVES, 1, 300)).astype("float32"))

    def balanced(leaves: int) -> Any:
        return next(words) if leaves == 1 else (balanced(leaves // 2), balanced(leaves - leaves // 2))

    def as_tensors(part: Any) -> Any:
        return tuple(map(as_tensors, part)) if isinstance(part, tuple) else torch.from_numpy(part)

    sentence = balanced(LEAVES)
    theirs, tensors = TreeLSTM({k: torch.from_numpy(v) for k, v in weights.items()}), as_tensors(sentence)
    return Case(module, phrase(module, sentence), weights, lambda: theirs(tensors))


def char_rnn() -> Case:
    module = models.load("char_rnn")
    weights = weights_of(module)
    text = np.random.default_rng(1).integers(0, 57, STEPS).tolist()
    theirs, tensors = (
        CharRNN({k: torch.from_numpy(v) for k, v in weights.items()}),
        [torch.tensor([letter]) for letter in text],
    )
    return Case(module, make_list(module, text), weights, lambda: theirs(tensors))


class Trace(Recorder[EvaluationEvent]):
    """Record the operator calls, matches and function calls of a run, so that each can be repeated
    separately.
    """

    def __init__(self) -> None:
        super().__init__(EvaluationEvent)
        self.operators: list[tuple[Instruction, list[Any]]] = []
        self.choices: list[tuple[Instruction, Frame]] = []
        self.calls: list[tuple[Closure, tuple[Any, ...]]] = []
        self.instructions: Counter[Kind] = Counter()

    def record(self, event: EvaluationEvent) -> None:
        match event:
            case ValueComputed(instruction, frame):
                self.instructions[instruction.kind] += 1
                if instruction.kind is Kind.OPERATOR:
                    self.operators.append((instruction, [frame[i] for i in instruction.operands]))
            case BranchChosen(instruction, frame):
                self.instructions[instruction.kind] += 1
                self.choices.append((instruction, frame))
            case FunctionEntered(code, frame, callee):
                self.instructions[Kind.CALL] += 1
                self.calls.append((callee, tuple(frame[: len(code.function.params)])))


def repeat(action: Callable[..., object], arguments: Iterable[tuple[Any, ...]]) -> Callable[[], None]:
    prepared = list(arguments)

    def run() -> None:
        for each in prepared:
            action(*each)

    return run


def parts(case: Case) -> tuple[list[tuple[str, str, float]], float]:
    """Return the parts of one run (the part's name, its count, its seconds), and the seconds of the whole
    call.
    """
    outer, plain = relay.create_executor(mod=case.module).evaluate(), Interpreter(case.module)
    values = [case.argument.inner, *case.weights.values()]
    trace = Trace()
    with trace:
        Interpreter(case.module).call("main", values)
    operators = [(*i.detail, given, i.node) for i, given in trace.operators]
    kernels = [(op.reference.__wrapped__, (attrs, *given)) for op, attrs, given, _ in operators]
    with quiet():
        times = alternate(
            {
                "whole": lambda: outer(case.argument, **case.weights),
                "inside": lambda: plain.call("main", values),
                "operators": repeat(apply_operator, operators),
                "kernels": repeat(lambda kernel, given: kernel(*given), kernels),
                "choices": repeat(plain._choose, trace.choices),
                "calls": repeat(lambda callee, args: plain._enter(callee, args, None), trace.calls),
            },
            rounds=ROUNDS,
        )
    least = {name: min(seconds) for name, seconds in times.items()}
    rest = least["inside"] - least["operators"] - least["choices"] - least["calls"]
    rows = [
        ("NumPy's kernels", f"{len(kernels):,} operators", least["kernels"]),
        ("dispatch", "", least["operators"] - least["kernels"]),
        ("matching and branches", f"{len(trace.choices):,}", least["choices"]),
        ("call frames", f"{len(trace.calls):,}", least["calls"]),
        ("stepping, tuples, values", f"{sum(trace.instructions.values()):,} instructions", rest),
        ("checking arguments, wrapping results", "1", least["whole"] - least["inside"]),
    ]
    return rows, least["whole"]


def compare(name: str, case: Case) -> list[str]:
    ours = relay.create_executor(mod=case.module).evaluate()
    result = ours(case.argument, **case.weights).numpy()
    with torch.inference_mode():
        np.testing.assert_allclose(result, case.theirs().numpy(), rtol=1e-3)
        times = alternate(
            {"theirs": case.theirs, "ours": lambda: ours(case.argument, **case.weights)}, rounds=ROUNDS
        )
    eager, inner = median(times["theirs"]), median(times["ours"])
    return [name, f"{eager * 1e3:.1f} ms", f"{inner * 1e3:.1f} ms", f"{inner / eager:.2f}×"]


def main() -> None:
    load = os.getloadavg()[0]
    torch.set_num_threads(1)
    cases = {f"TreeLSTM, {LEAVES} leaves": tree_lstm(), f"character RNN, {STEPS} steps": char_rnn()}
    rows = [compare(name, case) for name, case in cases.items()]
    text = table(
        ["model", f"PyTorch eager, median of {ROUNDS}", "interpreter", "time relative to eager"], rows
    )
    for name, case in cases.items():
        measured, whole = parts(case)
        lines = [(part, count, f"{s * 1e3:.2f} ms", f"{s / whole:.0%}") for part, count, s in measured]
        text += "\n\n" + table([f"{name}: part", "count", f"best of {ROUNDS}", "share"], lines)
    tail = f"\nPyTorch {torch.__version__} and NumPy {np.__version__}, one thread. "
    report("interpreter.md", text, f"{tail}Load average at the start: {load:.1f}.\n")


if __name__ == "__main__":
    main()
