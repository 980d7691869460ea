"""The five schemes, each on small networks: how precise they are, and what they make of a program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from inline_snapshot import snapshot

from relay_explorer.ir import Constant, post_order
from relay_explorer.ir.errors import RelayError
from relay_explorer.quantize import (
    Annotation,
    Candidate,
    Keep,
    KLDivergence,
    MaxAbs,
    Percentile,
    Quantizer,
    Role,
    Scheme,
    qconfig,
    trace,
)
from relay_explorer.quantize.schemes import (
    Int8Int16,
    PerChannelAsymmetric,
    Ternary,
    TvmSymmetric,
    Weights4BitGroups,
)
from tests.quantize.networks import (
    CONVOLUTIONS,
    PERCEPTRON,
    decibels,
    network,
    operators,
    run,
    types_of,
)

EVERYTHING = {"skip_conv_layers": None, "skip_dense_layer": False}
KL = qconfig(**EVERYTHING, calibrate_mode="kl_divergence", weight_scale="max")
# Each scheme, and the decibels that it reaches on convolutions and on a perceptron.
SCHEMES: dict[str, tuple[Scheme, float, float]] = {
    "TVM's": (TvmSymmetric(KL), 25, 25),
    "TVM's, one scale": (TvmSymmetric(qconfig(**EVERYTHING, global_scale=16.0)), 20, 15),
    "per channel": (PerChannelAsymmetric(), 35, 37),
    "per channel, uint8": (PerChannelAsymmetric(signed=False), 35, 37),
    "per channel, KL divergence": (PerChannelAsymmetric(calibrator=KLDivergence()), 25, 25),
    "per channel, percentile": (PerChannelAsymmetric(calibrator=Percentile(0.999)), 25, 25),
    "8 and 16 bits": (Int8Int16(), 25, 30),
    "4-bit groups": (Weights4BitGroups(group=16), 18, 15),
    "4-bit groups with zero points": (Weights4BitGroups(group=16, symmetric=False), 18, 15),
    "ternary": (Ternary(keep=()), 1, 1),
}


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("text", [CONVOLUTIONS, PERCEPTRON], ids=["convolutions", "perceptron"])
def test_the_error_is_small_and_the_simulation_predicts_it(name: str, text: str) -> None:
    scheme, *bounds = SCHEMES[name]
    mod, params, data = network(text)
    quantization = trace(mod, scheme, params, data)
    x = data[0]["x"]
    expected = run(mod, x, **params)
    simulated, integers = run(quantization.calibrated, x), run(quantization.realized, x)
    assert decibels(expected, integers) > bounds[text is PERCEPTRON]
    assert decibels(simulated, integers) > min(30, decibels(expected, integers) + 3)
    np.testing.assert_array_equal(run(quantization.annotated, x), run(quantization.float_program, x))


def test_tensorflow_lites_scheme_computes_with_integers_from_input_to_output() -> None:
    mod, params, data = network()
    quantization = trace(mod, PerChannelAsymmetric(), params, data)
    assert operators(quantization.realized)[0] == "qnn.quantize"
    assert operators(quantization.realized)[-1] == "qnn.dequantize"
    assert operators(quantization.realized).count("qnn.dequantize") == 1
    assert types_of(quantization.realized, "qnn.conv2d") == ["int32", "int32"]
    assert types_of(quantization.realized, "nn.max_pool2d") == ["int8"]
    assert quantization.kept == ()


@pytest.mark.parametrize("scheme", [PerChannelAsymmetric(), Int8Int16()], ids=lambda scheme: scheme.name)
def test_inputs_beyond_the_range_saturate(scheme: Scheme) -> None:
    mod, params, data = network()
    quantization = trace(mod, scheme, params, data)
    first = quantization.sites[0].parameters
    assert first is not None
    x = data[0]["x"] * np.float32(5)
    x[0, 0, 0, 0] = np.inf
    inside = np.clip(x, first.low, first.high)
    np.testing.assert_array_equal(run(quantization.realized, x), run(quantization.realized, inside))


def test_a_nan_in_the_input_counts_as_zero() -> None:
    mod, params, data = network()
    quantization = trace(mod, PerChannelAsymmetric(), params, data)
    x, zero = data[0]["x"].copy(), data[0]["x"].copy()
    x[0, 0, 0, 0], zero[0, 0, 0, 0] = np.nan, 0
    np.testing.assert_array_equal(run(quantization.realized, x), run(quantization.realized, zero))


def test_layers_can_be_left_in_float() -> None:
    mod, params, data = network()
    quantization = trace(mod, PerChannelAsymmetric(keep=(0, -1)), params, data)
    assert operators(quantization.realized).count("nn.conv2d") == 1
    assert operators(quantization.realized).count("qnn.conv2d") == 1
    assert [place.why for place in quantization.kept if "skips layer" in place.why] == [
        "the scheme skips layer 0 (of 3, counted from 0)", "the scheme skips layer 2 (of 3, counted from 0)",
    ]  # fmt: skip


def test_a_value_with_two_uses_is_stored_once_in_8_bits() -> None:
    """The result of the pool is read by a convolution and by an addition."""
    mod, params, data = network()
    quantization = trace(mod, PerChannelAsymmetric(), params, data)
    pools = [site for site in quantization.sites if "max_pool2d" in str(site)]
    assert [site.quantizer.bits for site in pools] == [8]


def test_16_bit_sums_fit_what_calibration_saw() -> None:
    """Where there is no room for the sums, the weights have fewer steps."""
    mod, params, data = network(PERCEPTRON)
    quantization = trace(mod, Int8Int16(margin=1.0), params, data)
    sums = [site for site in quantization.sites if site.quantizer.role is Role.ACTIVATION]
    assert [site.quantizer.bits for site in sums] == [16, 16]
    for site in sums:
        assert site.statistics is not None
        assert site.parameters is not None
        greatest = np.maximum(-site.statistics.low, site.statistics.high)
        assert (greatest <= site.parameters.scale * 32767 * 1.001).all()
    assert types_of(quantization.realized, "nn.dense") == ["int16", "int16"]
    reasons = [site.parameters.reason for site in quantization.sites if site.parameters is not None]
    assert [reason for reason in reasons if "coarser" in reason] == snapshot(
        [
            "43 of 96 channels have coarser steps, so that their sums fit in 16 bits",
            "2 of 10 channels have coarser steps, so that their sums fit in 16 bits",
        ]
    )


def test_a_16_bit_sum_beyond_the_range_wraps_around() -> None:
    """It is far off, but it is what 16-bit arithmetic computes: the same as in 32 bits, modulo 2¹⁶."""
    mod, params, data = network(PERCEPTRON)
    quiet = [{"x": batch["x"] * np.float32(0.05)} for batch in data]
    quantization = trace(mod, Int8Int16(margin=1.0), params, quiet)
    # Inputs are clipped at the range that was seen, so only sums that calibration never saw overflow.
    signs = np.sign(params["w1"][:4]).astype("float32") * 10
    expected = run(mod, np.clip(signs, -0.1, 0.1), **params)
    assert np.abs(run(quantization.realized, signs) - expected).max() > 0.1 * np.abs(expected).max()


def test_4_bit_weights_take_half_a_byte_each() -> None:
    mod, params, _ = network(PERCEPTRON)
    quantization = trace(mod, Weights4BitGroups(group=32), params)
    assert [n for n in operators(quantization.realized) if "dense" in n] == ["nn.contrib_dense_nbits"] * 2
    stored = [
        node.data.shape
        for node in post_order(quantization.realized["main"])
        if isinstance(node, Constant) and node.data.dtype == "uint8" and node.data.shape
    ]
    assert stored == [(96, 32), (10, 48)]


@pytest.mark.parametrize("group", [8, 16, 32])
def test_smaller_groups_are_more_precise(group: int) -> None:
    mod, params, data = network(PERCEPTRON)
    x = data[0]["x"]
    expected = run(mod, x, **params)

    def precision(size: int) -> float:
        return decibels(expected, run(trace(mod, Weights4BitGroups(group=size), params).realized, x))

    assert precision(group) > precision(group * 4)


def test_ternary_weights_are_minus_one_zero_and_one() -> None:
    mod, params, data = network()
    quantization = trace(mod, Ternary(keep=()), params, data)
    weights = [site for site in quantization.sites if site.quantizer.role is Role.WEIGHT]
    assert len(weights) == 3
    for site in weights:
        assert isinstance(site.realized, Constant)
        assert set(np.unique(site.realized.data.numpy())) == {-1, 0, 1}


def test_options_are_checked() -> None:
    with pytest.raises(RelayError, match="2, 4 or 8"):
        Weights4BitGroups(bits=3)
    with pytest.raises(RelayError, match="at least 1"):
        Int8Int16(margin=0.5)


@dataclass(frozen=True)
class PerChannelActivations(PerChannelAsymmetric):
    """A scale for each channel of what a ReLU gives, and of what an addition reads."""

    name = "per_channel_activations"

    def annotate(self, candidate: Candidate) -> Annotation | Keep | None:
        if candidate.op.name == "nn.relu":
            return Annotation([Quantizer(axis=1, calibrator=MaxAbs())], Role.INPUT)
        return super().annotate(candidate)


def test_activations_may_have_scales_per_channel() -> None:
    mod, params, data = network()
    quantization = trace(mod, PerChannelActivations(), params, data)
    x = data[0]["x"]
    assert decibels(run(mod, x, **params), run(quantization.realized, x)) > 30
    assert types_of(quantization.realized, "nn.relu") == ["int8", "int8"]
    assert types_of(quantization.realized, "nn.avg_pool2d") == ["int32"]


DEPTHWISE = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 4, 6, 6), float32], %w1: Tensor[(4, 1, 3, 3), float32],
          %w2: Tensor[(4, 2, 3, 3), float32], %w3: Tensor[(3, 3, 8, 5), float32]) {
  %0 = clip(nn.conv2d(%x, %w1, padding=[1, 1, 1, 1], groups=4, channels=4, kernel_size=[3, 3]),
            a_min=0f, a_max=1.5f);
  %1 = nn.conv2d(%0, %w2, padding=[1, 1, 1, 1], groups=4, channels=8, kernel_size=[3, 3]);
  %2 = transpose(nn.relu(%1), axes=[0, 2, 3, 1]);
  nn.conv2d(%2, %w3, channels=5, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO")
}
"""


