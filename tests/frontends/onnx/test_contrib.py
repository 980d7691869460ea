"""ONNX Runtime's own operators (the domain `com.microsoft`) give its results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from tests.frontends.onnx.against_runtime import check, imported, runtime

RNG = np.random.default_rng(0)


def operator(op: str, inputs: dict[str, Any], outputs: int = 1, **attrs: Any) -> Any:
    """Make a model of one operator; names that begin with `x` are inputs, others are weights."""
    names = [name if value is not None else "" for name, value in inputs.items()]
    node = helper.make_node(op, names, [f"y{i}" for i in range(outputs)], domain="com.microsoft", **attrs)
    present = {name: value for name, value in inputs.items() if value is not None}
    declared = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
        for n, v in present.items()
        if n.startswith("x")
    ]
    weights = [numpy_helper.from_array(v, n) for n, v in present.items() if not n.startswith("x")]
    results = [helper.make_tensor_value_info(f"y{i}", 0, None) for i in range(outputs)]
    for result in results:
        result.ClearField("type")
    graph = helper.make_graph([node], "one", declared, results, weights)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def compare(op: str, inputs: dict[str, Any], outputs: int = 1, **attrs: Any) -> None:
    """Check an operator against ONNX Runtime."""
    given = {name: value for name, value in inputs.items() if name.startswith("x") and value is not None}
    check(operator(op, inputs, outputs, **attrs), given, rtol=1e-4, atol=1e-5)


def real(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype("float32")


def test_activations() -> None:
    x, bias = real(2, 3, 4), real(4)
    compare("Gelu", {"x": x})
    compare("BiasGelu", {"x": x, "b": bias})
    compare("FastGelu", {"x": x})
    compare("FastGelu", {"x": x, "b": bias})
    compare("QuickGelu", {"x": x}, alpha=1.5)


def test_normalization_of_a_sum() -> None:
    x, skip = real(2, 3, 8), real(2, 3, 8)
    compare("SkipLayerNormalization", {"x": x, "xs": skip, "g": real(8), "b": real(8)}, epsilon=1e-5)
    compare(
        "SkipLayerNormalization", {"x": x, "xs": skip, "g": real(8), "b": real(8), "c": real(8)}, epsilon=1e-5
    )
    compare("SkipSimplifiedLayerNormalization", {"x": x, "xs": skip, "g": real(8)}, epsilon=1e-5)


def test_embeddings() -> None:
    ids, segments = np.array([[1, 3, 0], [2, 2, 4]], "int32"), np.array([[0, 0, 1], [0, 1, 1]], "int32")
    mask = np.array([[1, 1, 1], [1, 1, 0]], "int32")
    inputs = {
        "x": ids, "xs": segments, "w": real(5, 8), "p": real(6, 8), "s": real(2, 8),
        "g": real(8), "b": real(8), "xm": mask,
    }  # fmt: skip
    compare("EmbedLayerNormalization", inputs, 2, epsilon=1e-5)


def test_products() -> None:
    a, b = real(2, 3, 4), real(2, 4, 5)
    compare("FusedMatMul", {"x": a, "xb": b}, alpha=0.5)
    compare("FusedMatMul", {"x": a.swapaxes(1, 2).copy(), "xb": b.swapaxes(1, 2).copy()}, transA=1, transB=1)
    compare("FusedConv", {"x": real(1, 2, 5, 5), "w": real(3, 2, 3, 3), "b": real(3)}, activation="Relu")


@pytest.mark.parametrize("mask", [None, "lengths", "keys", "pairs"])
@pytest.mark.parametrize("causal", [0, 1])
def test_attention(mask: str | None, causal: int) -> None:
    masks = {
        None: None,
        "lengths": np.array([4, 2], "int32"),
        "keys": np.array([[1, 1, 1, 1], [1, 1, 0, 0]], "int32"),
        "pairs": np.tril(np.ones((2, 4, 4), "int32")),
    }
    inputs = {"x": real(2, 4, 8), "w": real(8, 24), "b": real(24), "xm": masks[mask]}
    compare("Attention", inputs, num_heads=2, unidirectional=causal)


def test_attention_with_a_past() -> None:
    inputs = {"x": real(2, 1, 8), "w": real(8, 24), "b": real(24), "xm": None, "xp": real(2, 2, 2, 3, 4)}
    compare("Attention", inputs, 2, num_heads=2, unidirectional=1)


def test_multi_head_attention() -> None:
    query, key, value = real(2, 3, 8), real(2, 5, 8), real(2, 5, 8)
    compare("MultiHeadAttention", {"x": query, "xk": key, "xv": value}, num_heads=2)
    compare("MultiHeadAttention", {"x": query, "xk": key, "xv": value, "b": real(24)}, num_heads=2)


def test_rotary_embedding() -> None:
    positions = np.array([[0, 1, 2], [1, 2, 3]], "int64")
    tables = {"c": real(8, 4), "s": real(8, 4)}
    for interleaved in (0, 1):
        compare("RotaryEmbedding", {"x": real(2, 3, 16), "xp": positions, **tables}, interleaved=interleaved)


def close(op: str, inputs: dict[str, Any], step: float = 1, **attrs: Any) -> None:
    """Check that quantized results differ from ONNX Runtime's by at most one step."""
    given = {name: value for name, value in inputs.items() if name.startswith("x")}
    model = operator(op, inputs, **attrs)
    (result,), (expected,) = imported(model, given), runtime(model, given)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    assert np.abs(result.astype("float64") - expected.astype("float64")).max() <= step


