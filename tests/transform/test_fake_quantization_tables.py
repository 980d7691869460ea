"""Regions that map each 8-bit integer to another one become tables, with exactly the float results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import Expr, const
from relay_explorer.transform.fake_quantization import fake_quantized_regions
from tests.transform.fake_quantized import (
    image,
    integer,
    operators,
    qnn,
    quantized,
    reason,
    run,
    typed,
)

Build = Callable[[Expr], Expr]
ZERO, ONE, THREE = const(0.0), const(1.0), const(3.0)


def hard_swish(x: Expr) -> Expr:
    return relay.divide(relay.multiply(x, relay.clip(relay.add(x, THREE), 0.0, 6.0)), const(6.0))


def elu(x: Expr) -> Expr:
    return relay.where(relay.greater(x, ZERO), x, relay.subtract(relay.exp(x), ONE))


def softplus(x: Expr) -> Expr:
    return relay.log(relay.add(relay.exp(x), ONE))


def with_a_quantized_constant(x: Expr) -> Expr:
    three = qnn.dequantize(const(np.array([[[[200]]]], "uint8")), const(0.03), const(100))
    return relay.multiply(x, relay.clip(relay.add(x, three), 0.0, 6.0))


@pytest.mark.parametrize("build", [hard_swish, elu, softplus, with_a_quantized_constant])
@pytest.mark.parametrize("source", ["int8", "uint8"])
@pytest.mark.parametrize("target", ["int8", "uint8"])
def test_functions_of_single_elements_are_looked_up(build: Build, source: str, target: str) -> None:
    zero = 3 if source == "int8" else 130
    mod = typed(quantized(build(image(scale=0.05, zero=zero, dtype=source)), 0.04, 20, target))
    converted = integer(mod, hard_fail=True)
    moved = ["reinterpret"] if source == "int8" else []
    assert operators(converted) == [*moved, "take"]
    every = np.resize(np.arange(256, dtype="uint8").view(source), (1, 4, 6, 6))
    for x in (every, every[..., ::-1] + np.array(112, source)):
        np.testing.assert_array_equal(run(converted, [x]), run(mod, [x]))


def test_a_table_is_reported_as_a_converted_region() -> None:
    (region,) = fake_quantized_regions(typed(quantized(softplus(image()))))
    assert region.converted is not None
    assert str(region) == "exp, add, log: integers"


def test_one_value_that_is_dequantized_twice_is_one_value() -> None:
    x = relay.var("x", shape=(3, 5), dtype="int8")
    twice = [qnn.dequantize(x, const(0.1), const(4)) for _ in range(2)]
    mod = typed(quantized(relay.multiply(twice[0], relay.exp(twice[1]))))
    converted = integer(mod, hard_fail=True)
    values = np.arange(-15, 0, dtype="int8").reshape(3, 5)
    np.testing.assert_array_equal(run(converted, [values]), run(mod, [values]))


@pytest.mark.parametrize(
    "body",
    [
        relay.multiply(relay.exp(image()), image(name="y")),  # of two values
        relay.multiply(relay.exp(image()), const(np.ones((4, 1, 1), "float32"))),  # of the channel, too
        relay.exp(relay.add(image(dtype="int16"), ONE)),
        relay.exp(relay.nn.relu(relay.expand_dims(image(), 0))),
        relay.exp(relay.add(image(), const(np.ones((1, 1, 1, 1, 1), "float32")))),
        relay.log(relay.nn.softmax(image(), 1)),
        relay.exp(relay.trilu(relay.negative(image()), const(0, "int32"), True)),  # of the place, too
    ],
)
def test_other_regions_stay_float(body: Expr) -> None:
    assert reason(quantized(relay.add(body, const(0.5))))
