"""The quantization view: the phases in words, what stands beside what, errors and their reasons, what if."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

import relay_explorer
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call, Expr
from relay_explorer.quantize import MaxAbs, Quantized, Quantizer, Role, trace
from relay_explorer.quantize.error_analysis import line_errors
from relay_explorer.quantize.integers import product
from relay_explorer.quantize.schemes import PerChannelAsymmetric, TvmSymmetric
from relay_explorer.text import parse
from relay_explorer.views import picture
from relay_explorer.views.format import spoken
from relay_explorer.views.quantize.format import Fate, LineKind, Phase, QuantizeMark, QuantizeView, Variant
from relay_explorer.views.quantize.inputs import Data
from relay_explorer.views.quantize.view import LiveQuantization, quantize_view
from tests.support.views.check import check
from tests.views.quantizations import DATA, LAYERS, NETWORK, PROGRAMS, layers, numbers, sample, view


def row(shown: QuantizeView, text: str) -> int:
    """The row of the float program whose text has `text` in it."""
    return next(n for n, each in enumerate(shown.rows[: shown.split]) if text in each.text)


def told(shown: QuantizeView, phase: Phase) -> list[str]:
    return [spoken(step.say) for step in shown.steps if step.phase == phase]


def beside(shown: QuantizeView, text: str) -> list[str]:
    """The lines of the integer program beside a row, each with its purpose."""
    at = row(shown, text)
    return [
        f"{LineKind(line.kind).name.lower()}: {shown.rows[shown.split + n].text.strip().split('(')[0]}"
        for n, line in enumerate(shown.integers)
        if line.source == at
    ]


def variant(shown: QuantizeView, **changes: str) -> Variant:
    """The variant with other answers than the scheme's; the words of an axis's name are joined by `_`."""
    choice = list(shown.variants[shown.asked].choice)
    for name, option in changes.items():
        at = next(n for n, axis in enumerate(shown.axes) if axis.name.replace(" ", "_") == name)
        choice[at] = shown.axes[at].options.index(option)
    return next(each for each in shown.variants if list(each.choice) == choice)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_sample_is_fresh_and_well_formed(name: str) -> None:
    assert (DATA / f"quantize_{name}.json").read_text("utf-8") == sample(name), (
        "run `python -m tests.views.quantizations`"
    )
    assert check(json.loads(sample(name))) == []


def test_the_phases_in_words() -> None:
    assert [spoken(say) for say in view("network").story()] == snapshot(
        [
            "11 calls in float32, with weights of 1,056 bytes. Quantization computes with small "
            "integers instead. An 8-bit integer takes a quarter of a float's memory, and a processor "
            "multiplies several at a time.",
            "%0 nn.conv2d stays in float: skip_conv_layers leaves out convolution 0. The comparison at "
            "the end shows what that is worth.",
            "%4 nn.conv2d will use %3 as int8 and its weight as int8. A layer is quantized.",
            "%5 nn.max_pool2d will use %4 as int8. Its operand is stored in 8 bits.",
            "%9 nn.dense will use its weight as int8. A layer is quantized.",
            "3 other calls stay in float: nn.relu, annotation.stop_fusion, nn.softmax. The scheme has "
            "no rule for them here, or no quantized operand reaches them.",
            "%3 took values from 0 to 9.41; the integers cover ±8.42 in steps of 0.0658. Method: KL "
            "divergence. Clipping at 8.419 loses 0.0424 nats; the greatest magnitude is 9.406. 2 of "
            "576 values are outside and will be clipped.",
            "weight of %4 has values from -1 to 1; the integers cover ±1 in steps of 0.00781. Method: "
            "power of two. 1 is rounded up to 1, a power of two. 12 of 144 values are outside and will "
            "be clipped.",
            "%4 took values from -18.6 to 19.5; the integers cover ±19.5 in steps of 0.152. Method: KL "
            "divergence. Clipping at 19.45 loses 0.0083 nats; the greatest magnitude is 19.5.",
            "weight of %9 has values from -1 to 1; the integers cover ±1 in steps of 0.00781. Method: "
            "power of two. 1 is rounded up to 1, a power of two. 6 of 48 values are outside and will "
            "be clipped.",
            "%3 becomes integers: divided by its step, rounded, clipped to -127 … 127. From here on it "
            "takes 8 bits for each element instead of 32.",
            "%4 nn.conv2d multiplies int8 by int8 and adds the products up in int32. Sums of many "
            "products need more bits. The step of the result is the product of both steps.",
            "%4 is rescaled: from steps of 0.000514 to steps of 0.152. Its integers are multiplied by "
            "the ratio, rounded and clipped, because the next layer reads narrow ones.",
            "%5 nn.max_pool2d, %6 annotation.cast_hint, %7 annotation.stop_fusion and %8 "
            "nn.batch_flatten work on the integers as they did on floats. Nothing has to be converted: "
            "the scale stays the same.",
            "%9 nn.dense multiplies int8 by int8 and adds the products up in int32. Sums of many "
            "products need more bits. The step of the result is the product of both steps.",
            "%9 nn.dense leaves the integers: each is multiplied by its step. The next line reads real "
            "numbers.",
            "Most noise is added at %3 annotation.stop_fusion: it reads exact values, and its own have "
            "27.0 dB. 2 of 576 values of %3 are clipped at ±8.42: that loses more than rounding does.",
            "Why is %0 nn.conv2d left alone? Quantized too, the program ends at 29.6 dB instead of "
            "32.4 dB. That costs 2.8 dB, less than one bit of precision.",
            "%9 nn.dense in integers agrees with float to 32.4 dB (signal to noise). On all inputs the "
            "result has the same largest element. Each bit is worth 6 dB. Constants: 488 instead of "
            "1,056 bytes.",
        ]
    )
    assert view("network").summary == snapshot(
        "6 calls in integers, 4 in float, by tvm_symmetric. %9 nn.dense agrees with the float "
        "program to 32.4 dB; constants take 488 bytes instead of 1,056."
    )


def test_the_picture_shows_quantizers_and_the_integer_program() -> None:
    assert picture.text(view("layers")) == snapshot(
        "def @main(\n"
        "  %x: Tensor[(4, 8), float32]) -> Tensor[(4, 4), float32] {                           "
        "int8, scale 0.00784, zero point -1, 48.1 dB\n"
        "  let %a: Tensor[(4, 6), float32] = nn.dense(%x, meta[relay.Constant][0]);            "
        "weight int8 per channel, 47.9 dB\n"
        "  let %b: Tensor[(4, 6), float32] = nn.bias_add(%a, meta[relay.Constant][1]);         51.6 "
        "dB\n"
        "  let %c: Tensor[(4, 6), float32] = nn.relu(%b);                                      "
        "int8, scale 0.0101, zero point -128, 51.6 dB\n"
        "  let %d: Tensor[(4, 4), float32] = nn.dense(%c, meta[relay.Constant][2]);            "
        "weight int8 per channel, 46.7 dB\n"
        "  %d\n"
        "}\n"
        "\n"
        "Integer program:\n"
        "def @main(\n"
        "  %x: Tensor[(4, 8), float32]) -> Tensor[(4, 4), float32] {\n"
        '  %0 = qnn.quantize(%x, 0.007843138f, -1, out_dtype="int8");\n'
        "  let %a: Tensor[(4, 6), int32] = qnn.dense(%0, meta[relay.Constant][0], -1, 0, 0.0…\n"
        "  let %b: Tensor[(4, 6), int32] = nn.bias_add(%a, meta[relay.Constant][2]);\n"
        "  let %c: Tensor[(4, 6), int32] = nn.relu(%b);\n"
        "  %1 = qnn.requantize(%c, meta[relay.Constant][3], 0, 0.010110294f, -128, axis=1, o…\n"
        "  let %d: Tensor[(4, 4), int32] = qnn.dense(%1, meta[relay.Constant][4], -128, 0, 0…\n"
        '  qnn.dequantize(%d, meta[relay.Constant][6], 0, axis=1, out_dtype="float32")\n'
        "}"
    )


def test_integer_lines_stand_beside_the_line_that_they_came_from() -> None:
    shown = view("layers")
    assert beside(shown, "%x: Tensor")[1:] == ["quantize: %0 = qnn.quantize"]
    assert beside(shown, "let %a") == [
        "compute: let %a: Tensor[",
    ]
    assert [line.split(":")[0] for line in beside(shown, "let %c")] == ["compute", "requantize"]


def test_what_became_of_each_call() -> None:
    shown = view("network")
    fates = {n: Fate(state.fate) for n, state in enumerate(shown.states)}
    assert fates[row(shown, "%0 = nn.conv2d")] == Fate.FLOAT
    assert fates[row(shown, "%4 = nn.conv2d")] == Fate.INTEGER
    assert fates[row(shown, "%2 = annotation.cast_hint")] == Fate.GONE
    assert fates[row(shown, "%x: Tensor")] == Fate.NONE
    assert shown.totals.integer == list(fates.values()).count(Fate.INTEGER)


def test_the_histogram_holds_every_value_and_tells_what_is_clipped() -> None:
    shown = view("network")
    for site in shown.sites:
        assert site.histogram is not None
        assert sum(site.histogram.counts) == site.values
        assert site.histogram.low <= site.low <= site.high <= site.histogram.high
    (outlier,) = [site for site in shown.sites if site.name == "%3"]
    assert outlier.kept_high < outlier.high
    assert outlier.clipped == 2
    assert outlier.tried[0].at < outlier.kept_high
    assert min(outlier.tried, key=lambda tried: tried.cost).at == pytest.approx(outlier.kept_high)


def test_the_largest_loss_is_explained_by_clipping() -> None:
    shown = view("network")
    (step,) = [step for step in shown.steps if step.mark == QuantizeMark.ERROR]
    assert step.row == shown.worst == row(shown, "%3 = annotation.stop_fusion")
    assert "clipped" in spoken(step.say)


def test_an_error_is_explained_by_one_scale_for_unequal_channels() -> None:
    class PerTensor(PerChannelAsymmetric):
        """One scale for each weight."""

        @property
        def weight(self) -> Quantizer:
            return Quantizer(Role.WEIGHT, 8, calibrator=MaxAbs())

    _, data = layers()
    shown = quantize_view(trace(parse(LAYERS), PerTensor(), data.params, data.dataset), data)
    assert spoken(shown.states[row(shown, "let %a")].say) == snapshot(
        "One scale for all channels of weight of %a: the widest channel has 16 times the range of a "
        "typical one, which is left with few integers."
    )


def test_overflowing_accumulators_are_blamed() -> None:
    class Narrow(PerChannelAsymmetric):
        """Sums of products of 8-bit integers in 16 bits, whatever they are."""

        @property
        def data(self) -> Quantizer:
            return Quantizer(Role.INPUT, 8, calibrator=MaxAbs())

        def realize(self, call: Call, operands: Sequence[Quantized | Expr]) -> Quantized | Expr | None:
            return product(call, operands, "int16")

    text = "def @main(%x: Tensor[(2, 64), float32], %w: Tensor[(3, 64), float32]) { nn.dense(%x, %w) }"
    weights, inputs = {"w": np.abs(numbers(1, (3, 64)))}, [{"x": np.abs(numbers(2, (2, 64)))}]
    found = trace(parse(text), Narrow(), weights, inputs)
    shown = quantize_view(found, Data(weights, list(inputs), "1 input"))
    (step,) = [step for step in shown.steps if step.mark == QuantizeMark.ERROR]
    assert "accumulators overflow" in spoken(step.say)
    assert shown.totals.result is not None
    assert shown.totals.result < 10


def test_what_if_has_the_answers_of_the_real_phases() -> None:
    shown = view("layers")
    asked = shown.variants[shown.asked]
    assert asked.choice == tuple(
        axis.options.index(own)
        for axis, own in zip(
            shown.axes, ("8", "asymmetric", "per channel", "largest value", "quantized"), strict=True
        )
    )
    four, sixteen = variant(shown, bits="4"), variant(shown, bits="16")
    assert asked.result is not None
    assert four.result is not None
    assert sixteen.result is not None
    assert four.result + 15 < asked.result < sixteen.result - 15
    assert four.bytes < asked.bytes < sixteen.bytes
    tensor = variant(shown, scales_of_weights="per tensor")
    assert tensor.result is not None
    assert tensor.result < asked.result
    assert "KL divergence" in variant(shown, bits="16", method_for_activations="KL divergence").refused


def test_the_variant_that_is_asked_is_the_quantization_itself() -> None:
    for name in PROGRAMS:
        shown = view(name)
        asked = shown.variants[shown.asked]
        rows = {each.row: each.error for each in asked.errors}
        assert rows == {n: state.error for n, state in enumerate(shown.states) if state.error is not None}
        assert [each.kept_high for each in asked.ranges] == [site.kept_high for site in shown.sites]


def test_a_layer_that_is_left_alone_says_what_it_would_cost() -> None:
    shown = view("network")
    alone = shown.states[row(shown, "%0 = nn.conv2d")]
    assert alone.fate == Fate.FLOAT
    assert alone.otherwise is not None
    assert shown.totals.result is not None
    assert alone.otherwise < shown.totals.result
    quantized = variant(shown, layers_that_the_scheme_leaves_alone="quantized")
    assert quantized.result == alone.otherwise


def test_sites_in_recursive_functions_see_all_activations() -> None:
    shown = view("tree")
    (word,) = [site for site in shown.sites if site.name == "%x"]
    assert word.tensors == 8  # words in all sentences
    assert "19 other calls stay in float" in " ".join(told(shown, Phase.ANNOTATE))


def test_errors_are_those_of_the_analysis() -> None:
    found, data = layers()
    shown = quantize_view(found, data)
    last = line_errors(found, data.dataset)[-1]
    assert round(last.sqnr, 1) == shown.states[row(shown, "let %d")].error


def test_a_recorded_quantization_is_shown_by_default() -> None:
    found, data = layers()
    explorer = relay_explorer.explore(found, dataset=data.dataset, name="q")
    assert isinstance(explorer.view, QuantizeView)
    assert explorer.view.totals == view("layers").totals
    assert explorer.view.data == "compared on 4 inputs"


def test_a_program_without_data_is_shown_with_random_ones_and_says_so() -> None:
    shown = relay_explorer.explore(parse(LAYERS), view="quantize").view
    assert isinstance(shown, QuantizeView)
    assert shown.data == "8 random inputs and random weights"
    assert shown.scheme == "per_channel_asymmetric"


def test_schemes_have_names() -> None:
    shown = relay_explorer.explore(parse(LAYERS), view="quantize", scheme="tvm_symmetric").view
    assert isinstance(shown, QuantizeView)
    assert shown.scheme == TvmSymmetric.name
    with raises(
        snapshot("""\
