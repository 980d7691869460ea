"""FakeQuantizationToInteger: what regions become, and that their integers are those of the float program."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from inline_snapshot import snapshot

from relay_explorer import relay
from relay_explorer.ir import Call, Expr, Function, IRModule, Op, const
from relay_explorer.ir.walk import post_order
from relay_explorer.transform import FakeQuantizationToInteger
from relay_explorer.transform.fake_quantization import (
    fake_quantized_regions,
)
from relay_explorer.typing import infer_types
from tests.transform.fake_quantized import (
    Region,
    image,
    integer,
    operators,
    qnn,
    quantized,
    reason,
    run,
    typed,
)
from tests.transform.golden import check

Build = Callable[[Expr], Expr]


# -- whole regions


@pytest.mark.parametrize("seed", range(60))
def test_a_random_region_differs_by_one_step_at_most(seed: int) -> None:
    mod, arrays = Region(seed).program(seed % 5)
    converted = integer(mod, use_qat=seed % 2 == 1)
    difference = run(mod, arrays).astype(int) - run(converted, arrays).astype(int)
    assert abs(difference).max() <= 1


def test_many_random_regions_are_converted_and_no_rule_fails() -> None:
    regions = [fake_quantized_regions(Region(seed).program(seed % 5)[0]) for seed in range(60)]
    assert sum(region.converted is not None for (region,) in regions) >= 20
    assert [region.reason for (region,) in regions if "failed" in region.reason] == []


@pytest.mark.parametrize("seed", range(60, 80))
def test_with_float_arithmetic_random_regions_agree_but_for_ties(seed: int) -> None:
    mod, arrays = Region(seed).program(seed % 3)
    converted = integer(mod, rounding="TOEVEN", compute_dtype="float32")
    difference = run(mod, arrays).astype(int) - run(converted, arrays).astype(int)
    assert abs(difference).max() <= 1
    assert (difference != 0).mean() <= 0.03


def test_a_layer_with_bias_activation_and_pool() -> None:
    check(
        FakeQuantizationToInteger(),
        """
        def @main(%x: Tensor[(1, 4, 8, 8), uint8], %w: Tensor[(4, 4, 3, 3), int8], %b: Tensor[(4), int32]) {
          %0 = qnn.dequantize(%x, 0.5f, 3, out_dtype="float32");
          %1 = qnn.dequantize(%w, 0.25f, 0, axis=0, out_dtype="float32");
          %2 = nn.conv2d(%0, %1, padding=[0, 0, 0, 0], channels=4, kernel_size=[3, 3]);
          %3 = qnn.dequantize(%b, 0.125f, 0, axis=0, out_dtype="float32");
          %4 = nn.relu(nn.bias_add(%2, %3));
          %5 = nn.max_pool2d(%4, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]);
          qnn.quantize(%5, 2f, 0, out_dtype="uint8")
        }
        """,
        """
        def @main(%x: Tensor[(1, 4, 8, 8), uint8], %w: Tensor[(4, 4, 3, 3), int8], %b: Tensor[(4), int32]) -> Tensor[(1, 4, 3, 3), uint8] {
          %0 = qnn.conv2d(%x, %w, 3, 0, 0.5f, 0.25f, padding=[0, 0, 0, 0], channels=4, kernel_size=[3, 3], out_dtype="int32");
          %1 = nn.bias_add(%0, %b);
          %2 = qnn.requantize(%1, 0.125f, 0, 2f, 0, axis=1, out_dtype="uint8");
          nn.max_pool2d(%2, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0])
        }
        """,  # noqa: E501
    )


def test_a_residual_is_added_to_accumulators_in_the_scale_of_the_result() -> None:
    weight = qnn.dequantize(
        relay.var("w", shape=(4, 4, 1, 1), dtype="int8"), const([0.1, 0.2, 0.3, 0.4]), const(0), 0
    )
    layer = relay.nn.conv2d(image(), weight, kernel_size=(1, 1), channels=4)
    mod = typed(quantized(relay.nn.relu(relay.add(layer, image(0.2, 1, name="y"))), 0.5, -128))
    assert operators(integer(mod)) == [
        "qnn.conv2d", "qnn.requantize", "qnn.requantize", "add", "qnn.requantize",
    ]  # fmt: skip


def test_equal_types_need_no_requantization() -> None:
    mod = typed(quantized(relay.transpose(image(0.1, 3), (0, 2, 3, 1)), 0.1, 3))
    assert operators(integer(mod)) == ["transpose"]


def test_a_layer_that_two_results_read_is_computed_once() -> None:
    layer = relay.nn.dense(
        qnn.dequantize(relay.var("x", shape=(2, 8), dtype="int8"), const(0.1), const(0)),
        qnn.dequantize(relay.var("w", shape=(3, 8), dtype="int8"), const(0.1), const(0)),
    )
    body = relay.Tuple([quantized(layer, 0.5), quantized(relay.nn.relu(layer), 0.25)])
    assert operators(integer(typed(body))).count("qnn.dense") == 1


def test_a_scale_by_a_constant_costs_nothing() -> None:
    body = quantized(relay.divide(relay.multiply(image(0.5, 3), const(4.0)), const(8.0)), 0.25, 3)
    assert operators(integer(typed(body))) == []


def test_one_tensor_in_two_types_is_told_apart() -> None:
    x = relay.var("x", shape=(4,), dtype="int8")
    both = relay.add(qnn.dequantize(x, const(0.5), const(0)), qnn.dequantize(x, const(2.0), const(1)))
    mod = typed(quantized(both, 1.0, 0))
    values = [np.asarray([-8, 4, 6, 10], "int8")]
    assert fake_quantized_regions(mod)[0].converted is not None
    assert np.array_equal(run(integer(mod), values), run(mod, values))


@pytest.mark.parametrize("seed", range(8))
def test_several_layers_in_a_row_agree(seed: int) -> None:
    region = Region(1_000 + seed)
    x = region.image()
    for _ in range(3):
        x = qnn.dequantize(
            quantized(relay.nn.relu(region.convolution(x)), 0.05, -128), const(0.05), const(-128)
        )
    mod = infer_types(IRModule.from_expr(Function(region.inputs, quantized(x, 0.05, -128))))
    converted = integer(mod, rounding="TOEVEN", compute_dtype="float32")
    assert "nn.conv2d" not in operators(converted)
    difference = run(mod, region.arrays).astype(int) - run(converted, region.arrays).astype(int)
    assert (difference != 0).mean() <= 0.1  # one step at a tie, which later layers may enlarge
    assert abs(difference).max() <= 4


# -- saturation and exactness


def test_an_activation_is_clipped_by_saturation_where_the_type_ends() -> None:
    body = quantized(relay.clip(relay.add(image(), image(name="y")), 0.0, 6.0), 6 / 255, -128)
    assert operators(integer(typed(body))) == ["qnn.add"]


def test_a_bound_between_two_steps_is_compared_in_a_finer_scale() -> None:
    limited = relay.minimum(image(0.5, 0), const(0.8))
    mod = typed(quantized(relay.mean(relay.multiply(limited, const(1.0)), axis=1), 0.01, 0))
    values = [np.full((1, 4, 6, 6), 9, "int8")]
    assert "minimum" in operators(integer(mod))
    assert run(integer(mod), values).flat[0] == 80


def test_a_constant_beyond_the_range_of_the_integers_is_not_saturated() -> None:
    """The greater of 100 and of any int8 number with a scale of 0.1 is 100, not 12.7."""
    mod = typed(quantized(relay.sum(relay.maximum(image(0.1, 0), const(100.0)), axis=1), 10.0, 0))
    values = [np.zeros((1, 4, 6, 6), "int8")]
    assert run(integer(mod), values).flat[0] == run(mod, values).flat[0] == 40


def test_a_mean_is_not_rounded_before_it_is_quantized() -> None:
    mod = typed(quantized(relay.mean(image(2.0, 0), axis=(2, 3)), 0.25, 0))
    values = np.zeros((1, 4, 6, 6), "int8")
    values[0, 0, 0, 0] = 9  # the mean is 18 / 36
    assert run(integer(mod), [values]).tolist() == [[2, 0, 0, 0]]


def test_a_bias_that_exceeds_the_accumulators_is_refused() -> None:
    weight = qnn.dequantize(relay.var("w", shape=(4, 4, 1, 1), dtype="int8"), const(1e-6), const(0))
    layer = relay.nn.conv2d(image(1e-6, 0), weight, kernel_size=(1, 1))
    body = quantized(relay.nn.bias_add(layer, const(np.ones(4, "float32"))))
    assert reason(body) == snapshot("the bias reaches 1e+12 steps of the scale, beyond int32")


# -- channels


def scaled_by_channel(axis: int = 1) -> Expr:
    extent = (1, 4, 6, 6)[axis]
    x = relay.var("x", shape=(1, 4, 6, 6), dtype="int8")
    return qnn.dequantize(x, const(np.arange(1, extent + 1, dtype="float32")), const(np.arange(extent)), axis)


@pytest.mark.parametrize(
    ("moved", "axis"),
    [
        (lambda x: relay.transpose(x, (0, 2, 3, 1)), 3),
        (lambda x: relay.reshape(x, (4, 36)), 0),
        (lambda x: relay.expand_dims(x, 0), 2),
        (lambda x: relay.strided_slice(x, (0, 1, 0, 0), (1, 4, 6, 2)), 1),
        (lambda x: relay.take(x, const([3, 1, 1]), axis=1), 1),
        (lambda x: relay.reverse(x, 1), 1),
        (lambda x: relay.nn.max_pool2d(x, (2, 2)), 1),
        (lambda x: relay.max(x, axis=(2, 3)), 1),
        (lambda x: relay.split(x, 2, axis=1)[1], 1),
    ],
)
def test_scales_follow_their_channels(moved: Build, axis: int) -> None:
    """Selecting elements of integers that have a scale by channel keeps the right scale at each."""
    mod = typed(quantized(moved(scaled_by_channel())))
    values = [np.arange(-72, 72, dtype="int8").reshape(1, 4, 6, 6)]
    converted = integer(mod)
    assert "qnn.dequantize" not in operators(converted)
    requantize = next(
        n for n in post_order(converted["main"]) if isinstance(n, Call) and n.op is Op.get("qnn.requantize")
    )
    assert requantize.attrs is not None
    assert requantize.attrs["axis"] == axis
    assert np.array_equal(run(converted, values), run(mod, values))


@pytest.mark.parametrize(
    ("mixed", "message"),
    [
        (lambda x: relay.max(x, axis=1), snapshot("`max` mixes channels whose scales differ")),
        (lambda x: relay.reshape(x, (2, 72)), snapshot("`reshape` mixes channels whose scales differ")),
        (lambda x: relay.sort(x, axis=1), snapshot("`sort` mixes channels whose scales differ")),
        (lambda x: relay.mean(x, axis=1), snapshot("the scales of the operand of `mean` differ by channel")),
        (
            lambda x: relay.nn.conv2d(x, image(name="w"), kernel_size=(6, 6)),
            snapshot("the scales of the data of `nn.conv2d` differ by channel, and its sums mix channels"),
        ),
    ],
)
def test_channels_of_different_scales_are_not_mixed(mixed: Build, message: str) -> None:
    assert reason(quantized(mixed(scaled_by_channel()))) == message
