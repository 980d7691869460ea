"""Operators between layers: which are computed in integers, and how close to the floats."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from relay_explorer.ir import Call, Constant, Op, post_order
from relay_explorer.quantize import (
    Annotation,
    Candidate,
    Keep,
    MaxAbs,
    MinMax,
    Quantization,
    Quantizer,
    Role,
    Scheme,
    follow,
    layer,
    line_errors,
    trace,
)  # fmt: skip
from relay_explorer.quantize.provenance import origins
from relay_explorer.quantize.schemes import Int8Int16, PerChannelAsymmetric
from relay_explorer.text import parse
from tests.quantize.networks import Array, Params, decibels, network, normal, operators, run, types_of

HEAD = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3, 8, 8), float32], %w1: Tensor[(8, 3, 3, 3), float32], %b1: Tensor[(8), float32],
          %w2: Tensor[(8, 8, 3, 3), float32], %v: Tensor[(8, 1, 1), float32], %a: Tensor[(8), float32],
          %t: Tensor[(8, 6, 2, 2), float32], %k: Tensor[(6, 8, 3), float32],
          %last: Tensor[(5, 8), float32]) {
  %0 = nn.conv2d(%x, %w1, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %1 = nn.bias_add(%0, %b1);
  %2 = nn.conv2d(%1, %w2, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
"""
TAIL = """
  nn.dense(nn.batch_flatten(nn.global_avg_pool2d(%out)), %last, units=5)
}
"""
# What stands between layers: `%1` is read by several calls, `%2` is the sum of a layer.
BETWEEN = {
    "sigmoid": "let %out = sigmoid(%2);",
    "tanh": "let %out = tanh(%2);",
    "erf": "let %out = erf(%2);",
    "leaky_relu": "let %out = nn.leaky_relu(%2, alpha=0.1f);",
    "prelu": "let %out = nn.prelu(%2, %a);",
    "swish": "let %out = multiply(%1, sigmoid(%1));",
    "hard_swish": "let %out = divide(multiply(%1, clip(add(%1, 3f), a_min=0f, a_max=6f)), 6f);",
    "hard_swish_of_sums": "let %out = multiply(%2, divide(clip(add(%2, 3f), a_min=0f, a_max=6f), 6f));",
    "gelu": "let %out = multiply(multiply(%1, 0.5f), add(erf(divide(%1, 1.4142f)), 1f));",
    "gelu_by_tanh": "let %out = multiply(multiply(%1, 0.5f), add(tanh(multiply(add(%1, "
    "multiply(power(%1, 3f), 0.044715f)), 0.797885f)), 1f));",
    "exp_of_sigmoid": "let %out = exp(sigmoid(%2));",
    "squeeze_and_excite": "let %out = multiply(%1, sigmoid(mean(%1, axis=[2, 3], keepdims=True)));",
    "product": "let %out = multiply(%1, %2);",
    "product_of_functions": "let %out = multiply(sigmoid(%1), tanh(%2));",
    "channels": "let %out = multiply(%2, %v);",
    "negative_number": "let %out = multiply(%1, -1.7f);",
    "number_first": "let %out = multiply(0.3f, %2);",
    "difference": "let %out = subtract(%1, %2);",
    "constant_less_value": "let %out = subtract(1f, %1);",
    "maximum": "let %out = maximum(%1, %2);",
    "maximum_with_number": "let %out = maximum(%2, 0.1f);",
    "minimum_of_functions": "let %out = minimum(%1, multiply(%1, 0.2f));",
    "mean_of_channels": "let %out = multiply(%1, mean(sigmoid(%2), axis=[1], keepdims=True));",
    "sum": "let %out = expand_dims(sum(%2, axis=[3]), axis=3);",
    "largest": "let %out = max(%2, axis=[3], keepdims=True);",
    "split": "%3 = split(%1, indices_or_sections=2, axis=1); let %out = concatenate((%3.1, %3.0), axis=1);",
    "split_sums": "%3 = split(%2, indices_or_sections=2, axis=1); "
    "let %out = concatenate((sigmoid(%3.1), %3.0), axis=1);",
    "concatenate": "%3 = strided_slice(%2, begin=[0, 0, 0, 0], end=[2, 4, 8, 8], strides=[1, 1, 1, 1]); "
    "%4 = strided_slice(nn.relu(%1), begin=[0, 0, 0, 0], end=[2, 4, 8, 8], strides=[1, 1, 1, 1]); "
    "let %out = concatenate((%3, %4), axis=1);",
    "resize": 'let %out = image.resize2d(%2, size=[16, 16], roi=[0f, 0f, 0f, 0f], layout="NCHW");',
    "resize_nearest": 'let %out = image.resize2d(%2, size=[16, 16], roi=[0f, 0f, 0f, 0f], layout="NCHW", '
    'method="nearest_neighbor", coordinate_transformation_mode="asymmetric", rounding_method="floor");',
    "adaptive_pool": 'let %out = nn.adaptive_avg_pool2d(%2, output_size=[3, 3], layout="NCHW");',
    "pool1d": "let %out = expand_dims(nn.avg_pool1d(reshape(%2, newshape=[2, 8, 64]), pool_size=[4], "
    "strides=[4]), axis=3);",
    "transposed_convolution": "%3 = nn.conv2d_transpose(%2, %t, channels=6, kernel_size=[2, 2], "
    "strides=[2, 2]); %4 = concatenate((%3, %3), axis=1); let %out = strided_slice(%4, begin=[0, 0, 0, 0], "
    "end=[2, 8, 16, 16], strides=[1, 1, 1, 1]);",
    "conv1d": "%3 = nn.conv1d(reshape(%2, newshape=[2, 8, 64]), %k, channels=6, kernel_size=[3]); "
    "%4 = concatenate((%3, %3), axis=1); let %out = expand_dims(strided_slice(%4, begin=[0, 0, 0], "
    "end=[2, 8, 62], strides=[1, 1, 1]), axis=3);",
    "attention": "%3 = reshape(%1, newshape=[2, 8, 64]); "
    "%4 = nn.batch_matmul(%3, reshape(%2, newshape=[2, 8, 64]), transpose_b=True); "
    "let %out = reshape(nn.batch_matmul(%4, transpose(%3, axes=[0, 2, 1]), transpose_b=True), "
    "newshape=[2, 8, 8, 8]);",
}


