"""Against ONNX Runtime and PyTorch: to the last bit where they define it, else within one step.

Both multiply sums by a factor in float32 and round ties to even, which `requantize` does with TOEVEN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

import numpy as np
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper

from relay_explorer import relay
from relay_explorer.ir.expr import Expr, const
from relay_explorer.ops.qnn.config import requantize_config
from tests.ops.qnn.evaluate import value as by_both
from tests.ops.qnn.generate import Array

pytestmark = pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")  # it is deprecated
op = relay.qnn.op
TYPES = {"uint8": TensorProto.UINT8, "int8": TensorProto.INT8, "float32": TensorProto.FLOAT}
MICROSOFT = "com.microsoft"


def value(body: Expr, *arrays: Array) -> Array:
    """Evaluate a program, whose variables get the arrays in order, with the arithmetic of frameworks."""
    with requantize_config(rounding="TOEVEN", compute_dtype="float32"):
        return by_both(body, *arrays)


def runtime(
    name: str, inputs: Sequence[Array], result: str, domain: str = "", **attributes: Anything
) -> Array:
    """Run one operator of ONNX; scalars are 0-d arrays."""
    names = [f"i{n}" for n in range(len(inputs))]
    node = helper.make_node(name, names, ["y"], domain=domain, **attributes)
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in zip(names, inputs, strict=True)
    ]
    out = helper.make_tensor_value_info("y", TYPES[result], None)
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(
        helper.make_graph([node], "one", infos, [out]), opset_imports=opsets, ir_version=8
    )
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return np.asarray(session.run(None, dict(zip(names, inputs, strict=True)))[0])


def scalar(number: float, dtype: str = "float32") -> Array:
    return np.asarray(number, dtype)


def whole(random: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def var(name: str, array: Array) -> Expr:
    return relay.var(name, shape=array.shape, dtype=str(array.dtype))


def within_one_step(found: Array, expected: Array, different: float = 1.0) -> None:
    """Fail if an element is off by more than 1, or too many elements are different."""
    difference = np.abs(found.astype("int64") - expected.astype("int64"))
    assert difference.max() <= 1
    assert (difference > 0).mean() <= different


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_onnx_quantizes_to_the_same_integers(dtype: str) -> None:
    x = np.random.default_rng(0).normal(size=4000).astype("float32") * 9
    x[:200] = np.arange(-100, 100) * 0.05  # many ties
    scale, zero = scalar(0.1), scalar(7, dtype)
    found = value(op.quantize(var("x", x), const(0.1), const(7), out_dtype=dtype), x)
    np.testing.assert_array_equal(found, runtime("QuantizeLinear", [x, scale, zero], dtype))
    back = value(op.dequantize(var("q", found), const(0.1), const(7)), found)
    np.testing.assert_array_equal(back, runtime("DequantizeLinear", [found, scale, zero], "float32"))


@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_a_convolution_of_onnx_is_the_same_to_the_last_bit(dtype: str, groups: int) -> None:
    random = np.random.default_rng(groups)
    x, w = whole(random, (2, 8, 9, 9), dtype), whole(random, (12, 8 // groups, 3, 3), "int8")
    scales = random.uniform(0.001, 0.01, 12).astype("float32")
    bias = random.integers(-4000, 4000, 12).astype("int32")
    zero, end = (131, 97) if dtype == "uint8" else (-7, 11)
    sums = op.conv2d(
        var("x", x), var("w", w), const(zero), const(0), const(0.07), const(scales), (3, 3), 12,
        padding=1, groups=groups,
    )  # fmt: skip
    moved = relay.nn.bias_add(sums, const(bias))
    before = np.float32(0.07) * scales
    found = value(
        op.requantize(moved, const(before), const(0), const(0.9), const(end), 1, out_dtype=dtype), x, w
    )
    inputs = [
        x,
        scalar(0.07),
        scalar(zero, dtype),
        w,
        scales,
        np.zeros(12, "int8"),
        scalar(0.9),
        scalar(end, dtype),
        bias,
    ]
    expected = runtime("QLinearConv", inputs, dtype, pads=[1, 1, 1, 1], group=groups)
    assert len(np.unique(expected)) > 50
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_a_product_of_onnx_is_the_same_to_the_last_bit(dtype: str) -> None:
    random = np.random.default_rng(3)
    x, w = whole(random, (5, 20), dtype), whole(random, (20, 7), "int8")
    zero, end = (131, 97) if dtype == "uint8" else (-7, 11)
    rows = relay.transpose(var("w", w))
    sums = op.dense(var("x", x), rows, const(zero), const(0), const(0.07), const(0.01), 7)
    before = const(np.float32(0.07) * np.float32(0.01))
    found = value(op.requantize(sums, before, const(0), const(0.4), const(end), out_dtype=dtype), x, w)
    inputs = [
        x, scalar(0.07), scalar(zero, dtype), w, scalar(0.01), scalar(0, "int8"),
        scalar(0.4), scalar(end, dtype),
    ]  # fmt: skip
    np.testing.assert_array_equal(found, runtime("QLinearMatMul", inputs, dtype))


PAIR = (0.05, 120, 0.11, 90, 0.13, 131)


@pytest.mark.parametrize("name", ["Add", "Mul"])
def test_onnx_adds_and_multiplies_within_one_step(name: str) -> None:
    """Its sum is rounded once, ours once for each operand; products are rounded once in both."""
    random = np.random.default_rng(5)
    x, y = whole(random, (50, 40), "uint8"), whole(random, (50, 40), "uint8")
    a, za, b, zb, c, zc = PAIR
    operands = [const(p, ("float32", "int32")[k % 2]) for k, p in enumerate(PAIR)]
    found = value(getattr(op, name.lower())(var("x", x), var("y", y), *operands), x, y)
    inputs = [
        x, scalar(a), scalar(za, "uint8"), y, scalar(b), scalar(zb, "uint8"), scalar(c), scalar(zc, "uint8"),
    ]  # fmt: skip
    expected = runtime(f"QLinear{name}", inputs, "uint8", MICROSOFT)
    within_one_step(found, expected, 0.3 if name == "Add" else 0.01)


def test_functions_of_onnx_are_within_one_step() -> None:
    x = np.arange(256).astype("uint8")
    parameters = (const(0.05), const(120), const(1 / 256), const(0))
    inputs = [x, scalar(0.05), scalar(120, "uint8"), scalar(1 / 256), scalar(0, "uint8")]
    found = value(op.sigmoid(var("x", x), *parameters), x)
    within_one_step(found, runtime("QLinearSigmoid", inputs, "uint8", MICROSOFT), 0.02)
    slope = value(op.leaky_relu(var("x", x), 0.2, *parameters[:2], const(0.06), const(99)), x)
    inputs[3:] = [scalar(0.06), scalar(99, "uint8")]
    within_one_step(slope, runtime("QLinearLeakyRelu", inputs, "uint8", MICROSOFT, alpha=0.2), 0.06)


def test_the_softmax_of_onnx_is_within_one_step() -> None:
    x = whole(np.random.default_rng(2), (6, 50), "uint8")
    body = op.softmax(var("x", x), const(0.1), const(0), const(1 / 256), const(0))
    inputs = [x, scalar(0.1), scalar(0, "uint8"), scalar(1 / 256), scalar(0, "uint8")]
    expected = runtime("QLinearSoftmax", inputs, "uint8", MICROSOFT, axis=-1, opset=13)
    within_one_step(value(body, x), expected)


def test_the_mean_of_onnx_is_within_one_step() -> None:
    x = whole(np.random.default_rng(2), (1, 6, 8, 3), "uint8")
    body = op.avg_pool2d(
        var("x", x), const(0.1), const(7), const(0.08), const(3), (2, 2), (2, 2), (0, 0), (1, 1)
    )
    inputs = [x.transpose(0, 3, 1, 2), scalar(0.1), scalar(7, "uint8"), scalar(0.08), scalar(3, "uint8")]
    expected = runtime("QLinearAveragePool", inputs, "uint8", MICROSOFT, kernel_shape=[2, 2], strides=[2, 2])
    within_one_step(value(body, x).transpose(0, 3, 1, 2), expected, 0.02)


def test_a_concatenation_of_onnx_is_within_one_step() -> None:
    x = np.arange(256).astype("uint8").reshape(1, 256)
    parts = ([const(0.1), const(0.2)], [const(3), const(128)])
    body = op.concatenate([var("x", x), var("y", x)], *parts, const(0.15), const(100), axis=1)
    inputs = [
        scalar(0.15), scalar(100, "uint8"),
        x, scalar(0.1), scalar(3, "uint8"), x, scalar(0.2), scalar(128, "uint8"),
    ]  # fmt: skip
    within_one_step(value(body, x, x), runtime("QLinearConcat", inputs, "uint8", MICROSOFT, axis=1), 0.02)


# -- PyTorch


def in_torch(x: Array, scale: float, zero: int) -> Anything:
    return torch._make_per_tensor_quantized_tensor(torch.from_numpy(x), scale, zero)


def test_torch_quantizes_to_within_one_step() -> None:
    """It multiplies by the reciprocal of the scale."""
    x = np.random.default_rng(0).normal(size=4000).astype("float32") * 9
    found = value(op.quantize(var("x", x), const(0.1), const(7)), x)
    expected = torch.quantize_per_tensor(torch.from_numpy(x), 0.1, 7, torch.qint8).int_repr().numpy()
    within_one_step(found, expected, 0.001)


def test_a_layer_of_torch_is_the_same_to_the_last_bit() -> None:
    random = np.random.default_rng(9)
    x, w = whole(random, (6, 32), "uint8") // 2, whole(random, (5, 32), "int8")  # it uses 7 bits of data
    weight = torch._make_per_channel_quantized_tensor(
        torch.from_numpy(w), torch.full((5,), 0.01, dtype=torch.float64), torch.zeros(5, dtype=torch.int64), 0
    )
    packed = torch.ops.quantized.linear_prepack(weight, None)
    expected = torch.ops.quantized.linear(in_torch(x, 0.07, 60), packed, 0.4, 100).int_repr().numpy()
    sums = op.dense(var("x", x), var("w", w), const(60), const(0), const(0.07), const(0.01), 5)
    before = const(np.float32(0.07) * np.float32(0.01))
    found = value(op.requantize(sums, before, const(0), const(0.4), const(100), out_dtype="uint8"), x, w)
    assert len(np.unique(expected)) > 10
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["add", "mul"])
def test_torch_adds_and_multiplies_within_one_step(name: str) -> None:
    random = np.random.default_rng(5)
    x, y = whole(random, (50, 40), "uint8"), whole(random, (50, 40), "uint8")
    a, za, b, zb, c, zc = PAIR
    operands = [const(p, ("float32", "int32")[k % 2]) for k, p in enumerate(PAIR)]
    found = value(getattr(op, name)(var("x", x), var("y", y), *operands), x, y)
    function = getattr(torch.ops.quantized, name)
    expected = function(in_torch(x, a, int(za)), in_torch(y, b, int(zb)), c, int(zc)).int_repr().numpy()
    within_one_step(found, expected, 0.3 if name == "add" else 0.01)