@pytest.mark.parametrize(
    "scheme", [PerChannelAsymmetric(), Int8Int16(), Ternary(keep=())], ids=lambda scheme: scheme.name
)
def test_depthwise_convolutions_and_other_layouts(scheme: Scheme) -> None:
    mod, params, data = network(DEPTHWISE)
    quantization = trace(mod, scheme, params, data)
    x = data[0]["x"]
    least = 0 if isinstance(scheme, Ternary) else 25
    assert decibels(run(mod, x, **params), run(quantization.realized, x)) > least
    if isinstance(scheme, PerChannelAsymmetric):
        axes = [site.quantizer.axis for site in quantization.sites if site.quantizer.role is Role.WEIGHT]
        assert axes == [0, None, 3]  # with a channel multiplier, one scale serves the whole weight
        assert "clip" not in operators(
            quantization.realized
        )  # each channel of the accumulators has its own bounds
        assert operators(quantization.realized).count("qnn.dequantize") == 1


DENSE_BLOCK = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 4, 8, 8), float32], %w1: Tensor[(4, 4, 3, 3), float32],
          %b: Tensor[(8, 1, 1), float32], %w2: Tensor[(4, 8, 1, 1), float32]) {
  %0 = nn.conv2d(%x, %w1, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);
  %1 = concatenate((%0 / 3f, nn.relu(%0)), axis=1);
  %2 = nn.conv2d(nn.relu(%b + %1), %w2, channels=4, kernel_size=[1, 1]);
  nn.softmax(reshape(%2 * 0.25f, newshape=[1, 256]))
}
"""


def test_a_factor_changes_the_scale_and_no_integer() -> None:
    mod, params, data = network(DENSE_BLOCK)
    quantization = trace(mod, PerChannelAsymmetric(), params, data)
    assert not {"multiply", "divide"} & set(operators(quantization.realized))
    x = data[0]["x"]
    assert decibels(run(mod, x, **params), run(quantization.realized, x)) > 25


def test_a_constant_is_added_to_narrow_integers_in_32_bits() -> None:
    mod, params, data = network(DENSE_BLOCK)
    quantization = trace(mod, PerChannelAsymmetric(), params, data)
    assert types_of(quantization.realized, "concatenate") == ["int8"]
    assert types_of(quantization.realized, "add") == ["int32"]
    assert operators(quantization.realized).count("qnn.dequantize") == 1


PADDED = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 4, 8, 8), float32], %w1: Tensor[(4, 4, 3, 3), float32], %g: Tensor[(4), float32],
          %b: Tensor[(4), float32], %mean: Tensor[(4), float32], %var: Tensor[(4), float32],
          %w2: Tensor[(6, 256), float32]) {
  %0 = nn.conv2d(%x, %w1, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);
  %1 = nn.relu(nn.batch_norm(%0, %g, %b, %mean, %var).0);
  %2 = nn.pad(%1, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]);
  %3 = reshape(nn.conv2d(%2, %w1, channels=4, kernel_size=[3, 3]), newshape=[1, 256]);
  %4 = strided_slice(%3, begin=[0, 0], end=[1, 256], strides=[1, 1]);
  %5 = nn.dense(%4, %w2, units=6);
  reshape(concatenate((%5, %5), axis=1), newshape=[12])
}
"""