def test_quantized_operators() -> None:
    a, b = [RNG.integers(0, 255, (1, 3, 6, 6)).astype("uint8") for _ in range(2)]
    s, z = (
        {n: np.array(v, "float32") for n, v in (("s", 0.05), ("t", 0.02), ("u", 0.1))},
        np.array(100, "uint8"),
    )
    both = {"x": a, "s": s["s"], "z": z, "xb": b, "t": s["t"], "z2": z, "u": s["u"], "z3": z}
    close("QLinearAdd", both)
    close("QLinearMul", both)
    one = {"x": a, "s": s["s"], "z": z, "u": s["u"], "z3": z}
    close("QLinearLeakyRelu", one, alpha=0.1)
    close("QLinearSigmoid", {**one, "u": np.array(1 / 255, "float32"), "z3": np.array(0, "uint8")})
    close("QLinearAveragePool", one, kernel_shape=[2, 2], strides=[2, 2])
    close("QLinearGlobalAveragePool", one, channels_last=0)
    concat = {"u": s["u"], "z3": z, "x": a, "s": s["s"], "z": z, "xb": b, "t": s["t"], "z2": z}
    close("QLinearConcat", concat, axis=1)


def test_quantized_products() -> None:
    a = RNG.integers(0, 255, (4, 6)).astype("uint8")
    b = RNG.integers(-127, 127, (6, 5)).astype("int8")
    sa, sb, za = np.array(0.05, "float32"), np.array(0.02, "float32"), np.array(120, "uint8")
    zb = np.array(0, "int8")
    close("QGemm", {"x": a, "sa": sa, "za": za, "b": b, "sb": sb, "zb": zb}, 1e-4)
    y = {"sy": np.array(0.5, "float32"), "zy": np.array(128, "uint8")}
    bias = RNG.integers(-99, 99, (5,)).astype("int32")
    close("QGemm", {"x": a, "sa": sa, "za": za, "b": b, "sb": sb, "zb": zb, "c": bias, **y})
    close(
        "MatMulIntegerToFloat", {"x": a, "b": b, "sa": sa, "sb": sb, "za": za, "zb": zb, "c": real(5)}, 1e-4
    )
    close("DynamicQuantizeMatMul", {"x": real(4, 6), "b": b, "sb": sb, "zb": zb, "c": real(5)}, 1e-4)
