"""Tensors of 2 and 4 bits: weights and zero points of quantized models."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from relay_explorer import relay
from relay_explorer.frontends import from_onnx
from relay_explorer.ir.errors import RelayError
from tests.frontends.onnx.against_runtime import check
from tests.frontends.onnx.support import value

RNG = np.random.default_rng(0)
LIMITS = {"INT4": (-8, 7), "UINT4": (0, 15), "INT2": (-2, 1), "UINT2": (0, 3)}
Array = np.ndarray[Any, Any]


def tensor(name: str, kind: str, values: Array, raw: bool = True) -> onnx.TensorProto:
    """Make a tensor of few bits, packed into raw bytes or into `int32_data`."""
    bits = int(kind[-1])
    data = np.pad(values.reshape(-1).astype("int64") & ((1 << bits) - 1), (0, -values.size % (8 // bits)))
    packed = (data.reshape(-1, 8 // bits) << (np.arange(8 // bits) * bits)).sum(1).astype("uint8")
    result = TensorProto(name=name, data_type=TensorProto.DataType.Value(kind), dims=values.shape)
    if raw:
        result.raw_data = packed.tobytes()
    else:
        result.int32_data.extend(packed.tolist())
    return result


def model(
    nodes: list[onnx.NodeProto], x: Array, weights: list[onnx.TensorProto], opset: int = 21
) -> onnx.ModelProto:
    """Make a model of the input `x` and the output `y`."""
    result = value("y", None)
    graph = helper.make_graph(nodes, "few", [value("x", x.shape)], [result], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def real(name: str, values: Any) -> onnx.TensorProto:
    return onnx.numpy_helper.from_array(np.asarray(values, "float32"), name)


def dequantized(kind: str, scales: Array, zeros: Array, raw: bool = True, **attrs: Any) -> Any:
    """Return a model that adds a dequantized weight (5, 7) to `x`, and the values."""
    w = RNG.integers(LIMITS[kind][0], LIMITS[kind][1] + 1, (5, 7))
    x = RNG.standard_normal((5, 7)).astype("float32")
    weights = [tensor("w", kind, w, raw), real("s", scales), tensor("z", kind, zeros, raw)]
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"], **attrs),
        helper.make_node("Add", ["x", "d"], ["y"]),
    ]
    return model(nodes, x, weights, 25 if kind.endswith("2") else 21), x, w


@pytest.mark.parametrize("kind", ["INT4", "UINT4"])
@pytest.mark.parametrize("raw", [False, True])
def test_weights_of_four_bits(kind: str, raw: bool) -> None:
    low, high = LIMITS[kind]
    for scales, zeros, attrs in (
        (np.array(0.3), np.array(low), {}),
        (RNG.random(7), RNG.integers(low, high + 1, 7), {"axis": 1}),
        (RNG.random((3, 7)), RNG.integers(low, high + 1, (3, 7)), {"axis": 0, "block_size": 2}),
    ):
        proto, x, _ = dequantized(kind, scales, zeros, raw, **attrs)
        check(proto, {"x": x}, rtol=0, atol=0)


@pytest.mark.parametrize("kind", ["INT2", "UINT2"])
def test_weights_of_two_bits(kind: str) -> None:
    """The runtime does not have them."""
    proto, x, w = dequantized(kind, np.array(0.5), np.array(1))
    mod, _ = from_onnx(proto)
    result = relay.create_executor("debug", mod).evaluate()(x).numpy()
    np.testing.assert_array_equal(result, x + (w - 1).astype("float32") * np.float32(0.5))


@pytest.mark.parametrize("kind", ["INT4", "UINT4"])
@pytest.mark.parametrize("stated", ["zero", "attribute"])
def test_quantizing_saturates_to_the_range(kind: str, stated: str) -> None:
    x = np.array([-100, -9, -8.5, -2.5, -0.4, 0.5, 1.5, 6.5, 7.5, 15.5, 1000], "float32")
    number = TensorProto.DataType.Value(kind)
    with_zero = stated == "zero"
    nodes = [
        helper.make_node(
            "QuantizeLinear", ["x", "s", "z"][: 2 + with_zero], ["q"],
            **({} if with_zero else {"output_dtype": number}),
        ),
        helper.make_node("DequantizeLinear", ["q", "s"], ["y"]),
    ]  # fmt: skip
    weights = [real("s", 1), tensor("z", kind, np.array(0))]
    check(model(nodes, x, weights), {"x": x}, rtol=0, atol=0)


def test_operators_that_move_elements_keep_the_type() -> None:
    x = RNG.standard_normal((7, 5)).astype("float32") * 9
    nodes = [
        helper.make_node("Transpose", ["z"], ["zt"], perm=[0]),
        helper.make_node("QuantizeLinear", ["x", "s", "zt"], ["q"]),
        helper.make_node("Transpose", ["q"], ["t"], perm=[1, 0]),
        helper.make_node("DequantizeLinear", ["t", "s", "zt"], ["y"], axis=0),
    ]
    weights = [real("s", RNG.random(5) + 0.5), tensor("z", "INT4", RNG.integers(-8, 8, 5))]
    check(model(nodes, x, weights), {"x": x}, rtol=0, atol=0)


def test_a_constant_node_and_weights_as_parameters() -> None:
    x = np.zeros((2, 3), "float32")
    w = tensor("w", "INT4", RNG.integers(-8, 8, (2, 3)))
    nodes = [
        helper.make_node("Constant", [], ["c"], value=w),
        helper.make_node("DequantizeLinear", ["c", "s"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "s"], ["e"]),
        helper.make_node("Sub", ["d", "e"], ["f"]),
        helper.make_node("Add", ["x", "f"], ["y"]),
    ]
    mod, params = from_onnx(model(nodes, x, [real("s", 0.5), w]), freeze_params=False)
    assert params["w"].dtype == "int8"
    result = relay.create_executor("debug", mod).evaluate()(x, **params).numpy()
    np.testing.assert_array_equal(result, x)


def test_other_operators_refuse_such_operands() -> None:
    x = np.zeros(3, "float32")
    weights = [tensor("w", "INT4", np.arange(3)), tensor("v", "INT4", np.arange(3))]
    nodes = [helper.make_node("Cast", ["w"], ["c"], to=1), helper.make_node("Add", ["x", "c"], ["y"])]
    with pytest.raises(RelayError, match="Cast of int4 cannot be imported"):
        from_onnx(model(nodes, x, weights))


def test_a_truncated_tensor_is_an_error() -> None:
    proto, _, _ = dequantized("INT4", np.array(0.5), np.array(1))
    proto.graph.initializer[0].raw_data = b"123"
    with pytest.raises(RelayError, match="needs 18 bytes, but the file has 3"):
        from_onnx(proto)
