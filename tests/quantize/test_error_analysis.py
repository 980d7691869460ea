"""The error of each line and of each site against the float program."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import Op
from relay_explorer.ir.errors import RelayError
from relay_explorer.models import sentiment
from relay_explorer.models.tree_lstm import phrase
from relay_explorer.quantize import GlobalScale, line_errors, site_errors, trace
from relay_explorer.quantize.schemes import PerChannelAsymmetric, Weights4BitGroups
from tests.quantize.networks import PERCEPTRON, decibels, network, run


def test_each_call_of_the_float_program_has_its_error() -> None:
    mod, params, data = network(PERCEPTRON)
    quantization = trace(mod, PerChannelAsymmetric(), params, data)
    errors = line_errors(quantization, data)
    names = [error.expr.op.name for error in errors if isinstance(error.expr.op, Op)]
    assert names == ["nn.dense", "nn.bias_add", "nn.relu", "nn.dense", "nn.bias_add"]
    assert all(30 < error.sqnr < 60 for error in errors)
    assert [error.count for error in errors] == [4 * 4 * 96] * 3 + [4 * 4 * 10] * 2
    last = errors[-1]
    x = np.concatenate([run(quantization.float_program, batch["x"]) for batch in data])
    y = np.concatenate([run(quantization.calibrated, batch["x"]) for batch in data])
    assert last.sqnr == pytest.approx(decibels(x, y))
    assert last.largest == pytest.approx(np.abs(x - y).max(), rel=1e-5)


def test_a_value_that_is_not_quantized_has_no_error() -> None:
    mod, params, data = network(PERCEPTRON)
    quantization = trace(mod, Weights4BitGroups(keep=(0,)), params, data)
    first, *_, last = line_errors(quantization, data)
    assert first.sqnr == math.inf
    assert last.sqnr < 30


def test_sites_tell_their_own_error_from_that_of_earlier_ones() -> None:
    mod, params, data = network(PERCEPTRON)
    quantization = trace(mod, PerChannelAsymmetric(), params, data)
    errors = site_errors(quantization, data)
    assert [error.site.index for error in errors] == [0, 1, 2, 3]
    assert errors[0].sqnr == errors[0].own  # there is nothing before it
    assert errors[2].sqnr < errors[2].own
    assert all(error.clipped == 0 for error in errors)


def test_values_beyond_the_range_are_counted() -> None:
    mod, params, data = network(PERCEPTRON)
    quantization = trace(mod, PerChannelAsymmetric(calibrator=GlobalScale(1.0)), params, data)
    first = site_errors(quantization, data)[0]
    share = np.mean([np.abs(batch["x"]) > 1.0 + 1 / 255 for batch in data])
    assert first.clipped == pytest.approx(share, abs=0.01)
    assert first.own < 12


def test_recursive_programs_are_compared_activation_by_activation() -> None:
    mod = sentiment.module()
    vectors = sentiment.vectors()
    dataset = [[phrase(mod, tree, vectors)] for tree in sentiment.sentences(3, 8)]
    quantization = trace(mod, PerChannelAsymmetric(), sentiment.weights(), dataset)
    errors = line_errors(quantization, dataset)
    assert {error.function for error in errors} == {"word", "pair", "main"}
    assert all(error.sqnr > 30 for error in errors)


def test_an_empty_dataset_is_refused() -> None:
    mod, params, data = network(PERCEPTRON)
    quantization = trace(mod, PerChannelAsymmetric(), params, data)
    with pytest.raises(RelayError, match="there is nothing to compare"):
        line_errors(quantization, [])
    assert site_errors(quantization, []) == ()


def test_a_value_of_zeros_that_becomes_something_is_infinitely_wrong() -> None:
    from relay_explorer.quantize import Annotation, Candidate, MaxAbs, Quantizer, Scheme

    @dataclass(frozen=True)
    class OneSided(Scheme):
        """Round only the first of two equal operands of a difference."""

        name = "one_sided"

        def annotate(self, candidate: Candidate) -> Annotation | None:
            return Annotation([Quantizer(bits=2, calibrator=MaxAbs()), None], None)

    mod = relay.parse('#[version = "0.0.5"]\ndef @main(%x: Tensor[(2), float32]) { subtract(%x, %x) }')
    data = [{"x": np.asarray([0.3, 1], "float32")}]
    assert line_errors(trace(mod, OneSided(), dataset=data, realized=False), data)[0].sqnr == -math.inf
