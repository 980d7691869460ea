"""Quantized products on their way to the dot instruction: weights become signed, transposed convolutions
become convolutions, odd products of computed matrices are padded, and a lane of a depthwise convolution
multiplies several columns. The results are the same integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.execute.interpreter import Interpreter
from relay_explorer.ir import Call, Expr, IRModule, Op, Var
from relay_explorer.ir.typed import tensor_type
from relay_explorer.ir.walk import post_order
from relay_explorer.lower.passes.padded_products import PadProducts
from relay_explorer.lower.passes.quantized_transposed import QuantizedTransposed
from relay_explorer.lower.passes.signed_weights import SignedWeights
from relay_explorer.lower.targets.target import Target
from tests.lower.test_int8_products import HASWELL, check, conv, extreme, function, image, kernel_of, padded

nn, qnn = relay.nn, relay.qnn.op
CASCADELAKE = Target.of({"kind": "llvm", "mcpu": "cascadelake"})


def number(value: Any, dtype: str = "int32") -> Expr:
    return relay.const(np.asarray(value, dtype))


def products(module: IRModule, name: str) -> list[Call]:
    return [n for n in post_order(module["main"]) if isinstance(n, Call) and n.op is Op.get(name)]


def quantized(
    x: Expr,
    shape: tuple[int, ...],
    dtype: str,
    zero: Any,
    of_data: int = 3,
    name: str = "conv2d",
    **attrs: Any,
) -> Call:
    """Build a quantized convolution with a constant weight."""
    outputs = shape[1] if name == "conv2d_transpose" else shape[0]
    return getattr(qnn, name)(  # type: ignore[no-any-return]
        x, relay.const(extreme(shape, dtype, 1)), number(of_data), number(zero), number(0.02, "float32"),
        number(0.01, "float32"), channels=outputs, kernel_size=shape[2:], **attrs,
    )  # fmt: skip


def same(before: IRModule, after: IRModule, data: Any) -> None:
    """Check that two programs compute the same integers."""
    results = [np.asarray(Interpreter(module).call("main", [data])) for module in (before, after)]
    assert np.array_equal(results[0], results[1])


# -- signed weights


@pytest.mark.parametrize("zero", [128, 117, [128, 3] * 8])
def test_unsigned_weights_become_signed(zero: Any) -> None:
    before = function(quantized(image(8, 5, "uint8"), (16, 8, 3, 3), "uint8", zero, padding=(1, 1)))
    after = SignedWeights(CASCADELAKE)(before)
    (layer,) = products(after, "qnn.conv2d")
    shifted = relay.transform.InferType()(after)
    assert tensor_type(products(shifted, "qnn.conv2d")[0].args[1]).dtype == "int8"
    assert np.array_equal(layer.args[3].data.numpy(), np.asarray(zero) - 128)  # type: ignore[attr-defined]  # a constant
    data = extreme((1, 8, 5, 5), "uint8", 2)
    same(before, after, data)


def test_the_zero_point_128_needs_no_correction() -> None:
    """The sums of the data's windows disappear, and the layer is as fast as one with signed weights."""
    body = quantized(image(16, 6, "uint8"), (16, 16, 3, 3), "uint8", 128, padding=(1, 1))
    assert check(body) == check(quantized(image(16, 6, "uint8"), (16, 16, 3, 3), "int8", 0, padding=(1, 1)))


def test_weights_that_stay_unsigned() -> None:
    """Small ones, which are signed bytes as they are; those of processors without an instruction for bytes;
    and those that are computed.
    """
    x, w = relay.var("x", shape=(4, 8), dtype="uint8"), relay.var("w", shape=(3, 8), dtype="uint8")
    scale = number(0.1, "float32")
    small = relay.const(np.full((3, 8), 7, "uint8"))
    known = qnn.dense(x, small, number(1), number(0), scale, scale, units=3)
    computed = qnn.dense(x, w, number(1), number(128), scale, scale, units=3)
    large = qnn.dense(
        x, relay.const(np.full((3, 8), 200, "uint8")), number(1), number(0), scale, scale, units=3
    )
    for body, target in ((known, CASCADELAKE), (computed, CASCADELAKE), (large, Target.of(HASWELL))):
        assert "bitwise_xor" not in str(SignedWeights(target)(function(body)))
    assert "bitwise_xor" in str(SignedWeights(CASCADELAKE)(function(large)))


