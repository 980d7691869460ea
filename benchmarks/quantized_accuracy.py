"""Measure the accuracy of quantized networks: each scheme, and each way to choose a range.

python -m benchmarks.quantized_accuracy        (needs apache-tvm and scikit-learn; takes about a minute)

Two networks that read digits, and a TreeLSTM that rates sentences, are quantized without retraining. Each is
calibrated on examples of its training set, and tested on examples that it has never seen. Writes the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common import report, table
from relay_explorer import build, quantize
from relay_explorer.ir import Constant, IRModule, post_order
from relay_explorer.models import digits, sentiment
from relay_explorer.models.tree_lstm import phrase
from relay_explorer.quantize import KLDivergence, Percentile, Scheme, qconfig, schemes
from relay_explorer.transform import PassContext

CALIBRATION, UNSEEN = 128, 1000  # examples


class Task(NamedTuple):
    """A trained network, examples to calibrate with, and unseen ones with the right answers."""

    module: IRModule
    weights: dict[str, Any]
    calibration: list[dict[str, Any]]
    unseen: list[dict[str, Any]]
    answers: Sequence[int]


def of_digits(network: str) -> Task:
    training, unseen = digits.data()
    return Task(
        digits.NETWORKS[network](),
        digits.weights(network),
        [{"data": image[None]} for image in training.images[:CALIBRATION]],
        [{"data": image[None]} for image in unseen.images],
        unseen.classes.tolist(),
    )


def of_sentences() -> Task:
    module = sentiment.module()
    training = list(sentiment.sentences(0, 4000))
    known = set(map(str, training))
    unseen = [tree for tree in sentiment.sentences(1, UNSEEN) if str(tree) not in known]

    def inputs(trees: Sequence[Any]) -> list[dict[str, Any]]:
        return [{"sentence": phrase(module, tree, sentiment.vectors())} for tree in trees]

    answers = [sentiment.mood(tree) + 2 for tree in unseen]
    return Task(module, sentiment.weights(), inputs(training[:CALIBRATION]), inputs(unseen), answers)


TASKS: dict[str, Callable[[], Task]] = {
    "digits, convolutions": lambda: of_digits("digits"),
    "digits, dense layers": lambda: of_digits("perceptron"),
    "sentences, TreeLSTM": of_sentences,
}

# TVM's scheme leaves the first convolution and all dense layers in float32 by default.
EVERY_LAYER: dict[str, Any] = {"skip_dense_layer": False, "skip_conv_layers": []}

SCHEMES: dict[str, Callable[[], Scheme]] = {
    "TVM's, default settings": schemes.TvmSymmetric,
    "TVM's, every layer": lambda: schemes.TvmSymmetric(qconfig(**EVERY_LAYER)),
    "per channel, asymmetric": schemes.PerChannelAsymmetric,
    "8 bits, 16-bit accumulators": schemes.Int8Int16,
    "4-bit weights in groups of 32": schemes.Weights4BitGroups,
    "ternary weights": schemes.Ternary,
    "ternary weights, every layer": lambda: schemes.Ternary(keep=()),
}

CALIBRATIONS: dict[str, Callable[[], Scheme]] = {
    "global scale 8, weights to a power of two": lambda: tvm(),
    "global scale 8, weights to the maximum": lambda: tvm(weight_scale="max"),
    "global scale 2, weights to a power of two": lambda: tvm(global_scale=2.0),
    "global scale 16, weights to a power of two": lambda: tvm(global_scale=16.0),
    "percentile, weights to a power of two": lambda: tvm(calibrate_mode="percentile"),
    "percentile, weights to the maximum": lambda: tvm(calibrate_mode="percentile", weight_scale="max"),
    "KL divergence, weights to a power of two": lambda: tvm(calibrate_mode="kl_divergence"),
    "KL divergence, weights to the maximum": lambda: tvm(calibrate_mode="kl_divergence", weight_scale="max"),
    "asymmetric, per channel: least to greatest": schemes.PerChannelAsymmetric,
    "asymmetric, per channel: percentile": lambda: schemes.PerChannelAsymmetric(calibrator=Percentile()),
    "asymmetric, per channel: KL divergence": lambda: schemes.PerChannelAsymmetric(calibrator=KLDivergence()),
}


def tvm(**fields: Any) -> Scheme:
    """Return TVM's scheme for every layer, with some settings."""
    return schemes.TvmSymmetric(qconfig(**EVERY_LAYER, **fields))


def accuracy(module: IRModule, weights: dict[str, Any], task: Task) -> float:
    """Return the fraction of unseen examples that a compiled program answers correctly."""
    run = build(module, "cpu", weights, executor="vm", quiet=True)
    answers = [int(np.asarray(run(**example)).argmax()) for example in task.unseen]
    return float(np.mean(np.equal(answers, task.answers)))


def size(module: IRModule) -> int:
    """Return the bytes of all constants of a module, scalars aside."""
    constants = {
        id(node.data): node.data.numpy().nbytes
        for function in module.functions.values()
        for node in post_order(function)
        if isinstance(node, Constant) and node.data.shape
    }
    return sum(constants.values())


def quantized(task: Task, scheme: Scheme) -> IRModule:
    with PassContext(opt_level=3):
        return quantize.quantize(task.module, task.weights, task.calibration, scheme)


def rows(tasks: dict[str, Task], which: dict[str, Callable[[], Scheme]], sizes: bool) -> list[list[str]]:
    """Return a row for each scheme: its accuracy in each task, and the size of the constants."""
    lines = []
    for name, make in which.items():
        line = [name]
        for task in tasks.values():
            module = quantized(task, make())
            kilobytes = f", {size(module) / 1000:.1f} kB" if sizes else ""
            line.append(f"{accuracy(module, {}, task):.1%}{kilobytes}")
        lines.append(line)
    return lines


def main() -> None:
    tasks = {name: make() for name, make in TASKS.items()}
    floats = []
    for task in tasks.values():
        weights = sum(weight.nbytes for weight in task.weights.values())
        floats.append(f"{accuracy(task.module, task.weights, task):.1%}, {weights / 1000:.1f} kB")
    first = table(["scheme", *tasks], [["float32", *floats], *rows(tasks, SCHEMES, sizes=True)])
    second = table(["calibration", *tasks], rows(tasks, CALIBRATIONS, sizes=False))
    counts = ", ".join(f"{len(task.answers)} ({name})" for name, task in tasks.items())
    report("quantized_accuracy.md", f"{first}\n\n{second}\n\nUnseen examples: {counts}.")


if __name__ == "__main__":
    main()
