"""Quantized operators give exactly the integers that ONNX Runtime gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from relay_explorer import relay
from relay_explorer.frontends import from_onnx
from relay_explorer.ir.errors import RelayError
from tests.frontends.onnx.against_runtime import check, imported, runtime
from tests.frontends.quantized import calls, element_types

KINDS = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767)}


def operator(op: str, inputs: dict[str, Any], outputs: int = 1, opset: int = 21, **attrs: Any) -> Any:
    """Make a model of one operator; a name that begins with `x` is an input, others are weights."""
    node = helper.make_node(op, list(inputs), [f"out{i}" for i in range(outputs)], **attrs)
    declared = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
        for n, v in inputs.items()
        if n.startswith("x") and n
    ]
    weights = [numpy_helper.from_array(v, n) for n, v in inputs.items() if n and not n.startswith("x")]
    results = [helper.make_tensor_value_info(f"out{i}", 0, None) for i in range(outputs)]
    for result in results:
        result.ClearField("type")
    graph = helper.make_graph([node], "one", declared, results, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def exact(op: str, inputs: dict[str, Any], outputs: int = 1, kinds: Any = ("debug",), **attrs: Any) -> None:
    """Check that an operator gives exactly ONNX Runtime's results."""
    model = operator(op, inputs, outputs, **attrs)
    given = {name: value for name, value in inputs.items() if name.startswith("x")}
    check(model, given, kinds, rtol=0, atol=0)


RNG = np.random.default_rng(0)
HALVES = np.array([-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 1e6, -1e6], "float32")


