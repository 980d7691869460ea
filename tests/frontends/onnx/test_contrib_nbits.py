"""ONNX Runtime's products with weights of few bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer.ir.errors import RelayError
from relay_explorer.ops.nn.nbits import pack
from tests.frontends.onnx.against_runtime import check, imported
from tests.frontends.onnx.test_contrib import operator, real
from tests.frontends.onnx.test_few_bits import tensor

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


# -- tables of embeddings


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("with_zeros", [False, True])
@pytest.mark.parametrize("indices", [np.array(3), np.array([[1, 0], [8, 3]])])
def test_rows_of_a_packed_table(bits: int, with_zeros: bool, indices: Any) -> None:
    """There are three blocks in a row, so that half of the last byte of their zero points is not used."""
    inputs = {
        "t": pack(RNG.integers(0, 1 << bits, (9, 48)), bits),
        "x": indices.astype("int64"),
        "s": RNG.random((9, 3), "float32"),
        "z": pack(RNG.integers(0, 1 << bits, (9, 3)), bits) if with_zeros else None,
    }
    attrs = {"bits": bits, "block_size": 16, "gather_axis": 0, "quantize_axis": 1}
    check(operator("GatherBlockQuantized", inputs, **attrs), {"x": inputs["x"]}, rtol=0, atol=0)


@pytest.mark.parametrize("kind", ["INT4", "UINT4"])
@pytest.mark.parametrize("with_zeros", [False, True])
def test_rows_of_a_table_of_four_bits(kind: str, with_zeros: bool) -> None:
    inputs: dict[str, Any] = {"t": None, "x": np.array([2, 0], "int64"), "s": RNG.random((3, 2), "float32")}
    model = operator("GatherBlockQuantized", inputs, block_size=16, quantize_axis=1)
    low, high = (-8, 8) if kind == "INT4" else (0, 16)
    node, weights = model.graph.node[0], model.graph.initializer
    node.input[0] = "t"
    weights.append(tensor("t", kind, RNG.integers(low, high, (3, 32))))
    if with_zeros:
        node.input.append("z")
        weights.append(tensor("z", kind, RNG.integers(low, high, (3, 2))))
    model.opset_import[0].version, model.ir_version = 21, 10
    check(model, {"x": inputs["x"]}, rtol=0, atol=0)


def test_blocks_of_a_table_lie_along_another_axis_than_its_rows() -> None:
    inputs = {"t": pack(RNG.integers(0, 16, (16, 32)), 4), "x": np.array([0]), "s": real(1, 32)}
    model = operator("GatherBlockQuantized", inputs, block_size=16, quantize_axis=0)
    with pytest.raises(RelayError, match="gathers along the axis of its blocks"):
        imported(model, {"x": inputs["x"]})


@pytest.mark.parametrize("kind", [0, 1])
def test_codes_of_bitsandbytes(kind: int) -> None:
    """The weight has an odd number of elements, and its last block is not full."""
    features, units, size = 45, 7, 32
    count = features * units
    inputs = {
        "x": real(2, 3, features),
        "w": RNG.integers(0, 256, (count + 1) // 2).astype("uint8"),
        "m": RNG.random(-(-count // size), "float32"),
    }
    attrs = {"K": features, "N": units, "block_size": size, "quant_type": kind}
    check(operator("MatMulBnb4", inputs, **attrs), {"x": inputs["x"]}, rtol=1e-5, atol=1e-5)
