"""The arithmetic of TensorFlow Lite's reference kernels equals exact arithmetic with Python's integers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.frontends.tflite.quantization import rescaled_to_16_bits
from relay_explorer.frontends.tflite.reference_kernels import divided, fractions, rescaled
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Expr, Function
from relay_explorer.ir.module import IRModule

RNG = np.random.default_rng(0)
Array = np.ndarray[Any, Any]


def evaluated(build: Any, values: Array) -> Array:
    """Return the result of an expression of `x`."""
    x = relay.var("x", shape=values.shape, dtype=str(values.dtype))
    body: Expr = build(x)
    mod = IRModule.from_expr(Function([x], body))
    array: Array = relay.create_executor("debug", mod).evaluate()(values).numpy()
    return array


def half_up(value: Fraction) -> int:
    return (value + Fraction(1, 2)).__floor__()


def half_away(value: Fraction) -> int:
    return half_up(value) if value >= 0 else -half_up(-value)


def twice_rounded(x: int, factor: float) -> int:
    """Multiply with the fraction and round, then divide by the power of two and round again."""
    (multiplier,), (exponent,) = (part.reshape(1) for part in fractions(np.asarray(factor)))
    first = half_up(Fraction((x << max(int(exponent), 0)) * int(multiplier), 1 << 31))
    return half_away(Fraction(first, 1 << max(-int(exponent), 0)))


VALUES = np.concatenate([np.arange(-40, 41), RNG.integers(-(2**22), 2**22, 400)]).astype("int32")


@pytest.mark.parametrize("factor", [0.5, 0.25, 0.2, 1.0, 1.5, 3.999, 0.7499999, 1e-4, 2**-20, *RNG.random(6)])
def test_products_are_rounded_twice(factor: float) -> None:
    result = evaluated(lambda x: rescaled(x, np.asarray(factor), 0), VALUES)
    assert list(result) == [twice_rounded(int(value), factor) for value in VALUES]


def test_each_channel_has_its_own_factor() -> None:
    factors = np.array([0.5, 0.3, 1.7, 0.01, 1.0])
    values = RNG.integers(-(2**20), 2**20, (40, 5)).astype("int32")
    result = evaluated(lambda x: rescaled(x, factors, 1), values)
    wanted = [[twice_rounded(int(v), f) for v, f in zip(row, factors)] for row in values]
    np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("exponent", [0, 1, 2, 7, 31])
def test_quotients_are_rounded_half_away_from_zero(exponent: int) -> None:
    result = evaluated(lambda x: divided(x, np.asarray(exponent)), VALUES)
    assert list(result) == [half_away(Fraction(int(value), 1 << exponent)) for value in VALUES]


def test_a_factor_just_below_a_power_of_two_is_the_power() -> None:
    multiplier, exponent = fractions(np.asarray(1 - 2**-40))
    assert (int(multiplier), int(exponent)) == (1 << 30, 1)


@pytest.mark.parametrize(("short", "bits"), [(True, 15), (False, 31)])
def test_sums_of_64_bits_are_rounded_once(short: bool, bits: int) -> None:
    values = RNG.integers(-(2 ** (62 - bits)), 2 ** (62 - bits), 300)
    for factor in (0.3, 1e-5, 0.999999):
        multiplier, exponent = (int(part) for part in fractions(np.asarray(factor)))
        if short:
            multiplier = min((multiplier + (1 << 15)) >> 16, 0x7FFF)
        result = evaluated(
            lambda x, factor=factor: rescaled_to_16_bits(x, np.asarray([factor]), short), values
        )
        shift = bits - exponent
        assert list(result) == [half_up(Fraction(int(v) * multiplier, 1 << shift)) for v in values]


@pytest.mark.parametrize("factor", [2.0**40, 2.0**-60])
def test_factors_out_of_range_are_refused(factor: float) -> None:
    with pytest.raises(RelayError, match="too large or too small"):
        evaluated(lambda x: rescaled(x, np.asarray(factor), 0), VALUES)