@pytest.mark.parametrize("kind", KINDS)
def test_quantization_rounds_half_to_even_and_saturates(kind: str) -> None:
    zero = np.array(3 if kind.startswith("u") else -3, kind)
    inputs = {"x": HALVES, "s": np.array(1, "float32"), "z": zero}
    exact("QuantizeLinear", inputs, kinds=("debug", "compiled"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_one_scale_for_each_index_of_an_axis(kind: str, axis: int) -> None:
    x = (RNG.standard_normal((3, 3, 3)) * 100).astype("float32")
    scale = RNG.uniform(0.1, 2, 3).astype("float32")
    low, high = KINDS[kind]
    zero = RNG.integers(low, high, 3).astype(kind)
    exact("QuantizeLinear", {"x": x, "s": scale, "z": zero}, axis=axis)
    q = RNG.integers(low, high, (3, 3, 3)).astype(kind)
    exact("DequantizeLinear", {"x": q, "s": scale, "z": zero}, axis=axis)


def test_blocks_of_an_axis_have_scales_of_their_own() -> None:
    x = (RNG.standard_normal((2, 7)) * 50).astype("float32")
    scale = RNG.uniform(0.5, 2, (2, 3)).astype("float32")
    zero = RNG.integers(0, 9, (2, 3)).astype("uint8")
    exact("QuantizeLinear", {"x": x, "s": scale, "z": zero}, axis=1, block_size=3)
    exact("DequantizeLinear", {"x": x.astype("uint8"), "s": scale, "z": zero}, axis=1, block_size=3)


def test_defaults_of_the_result() -> None:
    exact("QuantizeLinear", {"x": HALVES, "s": np.array(0.5, "float32")})
    exact("QuantizeLinear", {"x": HALVES, "s": np.array(0.5, "float32")}, output_dtype=3)
    exact("DequantizeLinear", {"x": np.arange(-5, 5, dtype="int32"), "s": np.array(0.3, "float32")})


@pytest.mark.parametrize(
    "x", [HALVES[:8], np.zeros(3, "float32"), np.ones(4, "float32"), -np.ones(4, "float32")]
)
def test_dynamic_quantization(x: Any) -> None:
    model = operator("DynamicQuantizeLinear", {"x": x}, 3)
    result, expected = imported(model, {"x": x}), runtime(model, {"x": x})
    np.testing.assert_array_equal(result[0], expected[0])
    if x.any():  # ONNX Runtime gives the scale 1 for zeros, the standard 0
        np.testing.assert_array_equal(result[1], expected[1])
    np.testing.assert_array_equal(result[2], expected[2])


def scales(*counts: int) -> list[Any]:
    """Make scales: scalars where a count is 0."""
    return [RNG.uniform(0.01, 0.1, count or ()).astype("float32") for count in counts]


@pytest.mark.parametrize("kinds", [("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")])
def test_matmul_integer(kinds: tuple[str, str]) -> None:
    a = RNG.integers(*KINDS[kinds[0]], (2, 3, 4)).astype(kinds[0])
    b = RNG.integers(*KINDS[kinds[1]], (4, 5)).astype(kinds[1])
    zeros = {"za": np.array(7, kinds[0]), "zb": np.arange(5).astype(kinds[1])}
    exact("MatMulInteger", {"xa": a, "xb": b})
    exact("MatMulInteger", {"xa": a, "xb": b, **zeros}, kinds=("debug", "compiled"))


def near(model: Any, given: dict[str, Any]) -> None:
    """Check that results differ from ONNX Runtime's by one at most, and in few elements: it multiplies by the
    scales in another order, so that a tie may be broken differently.
    """
    (result,), (expected,) = imported(model, given), runtime(model, given)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    distance = np.abs(result.astype("int64") - expected.astype("int64"))
    assert distance.max() <= 1
    assert (distance > 0).mean() < 0.01


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_qlinear_matmul(kind: str) -> None:
    low, high = KINDS[kind]
    a = RNG.integers(low, high, (6, 8)).astype(kind)
    b = RNG.integers(low, high, (8, 5)).astype(kind)
    sa, sb, sy = scales(0, 0, 0)
    zero = np.array(3, kind)
    inputs = {"xa": a, "sa": sa, "za": zero, "xb": b, "sb": sb, "zb": zero, "sy": sy * 10, "zy": zero}
    near(operator("QLinearMatMul", inputs), {"xa": a, "xb": b})


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize(
    "attrs", [{}, {"pads": [1, 2, 0, 1], "strides": [2, 1]}, {"group": 2}, {"dilations": [2, 1]}]
)
def test_qlinear_conv(per_channel: bool, attrs: dict[str, Any]) -> None:
    x = RNG.integers(0, 255, (1, 4, 8, 8)).astype("uint8")
    w = RNG.integers(-128, 127, (6, 4 // attrs.get("group", 1), 3, 3)).astype("int8")
    sx, sw, sy = scales(0, 6 if per_channel else 0, 0)
    zw = np.zeros(6, "int8") if per_channel else np.array(0, "int8")
    inputs = {
        "x": x, "sx": sx, "zx": np.array(128, "uint8"), "w": w, "sw": sw, "zw": zw, "sy": sy * 20,
        "zy": np.array(100, "uint8"), "b": RNG.integers(-500, 500, 6).astype("int32"),
    }  # fmt: skip
    near(operator("QLinearConv", inputs, **attrs), {"x": x})


def test_conv_integer_pads_with_the_zero_point() -> None:
    x = RNG.integers(0, 255, (1, 2, 5, 5)).astype("uint8")
    w = RNG.integers(0, 255, (3, 2, 3, 3)).astype("uint8")
    zeros = {"zx": np.array(9, "uint8"), "zw": np.array(5, "uint8")}
    exact("ConvInteger", {"x": x, "w": w, **zeros}, pads=[1, 1, 1, 1])


def test_a_qdq_model() -> None:
    """Conversions around a convolution and a matrix product, as exporters write quantized models."""
    import onnx.parser

    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 17]> g (float[1,3,6,6] x) => (float[1,4] y)
        <float sx = {0.05}, uint8 zx = {128}, float sw = {0.02}, int8 zw = {0}, float sy = {0.1},
         uint8 zy = {10}> {
          q = QuantizeLinear(x, sx, zx) d = DequantizeLinear(q, sx, zx)
          wd = DequantizeLinear(w, sw, zw) c = Conv(d, wd) r = Relu(c)
          qc = QuantizeLinear(r, sy, zy) dc = DequantizeLinear(qc, sy, zy)
          p = GlobalAveragePool(dc) f = Flatten(p) y = Softmax(f) }"""
    )
    weight = RNG.integers(-128, 127, (4, 3, 3, 3)).astype("int8")
    model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    x = RNG.standard_normal((1, 3, 6, 6)).astype("float32")
    check(model, {"x": x}, ("debug", "compiled"), rtol=1e-4, atol=1e-5)
    mod, _ = from_onnx(model)
    assert str(mod).count("qnn.dequantize") == 3  # of the data, of the weight, and of the convolution


def program(op: str, inputs: dict[str, Any], **options: Any) -> Any:
    """Import a model of one operator; return the module."""
    return from_onnx(operator(op, inputs, **options.pop("attrs", {})), **options)[0]


def linear_inputs(rank: int, columns: int = 5) -> dict[str, Any]:
    """Make the operands of QLinearMatMul with `rank` axes; the right one has two axes for rank 2."""
    a = RNG.integers(0, 255, (3, 4, 6, 8)[-rank:]).astype("uint8")
    b = RNG.integers(-128, 127, (3, 4, 8, columns)[-rank:]).astype("int8")
    return {
        "xa": a, "sa": np.array(0.02, "float32"), "za": np.array(120, "uint8"), "xb": b,
        "sb": np.array(0.03, "float32"), "zb": np.array(-3, "int8"), "sy": np.array(0.7, "float32"),
        "zy": np.array(101, "uint8"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rank", "product"), [(2, "qnn.dense"), (3, "qnn.batch_matmul"), (4, "nn.batch_matmul")]
)
def test_products_are_operators_of_the_dialect_where_it_has_them(rank: int, product: str) -> None:
    inputs = linear_inputs(rank)
    near(operator("QLinearMatMul", inputs), {"xa": inputs["xa"], "xb": inputs["xb"]})
    mod = program("QLinearMatMul", inputs)
    (call,) = calls(mod, product)
    wanted = ["uint8", "int8", "int32"] if product.startswith("qnn") else ["int32"] * 3
    assert element_types(call) == wanted
    assert len(calls(mod, "qnn.requantize")) == 1


def test_each_column_of_a_product_has_a_scale_and_a_zero_point() -> None:
    inputs = linear_inputs(2) | {
        "sb": np.linspace(0.01, 0.05, 5, dtype="float32"), "zb": np.arange(-2, 3).astype("int8"),
    }  # fmt: skip
    near(operator("QLinearMatMul", inputs), {"xa": inputs["xa"], "xb": inputs["xb"]})
    assert len(calls(program("QLinearMatMul", inputs), "qnn.dense")) == 1


def test_a_convolution_of_images_is_one_of_the_dialect_and_of_volumes_is_not() -> None:
    for axes, name, types in ((2, "qnn.conv2d", ["uint8", "int8", "int32"]), (3, "nn.conv3d", ["int32"] * 3)):
        x = RNG.integers(0, 255, (1, 2, *[5] * axes)).astype("uint8")
        w = RNG.integers(-128, 127, (3, 2, *[3] * axes)).astype("int8")
        zeros = {"zx": np.array(9, "uint8"), "zw": np.array(5, "int8")}
        (call,) = calls(program("ConvInteger", {"x": x, "w": w, **zeros}), name)
        assert element_types(call) == types


def test_sixteen_bits_are_quantized_by_the_dialect() -> None:
    for kind in ("int16", "uint16"):
        inputs = {"x": HALVES, "s": np.array(1, "float32"), "z": np.array(3, kind)}
        assert len(calls(program("QuantizeLinear", inputs), "qnn.quantize")) == 1


def test_scales_are_constants_although_weights_are_parameters() -> None:
    inputs = linear_inputs(2)
    weight = inputs.pop("xb")
    model = operator(
        "QLinearMatMul",
        {
            "xa": inputs["xa"],
            "sa": inputs["sa"],
            "za": inputs["za"],
            "b": weight,
            **{key: inputs[key] for key in ("sb", "zb", "sy", "zy")},
        },
    )
    mod, params = from_onnx(model, freeze_params=False)
    assert list(params) == ["b"]
    result = relay.create_executor("debug", mod).evaluate()(inputs["xa"], **params).numpy()
    np.testing.assert_array_equal(result, imported(model, {"xa": inputs["xa"]})[0])


def test_a_scale_that_the_model_computes() -> None:
    """After DynamicQuantizeLinear, the zero point of a product is known only when it runs."""
    import onnx.parser

    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 17]> g (float[3,8] x) => (float[3,5] y)
        <float sb = {0.02}> {
          q, s, z = DynamicQuantizeLinear(x) p = MatMulInteger(q, w, z)
          f = Cast<to: int = 1>(p) t = Mul(s, sb) y = Mul(f, t) }"""
    )
    model.graph.initializer.append(numpy_helper.from_array(RNG.integers(-9, 9, (8, 5)).astype("int8"), "w"))
    x = RNG.standard_normal((3, 8)).astype("float32")
    check(model, {"x": x}, ("debug", "compiled"), rtol=1e-6, atol=1e-6)
    assert len(calls(from_onnx(model)[0], "qnn.dense")) == 1


@pytest.mark.parametrize("scale", [0.0, -1.0, float("inf"), float("nan")])
def test_a_scale_of_a_result_must_be_positive_and_finite(scale: float) -> None:
    wrong = np.array(scale, "float32")
    for name, inputs in (
        ("QuantizeLinear", {"x": HALVES, "s": wrong, "z": np.array(0, "uint8")}),
        ("QLinearMatMul", linear_inputs(2) | {"sy": wrong}),
    ):
        with pytest.raises(RelayError, match="a scale must be a positive, finite number"):
            from_onnx(operator(name, inputs))


def test_element_types_that_relay_does_not_have_are_refused() -> None:
    model = operator("QuantizeLinear", {"x": HALVES, "s": np.array(1, "float32")}, output_dtype=17)
    assert onnx.TensorProto.FLOAT8E4M3FN == 17
    with pytest.raises(RelayError, match="float8e4m3fn cannot be imported"):
        from_onnx(model)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("attrs", [{"pads": [2, 1], "strides": [2]}, {"group": 2, "dilations": [2]}])
def test_a_convolution_of_sequences_is_one_of_images_of_one_row(
    per_channel: bool, attrs: dict[str, Any]
) -> None:
    x = RNG.integers(0, 255, (2, 4, 19)).astype("uint8")
    w = RNG.integers(-128, 127, (6, 4 // attrs.get("group", 1), 3)).astype("int8")
    sx, sw, sy = scales(0, 6 if per_channel else 0, 0)
    inputs = {
        "x": x, "sx": sx, "zx": np.array(120, "uint8"), "w": w, "sw": sw,
        "zw": np.full(6, 3, "int8") if per_channel else np.array(3, "int8"), "sy": sy * 20,
        "zy": np.array(100, "uint8"), "b": RNG.integers(-500, 500, 6).astype("int32"),
    }  # fmt: skip
    near(operator("QLinearConv", inputs, **attrs), {"x": x})
    assert len(calls(program("QLinearConv", inputs, attrs=attrs), "qnn.conv2d")) == 1