def quantized(between: str, scheme: Scheme | None = None) -> tuple[Quantization, Params, Array]:
    mod, params, data = network(f"{HEAD}  {between}{TAIL}")
    return trace(mod, scheme or PerChannelAsymmetric(), params, data), params, data[0]["x"]


def dtypes(quantization: Quantization) -> set[str]:
    """Return the element types of the calls of the realized program but its first and last, which convert."""
    calls = [node for node in post_order(quantization.realized["main"]) if isinstance(node, Call)]
    kinds = {getattr(node.checked_type, "dtype", "") for node in calls if not _converts(node)}
    return kinds - {""}  # of tuples


def _converts(node: Call) -> bool:
    return isinstance(node.op, Op) and node.op.name in ("qnn.quantize", "qnn.dequantize")


@pytest.mark.parametrize("name", BETWEEN)
def test_operators_between_layers_are_computed_in_integers(name: str) -> None:
    quantization, _, x = quantized(BETWEEN[name])
    assert not quantization.kept
    assert not {kind for kind in dtypes(quantization) if "float" in kind}, quantization.realized
    counts = Counter(operators(quantization.realized))
    assert (counts["qnn.quantize"], counts["qnn.dequantize"]) == (1, 1)
    floats, simulated, integers = (
        run(mod, x) for mod in (quantization.float_program, quantization.calibrated, quantization.realized)
    )
    assert decibels(floats, integers) > 27
    assert decibels(simulated, integers) > 37


@pytest.mark.parametrize("name", ["gelu", "squeeze_and_excite", "split_sums", "channels", "prelu", "maximum"])
@pytest.mark.parametrize("scheme", [PerChannelAsymmetric(signed=False), Int8Int16()], ids=["uint8", "int16"])
def test_other_schemes_use_the_same_rules(name: str, scheme: Scheme) -> None:
    quantization, _, x = quantized(BETWEEN[name], scheme)
    assert not quantization.kept
    assert decibels(run(quantization.float_program, x), run(quantization.realized, x)) > 27


@dataclass(frozen=True)
class WideData(Scheme):
    """16-bit data, for which 32-bit arithmetic has fewer bits to spare, and 8-bit weights."""

    name = "wide_data"
    symmetric: bool = True

    def annotate(self, candidate: Candidate) -> Annotation | Keep | None:
        data = Quantizer(Role.INPUT, 16, symmetric=self.symmetric, calibrator=MinMax())
        weight = Quantizer(Role.WEIGHT, 8, axis=0, calibrator=MaxAbs())
        return layer(candidate, data, weight) or follow(candidate, data)


@pytest.mark.parametrize("name", BETWEEN)
@pytest.mark.parametrize("symmetric", [True, False])
def test_integers_of_16_bits_do_not_overflow(name: str, symmetric: bool) -> None:
    quantization, _, x = quantized(BETWEEN[name], WideData(symmetric))
    assert decibels(run(quantization.calibrated, x), run(quantization.realized, x)) > 37


def test_a_chain_of_functions_is_one_table() -> None:
    """The eight calls of the approximation of GELU read one value, so its 256 results are looked up once."""
    quantization, _, _ = quantized(BETWEEN["gelu_by_tanh"])
    names = operators(quantization.realized)
    assert names.count("take") == 1
    assert not {"tanh", "power", "multiply"} & set(names)


def test_a_function_adds_no_error_of_its_own() -> None:
    """A table is rounded once, to the integers that are needed, as the simulation rounds."""
    quantization, _, x = quantized(BETWEEN["swish"])
    assert len([site for site in quantization.sites if site.quantizer.role is Role.INPUT]) == 3
    np.testing.assert_allclose(
        run(quantization.realized, x), run(quantization.calibrated, x), rtol=1e-5, atol=1e-5
    )


