"""Time partial evaluation of a TreeLSTM with a static sentence against the sentence's length, and the cost of
recording it.

python -m benchmarks.partial_evaluation
"""

from __future__ import annotations

import gc
from functools import partial

from benchmarks.common import alternate, report, table
from relay_explorer import models, relay
from relay_explorer.ir import IRModule
from relay_explorer.ir.recorder import Recorder
from relay_explorer.transform import ToANormalForm
from relay_explorer.transform.partial_evaluate.evaluator import MAX_BINDINGS, Evaluator
from relay_explorer.transform.partial_evaluate.record import LIMIT, PartialEvaluationEvent
from relay_explorer.typing import infer_types

WORDS = (4, 16, 64, 256)


def sentence(words: int) -> IRModule:
    """Return the model applied to a sentence of that many dynamic words, paired as a balanced tree."""
    lstm = models.load("tree_lstm")
    weights = lstm["main"].params[1:]

    def tree(first: int, last: int) -> str:
        if last - first == 1:
            return f"Word(%word{first})"
        middle = (first + last) // 2
        return f"Pair({tree(first, middle)}, {tree(middle, last)})"

    declared = [f"%word{n}: Tensor[(1, 300), float32]" for n in range(words)]
    declared += [f"%{p.name_hint}: {p.type_annotation}" for p in weights]
    arguments = ", ".join([tree(0, words), *(f"%{p.name_hint}" for p in weights)])
    text = lstm.astext().replace("def @main(", "def @mood(")
    return relay.parse(f"{text}\ndef @main({', '.join(declared)}) {{ @mood({arguments}) }}")


def evaluate(module: IRModule) -> int:
    """Run the pass on `@main` alone, whose normal form was computed beforehand; return the number of residual
    lines.
    """
    main = module.get_global_var("main")
    evaluator = Evaluator(module, MAX_BINDINGS)
    evaluator.residual(main, module[main])
    return evaluator.bindings


def evaluate_recorded(module: IRModule, limit: int | None) -> None:
    """Run the same with a recorder."""
    with Recorder(PartialEvaluationEvent, limit=limit):
        evaluate(module)


def main() -> None:
    rows = []
    for words in WORDS:
        module = infer_types(ToANormalForm()(sentence(words)))
        bindings = evaluate(module)
        gc.collect()
        times = alternate(
            {
                "plain": partial(evaluate, module),
                "recorded": partial(evaluate_recorded, module, LIMIT),
                "all of it": partial(evaluate_recorded, module, None),
            },
            rounds=9,
        )
        plain, recorded, whole = (min(times[name]) for name in times)
        rows.append(
            (
                f"{words:,}", f"{bindings:,}", f"{plain * 1e3:.1f} ms", f"{plain / bindings * 1e6:.1f} µs",
                f"{recorded / plain:.2f}×", f"{whole / plain:.2f}×",
            )
        )  # fmt: skip
    headings = [
        "words",
        "residual lines",
        "evaluation, best of 9",
        "per line",
        f"recording {LIMIT:,} events",
        "recording all",
    ]
    report("partial_evaluation.md", table(headings, rows))


if __name__ == "__main__":
    main()