# -- transposed convolutions

# kernel, stride, padding, output padding, weight's zero point
TRANSPOSED = [
    ((2, 2), (2, 2), (0, 0), (0, 0), 0),
    ((3, 3), (2, 2), (1, 1), (1, 1), 5),
    ((4, 3), (2, 1), (1, 2), (0, 0), 128),
    ((5, 5), (3, 2), (0, 1), (2, 0), 0),
]


@pytest.mark.parametrize(("size", "strides", "padding", "more", "zero"), TRANSPOSED)
def test_transposed_convolutions_are_convolutions(
    size: Any, strides: Any, padding: Any, more: Any, zero: int
) -> None:
    """The surplus weights of the phases are the weight's zero point, the border is the data's."""
    body = quantized(
        image(8, 5, "uint8"), (8, 6, *size), "uint8", zero, 77, "conv2d_transpose", strides=strides,
        padding=padding, output_padding=more,
    )  # fmt: skip
    before = function(body)
    after = QuantizedTransposed(CASCADELAKE)(before)
    assert products(after, "qnn.conv2d")
    assert not products(after, "qnn.conv2d_transpose")
    data = extreme((1, 8, 5, 5), "uint8", 2)
    same(before, after, data)


def test_transposed_convolutions_use_the_dot_instruction() -> None:
    body = quantized(
        image(16, 6, "uint8"), (16, 8, 4, 4), "int8", 0, 9, "conv2d_transpose", strides=(2, 2), padding=(1, 1)
    )
    assert "int8_blocked" in check(body)


def test_transposed_convolutions_that_stay() -> None:
    """Phases of different lengths with a zero point for each channel, or with one out of range."""
    x = image(4, 4, "uint8")
    vector = quantized(x, (4, 2, 3, 3), "int8", [1, 2], 0, "conv2d_transpose", strides=(2, 2))
    whole = quantized(x, (4, 2, 2, 2), "int8", [1, 2], 0, "conv2d_transpose", strides=(2, 2))
    far = quantized(x, (4, 2, 3, 3), "int8", 300, 0, "conv2d_transpose", strides=(2, 2))
    pass_ = QuantizedTransposed(CASCADELAKE)
    assert products(pass_(function(vector)), "qnn.conv2d_transpose")
    assert products(pass_(function(far)), "qnn.conv2d_transpose")
    assert not products(pass_(function(whole)), "qnn.conv2d_transpose")


# -- products of computed matrices


@pytest.mark.parametrize("shape", [(2, 9, 17, 31), (1, 8, 49, 32), (1, 17, 12, 49), (1, 8, 8, 20)])
def test_odd_products_use_the_dot_instruction(shape: tuple[int, int, int, int]) -> None:
    """Corrections by the sums of rows and columns, and the requantization, are computed in its kernel."""
    batch, rows, inner, columns = shape
    x = relay.var("x", shape=(batch, rows, inner), dtype="uint8")
    y = relay.var("y", shape=(batch, columns, inner), dtype="uint8")
    scale = number(0.01, "float32")
    for zero in (128, 100):
        sums = qnn.batch_matmul(x, y, number(7), number(zero), scale, scale)
        body = qnn.requantize(sums, number(1e-4, "float32"), number(0), number(0.05, "float32"), number(9))
        assert "int8_batch" in check(body)