def test_a_function_that_is_not_finite_stays_in_float() -> None:
    """A logarithm of 8 bits has no table, because one of the integers is 0, although no value is."""
    quantization, _, _ = quantized(
        "%3 = nn.max_pool2d(add(sigmoid(%2), 1f), pool_size=[1, 1]); let %out = log(%3);"
    )
    assert "log" in {kept.call.op.name for kept in quantization.kept if isinstance(kept.call.op, Op)}
    assert "log" in operators(quantization.realized)


def test_a_function_that_is_read_as_floats_is_looked_up_as_floats() -> None:
    quantization, _, x = quantized("let %out = nn.softmax(sigmoid(%2), axis=1);")
    takes = types_of(quantization.realized, "take")
    assert takes == ["float32"]
    assert decibels(run(quantization.calibrated, x), run(quantization.realized, x)) > 50


def test_parts_of_a_normalization_stay_in_float() -> None:
    """A mean that is subtracted from what it averages is not rounded."""
    mean, normalized = (
        "mean(%2, axis=[1], keepdims=True)",
        "divide(subtract(%2, %3), sqrt(add(%4, 0.00001f)))",
    )
    between = f"%3 = {mean}; %4 = variance(%2, %3, axis=[1], keepdims=True); let %out = {normalized};"
    quantization, _, _ = quantized(between)
    why = {kept.call.op.name: kept.why for kept in quantization.kept if isinstance(kept.call.op, Op)}
    assert "normalization" in why["mean"]
    assert types_of(quantization.realized, "mean") == ["float32"]


def test_concatenated_integers_keep_their_ranges() -> None:
    """The value of the finer scale is negative, and the other one is not: neither is clipped."""
    text = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 4), float32], %w: Tensor[(4, 4), float32], %i: Tensor[(8, 8), float32]) {
  %0 = nn.dense(%x, %w, units=4);
  %1 = concatenate((nn.relu(multiply(%0, 3f)), minimum(%0, 0f)), axis=1);
  nn.dense(concatenate((%1, %1), axis=0), %i, units=8)
}
"""
    mod = parse(text)
    random = np.random.default_rng(0)
    params = {"w": normal(random, (4, 4)), "i": np.eye(8, dtype="float32")}
    data = [{"x": normal(random, (1, 4))} for _ in range(8)]
    quantization = trace(mod, PerChannelAsymmetric(), params, data)
    for batch in data:
        expected, actual = (run(m, batch["x"]) for m in (quantization.float_program, quantization.realized))
        assert np.abs(expected - actual).max() < 0.03 * max(1, np.abs(expected).max())


@pytest.mark.parametrize("factors", [[1.5, -0.5, 0.0, 2.0], [0.5, 1.0, 2.0, 4.0]])
def test_a_constant_for_each_channel_is_exact(factors: list[float]) -> None:
    """It changes scales and signs, and a factor of 0 gives 0."""
    text = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 4), float32], %w: Tensor[(4, 4), float32], %f: Tensor[(4), float32]) {
  multiply(nn.dense(%x, %w, units=4), %f)
}
"""
    random = np.random.default_rng(1)
    params = {"w": normal(random, (4, 4)), "f": np.asarray(factors, "float32")}
    data = [{"x": normal(random, (2, 4))} for _ in range(2)]
    quantization = trace(parse(text), PerChannelAsymmetric(), params, data)
    assert not quantization.kept
    simulated, integers = (run(m, data[0]["x"]) for m in (quantization.calibrated, quantization.realized))
    np.testing.assert_allclose(integers, simulated, rtol=1e-5, atol=1e-6)


def test_a_convolution_without_zero_points_reads_signed_integers() -> None:
    """`nn.conv1d` has no form in `qnn`: unsigned integers with the zero point 0 would lose negative data."""
    quantization, _, x = quantized(BETWEEN["conv1d"], PerChannelAsymmetric(signed=False))
    assert decibels(run(quantization.float_program, x), run(quantization.realized, x)) > 25


def test_errors_and_origins_reach_every_call() -> None:
    text = f"{HEAD}  {BETWEEN['squeeze_and_excite']}{TAIL}".replace("let %out", "%9").replace("%out", "%9")
    mod, params, data = network(text)
    quantization = trace(mod, PerChannelAsymmetric(), params, data)
    errors = line_errors(quantization, data)
    calls = [node for node in post_order(quantization.float_program["main"]) if isinstance(node, Call)]
    assert {error.expr for error in errors} == set(calls)
    assert min(error.sqnr for error in errors) > 25
    found = origins(quantization.realized, quantization.float_program)
    for node in post_order(quantization.realized["main"]):
        assert not isinstance(node, Call) or _converts(node) or node in found, node


def test_a_computed_scale_is_not_folded_into_weights() -> None:
    """The weight of a layer behind a squeeze-and-excite block stays a constant, even for one image."""
    mod, params, data = network(f"{HEAD}  {BETWEEN['squeeze_and_excite']}{TAIL}".replace("(2, 3,", "(1, 3,"))
    quantization = trace(mod, PerChannelAsymmetric(), params, data)
    for node in post_order(quantization.float_program["main"]):
        if isinstance(node, Call) and isinstance(node.op, Op) and node.op.name == "nn.conv2d":
            assert isinstance(node.args[1], Constant)
