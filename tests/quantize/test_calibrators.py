"""From values to scale and zero point."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer.ir.errors import RelayError
from relay_explorer.quantize import (
    GlobalScale,
    KLDivergence,
    LeastSquares,
    MaxAbs,
    MinMax,
    Parameters,
    Percentile,
    PowerOfTwo,
    Quantizer,
    Role,
    Statistics,
    parameters,
    to_integers,
    to_reals,
)
from relay_explorer.quantize.kl_divergence import divergences
from relay_explorer.quantize.quantizer import Calibrator
from relay_explorer.quantize.statistics import check_finite, histogram, of_values
from tests.quantize.networks import Array, naive_divergence

SYMMETRIC, ASYMMETRIC = Quantizer(), Quantizer(symmetric=False)
CALIBRATORS: list[Calibrator] = [
    GlobalScale(), MinMax(), MaxAbs(), PowerOfTwo(), Percentile(), KLDivergence(), LeastSquares(),
]  # fmt: skip


def seen(*values: float, quantizer: Quantizer = SYMMETRIC) -> Statistics:
    return of_values([np.asarray(values, "float32")], quantizer)


def test_a_symmetric_quantizer_covers_the_greater_side_twice() -> None:
    result = MinMax()(seen(-1, 3), SYMMETRIC)
    assert (float(result.scale), int(result.zero_point)) == (float(np.float32(3 / 127)), 0)
    assert (float(result.low), float(result.high)) == (-3, 3)


def test_an_asymmetric_quantizer_uses_all_integers_for_the_range() -> None:
    result = MinMax()(seen(0, 2.55), ASYMMETRIC)
    assert float(result.scale) == pytest.approx(0.01)
    assert int(result.zero_point) == -128
    integers = to_integers(np.asarray([0, 1, 2.55], "float32"), ASYMMETRIC, result)
    assert integers.tolist() == [-128, -28, 127]


def test_zero_is_always_exact() -> None:
    """Padding is zero, so a range that does not contain it is extended."""
    for low, high in ((2.0, 3.0), (-5.0, -4.5), (-0.3, 7.1)):
        result = MinMax()(seen(low, high), ASYMMETRIC)
        zero = np.zeros(1, "float32")
        assert to_reals(to_integers(zero, ASYMMETRIC, result), ASYMMETRIC, result).tolist() == [0]


@pytest.mark.parametrize(
    "quantizer", [SYMMETRIC, ASYMMETRIC, Quantizer(bits=4, signed=False, symmetric=False)]
)
def test_rounding_loses_at_most_half_a_step(quantizer: Quantizer) -> None:
    values = np.random.default_rng(0).normal(size=1000).astype("float32")
    result = MinMax()(of_values([values], quantizer), quantizer)
    back = to_reals(to_integers(values, quantizer, result), quantizer, result)
    assert np.abs(values - back).max() <= float(result.scale) * 1.001  # the range is a whole number of steps
    inside = (values > result.low) & (values < result.high)
    assert np.abs(values - back)[inside].max() <= float(result.scale) * 0.5001


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=lambda calibrator: type(calibrator).__name__)
def test_a_range_of_zero_has_a_defined_scale(calibrator: Calibrator) -> None:
    result = calibrator(seen(0, 0, 0), SYMMETRIC)
    assert float(result.scale) > 0
    assert to_reals(np.zeros(3, "int8"), SYMMETRIC, result).tolist() == [0, 0, 0]


def test_a_scale_that_would_vanish_becomes_one() -> None:
    assert float(parameters(SYMMETRIC, np.asarray(0), np.asarray(1e-44)).scale) == 1


@pytest.mark.parametrize("bound", [np.nan, np.inf])
def test_a_range_that_is_not_finite_is_refused(bound: float) -> None:
    with pytest.raises(RelayError, match="is not finite"):
        parameters(SYMMETRIC, np.asarray(0.0), np.asarray(bound))
    with pytest.raises(RelayError, match=r"here: 1 of 2 values are not finite, the first of them (nan|inf)"):
        check_finite(np.asarray([1, bound]), "here")


def test_power_of_two_rounds_the_threshold_up() -> None:
    assert float(PowerOfTwo()(seen(-3, 1), Quantizer(steps=128)).scale) == 4 / 128
    assert float(PowerOfTwo()(seen(-4, 1), Quantizer(steps=128)).scale) == 4 / 128


def test_global_scale_looks_at_no_value() -> None:
    assert float(GlobalScale(2.0)(seen(100), SYMMETRIC).high) == 2


def test_percentile_clips_the_outliers() -> None:
    values = np.append(np.linspace(-1, 1, 999), 50).astype("float32")
    result = Percentile(0.99)(of_values([values], SYMMETRIC), SYMMETRIC)
    assert 0.9 < float(result.high) <= 1


def test_a_scale_for_each_channel() -> None:
    weight = np.asarray([[1, -2], [30, 4], [0, 0]], "float32")
    quantizer = Quantizer(Role.WEIGHT, axis=0)
    result = MaxAbs()(of_values([weight], quantizer), quantizer)
    np.testing.assert_allclose(result.scale, np.asarray([2 / 127, 30 / 127, 1]))
    assert to_integers(weight, quantizer, result).tolist() == [[64, -127], [127, 17], [0, 0]]


def test_a_scale_for_each_group_also_of_the_rest() -> None:
    weight = np.asarray([[1, 2, 10, 20, 100], [1, 1, 1, 1, 1]], "float32")
    quantizer = Quantizer(Role.WEIGHT, group=2)
    result = MaxAbs()(of_values([weight], quantizer), quantizer)
    np.testing.assert_allclose(result.scale * 127, [[2, 20, 100], [1, 1, 1]], rtol=1e-6)
    back = to_reals(to_integers(weight, quantizer, result), quantizer, result)
    np.testing.assert_allclose(back, weight, rtol=0.01)


def with_(statistics: Statistics, **changed: object) -> Statistics:
    return Statistics(**{**vars(statistics), **changed})


def test_least_squares_finds_a_better_ternary_scale_than_the_maximum() -> None:
    weight = np.random.default_rng(0).normal(size=(4, 256)).astype("float32")
    quantizer = Quantizer(Role.WEIGHT, 2, axis=0)
    statistics = with_(of_values([weight], quantizer), values=weight)

    def error(result: Parameters) -> float:
        back = to_reals(to_integers(weight, quantizer, result), quantizer, result)
        return float(((back - weight) ** 2).mean())

    best = error(LeastSquares()(statistics, quantizer))
    assert best < 0.25 < error(MaxAbs()(statistics, quantizer))


def test_least_squares_of_activations_uses_their_histogram() -> None:
    values = np.append(np.random.default_rng(0).normal(size=5000), 40).astype("float32")
    quantizer = Quantizer(bits=4)
    result = LeastSquares()(of_values([values], quantizer), quantizer)
    assert float(result.high) < 20
    with pytest.raises(RelayError, match="needs every value"):
        LeastSquares()(of_values([values], Quantizer(axis=0)), Quantizer(axis=0))


def normal(random: np.random.Generator) -> Array:
    return random.normal(size=4000)


def after_relu(random: np.random.Generator) -> Array:
    return np.maximum(random.normal(size=3000), 0)


def with_outliers(random: np.random.Generator) -> Array:
    return random.normal(size=500) * np.where(random.random(500) < 0.02, 30, 1)


def few(random: np.random.Generator) -> Array:
    return np.asarray([1.0, -3.0, 0.5])


@pytest.mark.parametrize("draw", [normal, after_relu, with_outliers, few])
def test_divergences_are_those_of_the_definition(draw: Array) -> None:
    values = draw(np.random.default_rng(1))
    counts, edges = histogram([values], float(np.abs(values).max()), bins=401)
    thresholds, losses = divergences(counts, edges, 31)
    assert len(thresholds) == len(losses) == 200 - 15 + 1
    expected = np.asarray([naive_divergence(counts, width, 31) for width in range(15, 201)])
    np.testing.assert_array_equal(np.isfinite(losses), np.isfinite(expected))
    finite = np.isfinite(expected)
    np.testing.assert_allclose(losses[finite], expected[finite], atol=1e-6)


def test_divergences_of_many_filled_bins_are_those_of_the_definition() -> None:
    """Where many bins are filled, p · log p is expanded to first order."""
    values = np.random.default_rng(1).normal(size=30_000)
    counts, edges = histogram([values], float(np.abs(values).max()), bins=2001)
    assert np.count_nonzero(counts) > 512
    _, losses = divergences(counts, edges, 255)
    for width in (127, 500, 873, 1000):
        assert losses[width - 127] == pytest.approx(naive_divergence(counts, width, 255), abs=1e-6)


def test_kl_divergence_clips_outliers_and_keeps_its_curve() -> None:
    random = np.random.default_rng(0)
    values = np.append(random.normal(size=20_000), [60, -60]).astype("float32")
    result = KLDivergence()(of_values([values], SYMMETRIC), SYMMETRIC)
    assert 2 < float(result.high) < 12
    assert result.curve is not None
    thresholds, losses = result.curve
    assert float(result.high) == pytest.approx(thresholds[np.argmin(losses)])


def test_kl_divergence_needs_one_histogram() -> None:
    quantizer = Quantizer(axis=0)
    with pytest.raises(RelayError, match="KL divergence works only per tensor"):
        KLDivergence()(seen(1, 2, quantizer=quantizer), quantizer)


def test_a_fraction_is_between_0_and_1() -> None:
    with pytest.raises(RelayError, match=r"above 0 and at most 1, not 1\.5"):
        Percentile(1.5)


@pytest.mark.parametrize(
    ("bits", "signed", "words"),
    [(1, True, "2 to 32 bits, not 1"), (0, False, "1 to 31"), (32, False, "1 to 31"), (64, True, "not 64")],
)
def test_unsupported_bits_are_refused(bits: int, signed: bool, words: str) -> None:
    with pytest.raises(RelayError, match=words):
        Quantizer(bits=bits, signed=signed)


def test_a_quantizer_has_an_axis_or_groups() -> None:
    with pytest.raises(RelayError, match="an axis or groups, not both"):
        Quantizer(axis=0, group=32)
    with pytest.raises(RelayError, match="at least one element"):
        Quantizer(group=0)


@pytest.mark.parametrize(
    ("quantizer", "low", "high", "dtype"),
    [
        (Quantizer(), -127, 127, "int8"),
        (Quantizer(symmetric=False), -128, 127, "int8"),
        (Quantizer(signed=False), 0, 255, "uint8"),
        (Quantizer(bits=4), -7, 7, "int8"),
        (Quantizer(bits=12), -2047, 2047, "int16"),
        (Quantizer(bits=20), -524287, 524287, "int32"),
    ],
)
def test_integers_fit_the_bits_and_the_type(quantizer: Quantizer, low: int, high: int, dtype: str) -> None:
    assert (quantizer.lowest, quantizer.highest, quantizer.dtype) == (low, high, dtype)


def test_a_quantile_that_was_not_kept_is_refused() -> None:
    values: Array = np.arange(10, dtype="float32")
    statistics = with_(of_values([values], SYMMETRIC), magnitudes=values[-2:])
    assert statistics.quantile(0.9) == 9
    with pytest.raises(RelayError, match="keeps only the 2 greatest of 10 magnitudes"):
        statistics.quantile(0.5)
