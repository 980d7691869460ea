"""Networks that were quantized by PyTorch and ONNX Runtime compute what these compute, with integers."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.frontends.base.source import node_of
from relay_explorer.ir import structural_equal
from relay_explorer.ir.expr import Call, Constant, Expr
from relay_explorer.ir.walk import post_order
from tests.frontends.quantized import calls, element_types, import_model, recorded, run

LAYERS = ("qnn.conv2d", "qnn.dense")
REAL = ("nn.conv2d", "nn.dense")
STATIC = ["resnet_fx.pt", "mobilenet_fx.pt", "resnet_qoperator.onnx", "mobilenet_qoperator.onnx"]
QDQ = ["resnet_qdq.onnx", "mobilenet_qdq.onnx", "encoder_qdq.onnx"]
EXPORTED = ["resnet_pt2e.pt2", "mobilenet_pt2e.pt2", "encoder_pt2e.pt2"]
DYNAMIC = ["encoder_dynamic.pt", "recurrent_dynamic.pt", "encoder_dynamic_onnx.onnx"]
COUNTS = {"resnet": 7, "mobilenet": 6, "encoder": 6, "recurrent": 25}  # of convolutions and products


def layers_of(name: str) -> int:
    return COUNTS[name.partition("_")[0]]


@pytest.mark.parametrize("name", STATIC)
@pytest.mark.parametrize("integers", [False, True])
def test_layers_of_integers_equal_the_framework_to_the_last_bit(name: str, integers: bool) -> None:
    mod, params = import_model(name, integers=integers)
    result = run((mod, params), recorded(name, "input"))
    np.testing.assert_array_equal(result, recorded(name, "output"))
    layers = calls(mod, *LAYERS)
    assert len(layers) == layers_of(name)
    assert {tuple(element_types(call)) for call in layers} == {("uint8", "int8", "int32")}
    assert not calls(mod, *REAL)


@pytest.mark.parametrize("name", QDQ)
@pytest.mark.parametrize("integers", [False, True])
def test_qdq_equals_onnx_to_the_last_bit_with_real_numbers_and_with_integers(
    name: str, integers: bool
) -> None:
    mod, params = import_model(name, integers=integers)
    result = run((mod, params), recorded(name, "input"))
    np.testing.assert_array_equal(result, recorded(name, "exact"))
    assert len(calls(mod, *LAYERS)) == (layers_of(name) if integers else 0)
    assert len(calls(mod, *REAL)) == (0 if integers else layers_of(name))


def test_a_fused_encoder_of_onnx_runtime_differs_by_few_steps() -> None:
    """ONNX Runtime fuses normalizations, so that sums are rounded in another order."""
    name = "encoder_qdq.onnx"
    result, expected = run(import_model(name), recorded(name, "input")), recorded(name, "output")
    step = np.diff(np.unique(expected)).min()
    assert np.abs(result - expected).max() <= 2.01 * step
    assert (np.abs(result - expected) > 0.01 * step).mean() < 0.2


@pytest.mark.parametrize("name", EXPORTED)
@pytest.mark.parametrize("freeze", [False, True])
def test_exported_programs_compute_with_integers_on_request(name: str, freeze: bool) -> None:
    x, expected = recorded(name, "input"), recorded(name, "output")
    np.testing.assert_allclose(run(import_model(name), x), expected, rtol=1e-5, atol=1e-6)
    mod, params = import_model(name, integers=True, freeze_params=freeze)
    # A bias of PyTorch is a real number. It is rounded to the scale of the sums only if its value is known.
    np.testing.assert_allclose(run((mod, params), x), expected, atol=5e-3 if freeze else 1e-6)
    layers = calls(mod, *LAYERS)
    assert len(layers) == layers_of(name)
    assert {tuple(element_types(call)) for call in layers} == {("uint8", "int8", "int32")}
    assert not calls(mod, *REAL)


@pytest.mark.parametrize("name", DYNAMIC)
def test_dynamic_quantization_equals_the_framework_but_for_the_rounding_of_real_sums(name: str) -> None:
    mod, params = import_model(name)
    result = run((mod, params), recorded(name, "input"))
    np.testing.assert_allclose(result, recorded(name, "output"), rtol=1e-5, atol=1e-6)
    layers = calls(mod, *LAYERS)
    assert len(layers) == layers_of(name)
    assert {tuple(element_types(call)) for call in layers} == {("uint8", "int8", "int32")}


@pytest.mark.parametrize("name", [*STATIC, *EXPORTED, *DYNAMIC])
def test_no_weight_matrix_is_real(name: str) -> None:
    mod, params = import_model(name)
    constants = [node.data for node in post_order(mod["main"]) if isinstance(node, Constant)]
    matrices = [value for value in (*constants, *params.values()) if len(value.shape) > 1]
    weights = [value for value in matrices if value.numpy().any()]  # an initial state consists of zeros
    assert weights
    assert {value.dtype for value in weights} == {"int8"}


def test_a_compiled_network_of_integers_equals_onnx_to_the_last_bit() -> None:
    imported = import_model("mobilenet_qdq.onnx", integers=True)
    x, expected = recorded("mobilenet_qdq.onnx", "input"), recorded("mobilenet_qdq.onnx", "exact")
    for executor in ("graph", "vm"):
        np.testing.assert_array_equal(run(imported, x, executor), expected)


@pytest.mark.parametrize("name", ["mobilenet_fx.pt", "mobilenet_qdq.onnx", "mobilenet_pt2e.pt2"])
def test_every_call_knows_its_node(name: str) -> None:
    mod, _ = import_model(name)
    nodes = [node_of(call.span) for call in post_order(mod["main"]) if isinstance(call, Call)]
    assert all(node is not None for node in nodes)
    quantizing = {"aten::quantize_per_tensor", "QuantizeLinear", "quantized_decomposed::quantize_per_tensor"}
    kinds = {node.op.partition(".")[0] for node in nodes if node is not None}
    assert kinds & quantizing


def test_the_integer_layers_of_a_qdq_model_know_the_node_of_the_layer() -> None:
    mod, _ = import_model("mobilenet_qdq.onnx", integers=True)
    sources: list[Expr] = [*calls(mod, "qnn.conv2d")]
    while any(source.span is None for source in sources):
        sources = [source if source.span is not None else source.origin[0] for source in sources]
    nodes = [node_of(source.span) for source in sources]
    assert [node.op for node in nodes if node is not None] == ["Conv"] * 5


def test_a_quantized_model_is_printed_and_parsed() -> None:
    mod, _ = import_model("mobilenet_qoperator.onnx", integers=True)
    parsed = relay.transform.InferType()(relay.fromtext(mod.astext()))
    assert structural_equal(parsed, relay.transform.InferType()(mod))
