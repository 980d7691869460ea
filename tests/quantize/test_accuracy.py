"""Trained networks keep their accuracy when they are quantized: on scikit-learn's digits, on sentences."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from relay_explorer.ir import Constant, IRModule, post_order
from relay_explorer.lower.executor import create_executor
from relay_explorer.models import digits, sentiment
from relay_explorer.models.tree_lstm import phrase
from relay_explorer.quantize import (
    KLDivergence,
    Percentile,
    Quantization,
    Scheme,
    qconfig,
    schemes,
    trace,
)
from relay_explorer.transform import PassContext

IMAGES, SENTENCES, SEEN = 357, 200, 64
Array = np.ndarray[Any, Any]


class Task(NamedTuple):
    """A trained network, inputs that it is calibrated with, unseen inputs, and their answers."""

    module: IRModule
    weights: dict[str, Any]
    seen: list[list[Any]]
    unseen: list[list[Any]]
    answers: Array


def read(network: str) -> Task:
    training, unseen = digits.data()
    module = digits.NETWORKS[network](IMAGES)
    return Task(
        module, digits.weights(network), [[training.images[:IMAGES]]], [[unseen.images]], unseen.classes
    )


def rate() -> Task:
    module = sentiment.module()
    seen, unseen = list(sentiment.sentences(0, SEEN)), list(sentiment.sentences(1, SENTENCES))
    inputs = [[[phrase(module, tree, sentiment.vectors())] for tree in trees] for trees in (seen, unseen)]
    answers = np.array([sentiment.mood(tree) + 2 for tree in unseen])
    return Task(module, sentiment.weights(), inputs[0], inputs[1], answers)


TASKS: dict[str, Callable[[], Task]] = {
    "convolutions": lambda: read("digits"),
    "dense": lambda: read("perceptron"),
    "tree_lstm": rate,
}
task = cache(lambda name: TASKS[name]())

EVERY_LAYER: dict[str, Any] = {"skip_dense_layer": False, "skip_conv_layers": []}


def tvm(**fields: Any) -> Scheme:
    return schemes.TvmSymmetric(qconfig(**EVERY_LAYER, **fields))


# Eight bits: how much accuracy each may lose. KL divergence judges by a histogram, which for the few words of
# the vocabulary is sparse, and clips more than it should.
EIGHT_BITS = {
    "tvm": 0.01, "percentile": 0.01, "percentile_max": 0.01, "kl": 0.02, "asymmetric": 0.01,
    "asymmetric_percentile": 0.01, "asymmetric_kl": 0.02, "int16": 0.01,
}  # fmt: skip
SCHEMES: dict[str, Callable[[], Scheme]] = {
    "tvm": schemes.TvmSymmetric,
    "global_scale": tvm,
    "clipped": lambda: tvm(global_scale=2.0),
    "percentile": lambda: tvm(calibrate_mode="percentile"),
    "percentile_max": lambda: tvm(calibrate_mode="percentile", weight_scale="max"),
    "kl": lambda: tvm(calibrate_mode="kl_divergence"),
    "asymmetric": schemes.PerChannelAsymmetric,
    "asymmetric_percentile": lambda: schemes.PerChannelAsymmetric(calibrator=Percentile()),
    "asymmetric_kl": lambda: schemes.PerChannelAsymmetric(calibrator=KLDivergence()),
    "int16": schemes.Int8Int16,
    "four_bits": schemes.Weights4BitGroups,
    "ternary": schemes.Ternary,
    "all_ternary": lambda: schemes.Ternary(keep=()),
}


@cache
def traced(name: str, scheme: str) -> Quantization:
    work = task(name)
    with PassContext(opt_level=3):
        return trace(work.module, SCHEMES[scheme](), work.weights, work.seen)


def predicted(module: IRModule, name: str) -> Array:
    """Return the most likely class of each unseen input, by the interpreter."""
    run = create_executor("debug", module).evaluate()
    return np.concatenate([run(*args).numpy().argmax(1) for args in task(name).unseen])


@cache
def realized(name: str, scheme: str) -> Array:
    return predicted(traced(name, scheme).realized, name)


def accuracy(name: str, scheme: str) -> float:
    return float(np.mean(realized(name, scheme) == task(name).answers))


@cache
def float_accuracy(name: str) -> float:
    """The accuracy of the float program, in which the parameters are bound."""
    return float(np.mean(predicted(traced(name, "asymmetric").float_program, name) == task(name).answers))


def size(module: IRModule) -> int:
    """The bytes of a module's constants."""
    nodes = [node for function in module.functions.values() for node in post_order(function)]
    return sum({id(n.data): n.data.numpy().nbytes for n in nodes if isinstance(n, Constant)}.values())


@pytest.mark.parametrize("name", TASKS)
def test_the_float_networks_are_accurate(name: str) -> None:
    assert float_accuracy(name) >= 0.97


@pytest.mark.parametrize("scheme", EIGHT_BITS)
@pytest.mark.parametrize("name", TASKS)
def test_eight_bits_stay_within_a_point_of_float(name: str, scheme: str) -> None:
    assert accuracy(name, scheme) >= float_accuracy(name) - EIGHT_BITS[scheme]


@pytest.mark.parametrize("name", TASKS)
def test_eight_bits_take_less_than_a_third_of_the_bytes(name: str) -> None:
    quantized = traced(name, "asymmetric")
    assert size(quantized.realized) < size(quantized.float_program) / 3


@pytest.mark.parametrize("name", ["dense", "tree_lstm"])
def test_four_bits_in_groups_stay_within_three_points_and_take_a_fifth(name: str) -> None:
    quantized = traced(name, "four_bits")
    assert accuracy(name, "four_bits") >= float_accuracy(name) - 0.03
    assert size(quantized.realized) < size(quantized.float_program) / 5


@pytest.mark.parametrize(
    "scheme", ["global_scale", "clipped", "asymmetric", "int16", "four_bits", "all_ternary"]
)
@pytest.mark.parametrize("name", TASKS)
def test_integers_predict_what_the_simulation_predicts(name: str, scheme: str) -> None:
    """What a scheme loses, it loses by rounding: the accuracy is lost before integers are computed."""
    same = predicted(traced(name, scheme).calibrated, name) == realized(name, scheme)
    assert np.mean(same) >= 0.98


def test_a_threshold_below_the_activations_costs_accuracy() -> None:
    assert accuracy("convolutions", "clipped") < 0.7


def test_ternary_weights_cost_convolutions_more_than_dense_layers() -> None:
    lost = {name: float_accuracy(name) - accuracy(name, "ternary") for name in ("convolutions", "dense")}
    assert lost["dense"] < 0.03 < 0.15 < lost["convolutions"]
