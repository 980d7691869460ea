"""ONNX Runtime's products with weights of few bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer.ir.errors import RelayError
from relay_explorer.ops.nn.nbits import pack
from tests.frontends.onnx.against_runtime import check, imported
from tests.frontends.onnx.test_contrib import operator, real

RNG = np.random.default_rng(2)


def product(rows: int, features: int, units: int, size: int, bits: int = 4, **more: Any) -> tuple[Any, Any]:
    """Build a model and its input; `more` are further operands, by name."""
    blocks = -(-features // size)
    weights = RNG.integers(0, 1 << bits, (units, blocks, size))
    inputs = {
        "x": real(rows, features),
        "w": pack(weights, bits),
        "s": RNG.random((units, blocks), "float32"),
        **more,
    }
    attrs = {"K": features, "N": units, "bits": bits, "block_size": size}
    return operator("MatMulNBits", inputs, **attrs), {"x": inputs["x"]}


@pytest.mark.parametrize("kind", ["debug", "compiled"])
def test_four_bits(kind: str) -> None:
    check(*product(3, 64, 10, 32), kinds=[kind], rtol=1e-4, atol=1e-3)


def test_a_last_block_that_is_not_full() -> None:
    check(*product(2, 70, 5, 32), rtol=1e-4, atol=1e-3)


def test_eight_bits() -> None:
    check(*product(2, 64, 6, 32, bits=8), rtol=1e-4, atol=2e-2)


def test_zero_points_of_each_block() -> None:
    """There are three in a row, so that half of its last byte is not used."""
    zeros = RNG.integers(0, 16, (5, 3))
    check(*product(2, 96, 5, 32, z=pack(zeros, 4)), rtol=1e-4, atol=1e-3)


def test_a_bias() -> None:
    check(*product(2, 64, 6, 32, z=None, i=None, b=real(6)), rtol=1e-4, atol=1e-3)


def test_an_order_of_groups_is_refused() -> None:
    model, values = product(2, 64, 6, 32, z=None, i=np.arange(64, dtype="int32") // 32)
    with pytest.raises(RelayError, match="order of its groups"):
        imported(model, values)
