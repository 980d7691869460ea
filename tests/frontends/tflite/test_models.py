"""Models that TensorFlow Lite's converter made compute what its interpreter computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.frontends.tflite import from_tflite
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call, If, Let
from relay_explorer.ir.types import Any, TensorType
from relay_explorer.ir.walk import post_order
from tests.frontends.quantized import calls, element_types
from tests.frontends.tflite.files import (
    NAMES,
    imported,
    inputs_of,
    outputs_of,
    path_of,
    reference_of,
    run,
)

REFUSED = {"variable_changed"}
BYTES = {"conv_int8", "kernels_int8", "lstm_int8", "operators_int8", "residual_int8", "residual_uint8"}
SHORTS = {"conv_int16", "kernels_int16", "residual_int16"}
HYBRID = ["hybrid_convolutions", "hybrid_dense", "hybrid_pointwise"]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in REFUSED | BYTES | SHORTS])
def test_computes_what_the_interpreter_computes(name: str) -> None:
    results, expected = imported(name), outputs_of(name)
    assert [(x.shape, x.dtype) for x in results] == [(x.shape, x.dtype) for x in expected]
    for result, wanted in zip(results, expected):
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("name", sorted(BYTES))
def test_bytes_equal_those_of_the_interpreter(name: str, integers: bool) -> None:
    mod, params = from_tflite(path_of(name), integers=integers)
    for result, wanted in zip(run(mod, params, inputs_of(name)), outputs_of(name), strict=True):
        assert result.dtype == wanted.dtype
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("name", ["kernels_int8", "residual_int8", "residual_uint8"])
def test_bytes_equal_those_of_the_reference_kernels_on_request(name: str) -> None:
    default, reference = outputs_of(name), reference_of(name)
    assert any((a != b).any() for a, b in zip(default, reference))
    mod, params = from_tflite(path_of(name), reference_kernels=True)
    for result, wanted in zip(run(mod, params, inputs_of(name)), reference, strict=True):
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("name", sorted(SHORTS))
def test_integers_of_16_bits_equal_those_of_the_interpreter(name: str) -> None:
    for result, wanted in zip(imported(name), outputs_of(name), strict=True):
        assert result.dtype == wanted.dtype
        np.testing.assert_array_equal(result, wanted)


def test_layers_of_bytes_are_operators_of_the_dialect() -> None:
    mod, _ = from_tflite(path_of("residual_int8"))
    layers = calls(mod, "qnn.conv2d", "qnn.conv2d_transpose", "qnn.dense")
    assert len(layers) == 7
    for call in layers:
        assert element_types(call) == ["int8", "int8", "int32"]
    assert not calls(mod, "nn.conv2d", "nn.conv2d_transpose", "nn.dense")


def test_all_operators_compute_with_integers_on_request() -> None:
    for integers, count in ((False, 6), (True, 0)):
        mod, _ = from_tflite(path_of("residual_int8"), integers=integers)
        assert len(calls(mod, "qnn.dequantize")) == count


def test_a_layer_with_activations_of_16_bits_sums_integers_of_64() -> None:
    mod, _ = from_tflite(path_of("residual_int16"))
    layers = calls(mod, "nn.conv2d", "nn.conv2d_transpose", "nn.dense")
    assert len(layers) == 7
    assert {tuple(element_types(call)) for call in layers} == {("int64", "int64", "int64")}


@pytest.mark.parametrize("name", ["conv_float", "conv_int8", "hybrid_dense", "loops"])
def test_compiles(name: str) -> None:
    mod, params = from_tflite(path_of(name))
    executor = "vm" if name == "loops" else "graph"
    tolerance = 1 if name == "conv_int8" else 1e-5
    for result, wanted in zip(run(mod, params, inputs_of(name), executor), outputs_of(name)):
        np.testing.assert_allclose(result.astype(float), wanted, rtol=1e-5, atol=tolerance)


def test_accepts_a_path_bytes_and_a_model_of_the_package() -> None:
    import tflite  # type: ignore[import-untyped]

    contents = path_of("attention").read_bytes()
    models = [str(path_of("attention")), contents, tflite.Model.GetRootAs(contents, 0)]
    texts = {str(from_tflite(model)[0]["main"]) for model in models}
    assert len(texts) == 1


def test_a_loop_is_a_recursive_function() -> None:
    body = from_tflite(path_of("loops"))[0]["main"].body
    assert sum(isinstance(node, Let) for node in post_order(body)) == 2  # one in the other
    assert any(isinstance(node, If) for node in post_order(body))


def test_both_branches_of_a_conditional_are_imported() -> None:
    mod, params = from_tflite(path_of("branches"))
    x = -np.abs(inputs_of("branches")[0])
    first, second = run(mod, params, [x])
    np.testing.assert_allclose(first, x - 3.0, rtol=1e-6)
    np.testing.assert_allclose(second, np.exp(x), rtol=1e-6)


def test_open_axes_are_unknown_unless_they_are_given() -> None:
    mod, _ = from_tflite(path_of("dynamic"))
    (x, *_) = mod["main"].params
    assert isinstance(x.type_annotation, TensorType)
    assert x.type_annotation.shape == (Any(), Any(), 4)
    name = x.name_hint
    mod, params = from_tflite(path_of("dynamic"), {name: (2, 3, 4)})
    assert isinstance(mod["main"].params[0].type_annotation, TensorType)
    assert mod["main"].params[0].type_annotation.shape == (2, 3, 4)
    results = run(mod, params, [np.ones((2, 3, 4), np.float32)])
    assert results[0].shape == (2, 3, 3)


def test_weights_are_parameters_with_the_names_of_their_tensors() -> None:
    mod, params = from_tflite(path_of("conv_float"))
    names = [var.name_hint for var in mod["main"].params]
    assert sorted(names[1:]) == sorted(params)
    assert len(set(names)) == len(names)


def test_expressions_point_to_their_operator_and_module() -> None:
    mod, _ = from_tflite(path_of("attention"))
    from relay_explorer.frontends.base.source import node_of

    nodes = [node_of(expr.span) for expr in post_order(mod["main"].body) if isinstance(expr, Call)]
    kinds = {node.op for node in nodes if node is not None}
    assert {"FULLY_CONNECTED", "SOFTMAX", "BATCH_MATMUL"} <= kinds
    assert any("multi_head_attention" in node.path for node in nodes if node is not None)


def test_float_data_is_quantized_in_every_run_where_weights_have_8_bits() -> None:
    mod, _ = from_tflite(path_of("hybrid_convolutions"))
    layers = calls(mod, "nn.conv2d", "nn.conv2d_transpose")
    kinds = sorted(element_types(call) for call in layers)
    assert kinds == [["int32", "int32", "int32"], *[["int8", "int8", "int32"]] * 3]
    mod, _ = from_tflite(path_of("hybrid_lstm"))
    assert {tuple(element_types(call)) for call in calls(mod, "nn.dense")} == {("int8", "int8", "int32")}


@pytest.mark.parametrize("name", HYBRID)
def test_reference_kernels_quantize_float_data_in_their_own_way_on_request(name: str) -> None:
    mod, params = from_tflite(path_of(name), reference_kernels=True)
    for result, wanted in zip(run(mod, params, inputs_of(name)), reference_of(name), strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)


def test_a_variable_that_changes_is_refused() -> None:
    with pytest.raises(RelayError, match="keeps a value from one run to the next"):
        from_tflite(path_of("variable_changed"))


def test_an_unknown_input_is_refused_with_the_names_of_the_inputs() -> None:
    with pytest.raises(RelayError, match="no input `data`") as caught:
        from_tflite(path_of("conv_float"), {"data": (1, 12, 12, 3)})
    assert "serving_default" in str(caught.value)


def test_a_missing_file_is_an_error_of_the_importer(tmp_path: Path) -> None:
    with pytest.raises(RelayError, match="cannot be read"):
        from_tflite(tmp_path / "none.tflite")


def test_the_importer_is_part_of_relay() -> None:
    assert vars(relay)["frontend"].from_tflite is from_tflite