RelayError:
error: there is no scheme called 'ternry'
help: did you mean 'ternary'?\
""")
    ):
        relay_explorer.explore(parse(NETWORK), view="quantize", scheme="ternry")


def test_programs_that_cannot_be_made_up_data_for_are_refused() -> None:
    with raises(
        snapshot(
            "RelayError:\n"
            "from_string:1:11: error: random inputs can only be made up for tensors of static shape, "
            "but `%x` has the type Tensor[(?, 3), float32]\n"
            "   1 | def @main(%x: Tensor[(?, 3), float32]) { nn.relu(%x) }\n"
            "     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
            "help: give some typical inputs: explore(mod, view='quantize', dataset=[{…}, …])"
        )
    ):
        relay_explorer.explore(
            parse("def @main(%x: Tensor[(?, 3), float32]) { nn.relu(%x) }"), view="quantize"
        )


@pytest.mark.parametrize(
    "text",
    [
        "def @main(%x: Tensor[(2, 3), float32]) { nn.relu(%x) }",
        "def @main(%x: Tensor[(2, 3), int32]) { add(%x, %x) }",
        "def @main() { 1f }",
    ],
)
def test_a_program_without_anything_to_quantize_is_shown(text: str) -> None:
    shown = relay_explorer.explore(parse(text), view="quantize").view
    assert isinstance(shown, QuantizeView)
    assert shown.variants == ()
    assert shown.totals.result is None
    assert check(json.loads(shown.to_json())) == []


def test_values_that_are_not_finite_are_refused() -> None:
    weights = {"w1": numbers(1, (6, 8)), "b1": numbers(2, (6,)), "w2": numbers(3, (4, 6))}
    inputs = [{"x": np.full((4, 8), np.nan, "float32")}]
    with pytest.raises(RelayError, match="not finite"):
        relay_explorer.explore((parse(LAYERS), weights), view="quantize", dataset=inputs)


def test_a_live_view_computes_what_is_asked_for() -> None:
    found, data = layers()
    live = LiveQuantization(found, data, "layers")
    before = live.view
    assert before.live
    live.view = replace(before, variants=before.variants[:1])
    wanted = variant(before, bits="4").choice
    answer = live.answer({"choice": list(wanted)})
    assert answer.variants == (before.variants[0], variant(before, bits="4"))
    assert live.answer({"choice": list(wanted)}) is answer
    with raises(snapshot("RelayError: error: [9, 9, 9, 9, 9] has not an option for each of 5 questions")):
        live.answer({"choice": [9] * len(wanted)})
    with raises(snapshot("RelayError: error: None has not an option for each of 5 questions")):
        live.answer({})