@pytest.mark.parametrize("scheme", [PerChannelAsymmetric(), Int8Int16()], ids=lambda scheme: scheme.name)
def test_normalization_is_folded_and_padding_slices_and_shapes_work_on_integers(scheme: Scheme) -> None:
    mod, params, data = network(PADDED)
    params["var"] = np.abs(params["var"]) + 1
    quantization = trace(mod, scheme, params, data)
    x = data[0]["x"]
    assert decibels(run(mod, x, **params), run(quantization.realized, x)) > 30
    assert operators(quantization.realized).count("qnn.quantize") == 1
    assert operators(quantization.realized).count("qnn.dequantize") == 1
    assert "multiply" not in operators(quantization.realized)


MATRICES = """#[version = "0.0.5"]
def @main(%q: Tensor[(2, 5, 8), float32], %k: Tensor[(2, 6, 8), float32], %v: Tensor[(2, 4, 6), float32],
          %w: Tensor[(2, 4, 4), float32]) {
  %0 = nn.softmax(nn.batch_matmul(%q, %k, transpose_b=True));
  %1 = nn.batch_matmul(%0, %v, transpose_b=True);
  nn.batch_matmul(%1, %w, transpose_b=True)
}
"""


def test_products_of_computed_matrices() -> None:
    mod, _, _ = network(MATRICES)
    random = np.random.default_rng(0)
    names = {"q": (2, 5, 8), "k": (2, 6, 8), "v": (2, 4, 6)}
    data = [{n: random.normal(size=s).astype("float32") for n, s in names.items()} for _ in range(3)]
    params = {"w": random.normal(size=(2, 4, 4)).astype("float32")}
    quantization = trace(mod, PerChannelAsymmetric(), params, data)
    expected = run(mod, **data[0], **params)
    assert decibels(expected, run(quantization.realized, **data[0])) > 30
    assert [site.quantizer.role for site in quantization.sites].count(Role.INPUT) == 5