def test_what_follows_a_padded_product_reads_the_padded_result() -> None:
    x = relay.var("x", shape=(1, 9, 16), dtype="uint8")
    y = relay.var("y", shape=(1, 31, 16), dtype="int8")
    bias, mask = number([[[5] * 31]]), relay.var("mask", shape=(1, 9, 31), dtype="int32")
    sums = nn.batch_matmul(x, y, out_dtype="int32") + bias
    after = PadProducts(CASCADELAKE)(function(relay.cast(sums, "float32")))
    (cut,) = products(relay.transform.InferType()(after), "strided_slice")
    assert tensor_type(cut.args[0]).concrete_shape == (1, 9, 32)
    assert tensor_type(cut.args[0]).dtype == "float32"
    masked = PadProducts(CASCADELAKE)(function(sums + mask))
    assert masked["main"].body.op is Op.get("add")  # type: ignore[attr-defined]  # a mask is not padded


# -- depthwise convolutions


@pytest.mark.parametrize("kernel", [(3, 3), (5, 5), (1, 4), (7, 7)])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_depthwise_convolutions_multiply_columns(kernel: tuple[int, int], dtype: str) -> None:
    x = padded(image(32, 9, dtype), 5, dtype, 1)
    rules = check(conv(x, "int8", (32, 1, *kernel), groups=32, strides=(2, 1)))
    assert "int8_depthwise" in rules or not Target.of("cpu").has("avx512vnni")


@pytest.mark.parametrize(("processor", "permute"), [("icelake-server", "vpermb"), ("cascadelake", "vpshufb")])
def test_a_lane_multiplies_adjacent_columns(processor: str, permute: str) -> None:
    target = {"kind": "llvm", "mcpu": processor}
    body = conv(image(32, 8, "uint8"), "int8", (32, 1, 3, 3), groups=32, padding=(1, 1))
    output, assembly = kernel_of(body, "nn.contrib_depthwise_conv2d_NCHWc", target)
    assert output.rule == "int8_depthwise"
    assert output.candidates[0].why == (
        "vpdpbusd: 4 products of uint8 and int8 per lane; 8 accumulators in registers"
    )
    assert assembly.count("vpdpbusd") >= 3 * 8  # one for each row of the kernel and each column of the tile
    assert permute in assembly


# -- layouts


@pytest.mark.parametrize("channels", [3, 17])
def test_convolutions_in_nhwc_are_padded(channels: int) -> None:
    x: Var = relay.var("x", shape=(1, 7, 7, channels), dtype="uint8")
    weight = relay.const(extreme((3, 3, channels, 10), "int8", 1))
    attrs: dict[str, Any] = {"data_layout": "NHWC", "kernel_layout": "HWIO", "out_dtype": "int32"}
    body = nn.conv2d(x, weight, channels=10, kernel_size=(3, 3), padding=(1, 1), **attrs)
    assert "int8_blocked" in check(body)


@pytest.mark.parametrize(("before", "after"), [("NHWC", "NCHW16c"), ("NCHW16c", "NHWC")])
def test_bytes_change_their_layout_in_vectors(before: str, after: str) -> None:
    """A vector of 16 bytes crosses no block, which one of 64 bytes would have to gather."""
    shape = (1, 6, 6, 96) if before == "NHWC" else (1, 6, 6, 6, 16)
    x = relay.var("x", shape=shape, dtype="uint8")
    body = relay.layout_transform(x, before, after)
    check(body)
    output, _ = kernel_of(body, "layout_transform", {"kind": "llvm", "mcpu": "cascadelake"})
    assert "in T.vectorized(16):" in output.mod.script()


def test_a_weight_that_two_layers_share_is_shifted_for_both() -> None:
    x, shared = image(8, 5, "uint8"), relay.const(extreme((8, 8, 1, 1), "uint8", 1))
    scale = number(0.1, "float32")
    first, second = (
        qnn.conv2d(x, shared, number(z), number(128), scale, scale, channels=8, kernel_size=(1, 1))
        for z in (1, 2)
    )
    module = function(first + second)
    data = extreme((1, 8, 5, 5), "uint8", 2)
    exe = relay_explorer.build(module, quiet=True)
    expected = Interpreter(module).call("main", [data])
    assert np.array_equal(np.asarray(exe(data)), np.asarray(expected))
