"""What calibration sees, however the program runs and however much it sees."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer.ir.errors import RelayError
from relay_explorer.quantize import Percentile, Quantization, observation, trace
from relay_explorer.quantize.schemes import PerChannelAsymmetric
from tests.quantize.networks import CONVOLUTIONS, PERCEPTRON, network

FRACTION = 0.999


def traced(text: str = CONVOLUTIONS) -> Quantization:
    mod, params, data = network(text)
    return trace(mod, PerChannelAsymmetric(calibrator=Percentile(FRACTION)), params, data)


def assert_alike(one: Quantization, other: Quantization, tolerance: float) -> None:
    for a, b in zip(one.sites, other.sites, strict=True):
        assert a.statistics is not None
        assert b.statistics is not None
        assert a.parameters is not None
        assert b.parameters is not None
        assert (a.statistics.count, a.statistics.tensors) == (b.statistics.count, b.statistics.tensors)
        np.testing.assert_allclose(a.statistics.low, b.statistics.low, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(a.statistics.high, b.statistics.high, rtol=tolerance, atol=tolerance)
        moved = np.abs(a.statistics.counts - b.statistics.counts).sum()
        assert moved <= tolerance * a.statistics.count * 100
        np.testing.assert_allclose(a.parameters.scale, b.parameters.scale, rtol=tolerance)


def test_values_that_do_not_fit_into_memory_are_seen_in_a_second_run(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = traced()
    monkeypatch.setattr(observation, "MAX_KEPT_BYTES", 5_000)
    monkeypatch.setattr(observation, "MAX_MAGNITUDES", 100)
    assert_alike(traced(), whole, 0)


def test_a_quantile_beyond_what_the_second_run_keeps_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observation, "MAX_KEPT_BYTES", 5_000)
    monkeypatch.setattr(observation, "MAX_MAGNITUDES", 1)
    with pytest.raises(
        RelayError, match=r"only the 1 greatest of [\d,]+ magnitudes, too few for the quantile"
    ):
        traced()


def test_a_compiled_program_sees_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    interpreted = traced(PERCEPTRON)
    monkeypatch.setattr(observation, "MIN_COMPILED_FLOPS", 1)
    monkeypatch.setattr(observation, "interpreted", None)
    assert_alike(traced(PERCEPTRON), interpreted, 1e-4)


def test_a_compiled_program_names_the_input_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observation, "MIN_COMPILED_FLOPS", 1)
    mod, params, data = network(PERCEPTRON)
    data[2] = {"x": np.zeros((4, 63), "float32")}
    with pytest.raises(RelayError, match="calibration failed on input 2 of the dataset"):
        trace(mod, PerChannelAsymmetric(), params, data)
