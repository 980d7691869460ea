"""Powers with an exponent that is known are products, which mean the same for numbers of all kinds."""

from __future__ import annotations

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.ir.expr import Function

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.5, -3.0, 1e-40, 3e38, 0.1]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_known_exponents(dtype: str) -> None:
    with np.errstate(over="ignore"):
        data = np.array([*SPECIAL, *np.linspace(-4, 4, 21)]).astype(dtype)
    x = relay.var("x", shape=data.shape, dtype=dtype)
    exponents = [-1.0, 0.5, 1.0, 2.0, 3.0, 4.0, 2.5, -2.0]
    powers = [relay.power(x, relay.const(y, dtype)) for y in exponents]
    result = relay_explorer.build(Function([x], relay.Tuple(powers)), quiet=True)(data)
    with np.errstate(all="ignore"):
        for y, got in zip(exponents, result, strict=True):
            expected = np.power(data, np.array(y, dtype))
            np.testing.assert_allclose(
                got, expected, rtol=4e-3 if dtype == "float16" else 1e-6, err_msg=str(y)
            )


def test_the_c_library_is_called_for_others_only() -> None:
    x = relay.var("x", shape=(32,))
    for y, called in ((2.0, False), (0.5, False), (2.5, True)):
        (kernel,) = relay_explorer.build(Function([x], relay.power(x, relay.const(y))), quiet=True).kernels
        assert ("powf" in kernel.source("asm")) == called
