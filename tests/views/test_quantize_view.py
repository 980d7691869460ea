"""The quantization view: the phases in words, what stands beside what, errors and their reasons, what if."""

from __future__ import annotations

import json
import re
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
    assert [spoken(each) for each in view("network").story()] == snapshot(
        [
            "11 calls in float32, 1,056 bytes of constants. int8 takes a quarter of the memory, and "
            "four times as many fit in a vector.",
            "%0 nn.conv2d stays in float. skip_conv_layers lists convolution 0, counted from 0. By "
            "default it is the one that reads the input.",
            "%4 nn.conv2d will read %3 and its weight as int8. TVM's scheme quantizes data and weight "
            "of every layer it does not skip.",
            "%5 nn.max_pool2d will read %4 as int8. It only moves or compares elements, for which 8 "
            "bits are enough.",
            "%9 nn.dense will read its weight as int8. TVM's scheme quantizes data and weight of every "
            "layer it does not skip.",
            "3 other calls stay in float: nn.relu, annotation.stop_fusion, nn.softmax. They have no "
            "integer form, or their operands are floats.",
            "%3 lies between 0 and 9.41; the range becomes ±8.35 (KL divergence). Scale 0.0658; 2 of "
            "576 values will be clipped.",
            "The weight of %4 lies between -1 and 1; the range becomes ±0.992 (power of two). Scale "
            "0.00781; 12 of 144 values will be clipped.",
            "%4 lies between -18.6 and 19.5; the range becomes ±19.3 (KL divergence). Scale 0.152; 2 of "
            "256 values will be clipped.",
            "The weight of %9 lies between -1 and 1; the range becomes ±0.992 (power of two). Scale "
            "0.00781; 6 of 48 values will be clipped.",
            "%3 is quantized: round(x / scale), clipped to -127 … 127. Stored as int8, not float32.",
            "%4 nn.conv2d multiplies int8 by int8 and accumulates in int32. Its scale: the product of "
            "both scales.",
            "%4 is requantized: scale 0.000514 → 0.152, as int8. Multiply by the ratio of the scales, "
            "round, clip.",
            "%5 nn.max_pool2d, %6 annotation.cast_hint and 2 more compute on integers, with no float in "
            "between. Their scale does not change.",
            "%9 nn.dense multiplies int8 by int8 and accumulates in int32. Its scale: the product of "
            "both scales.",
            "%9 nn.dense is dequantized: real = scale · (integer − zero point). The next call stays in "
            "float.",
            "Most noise is added at %3 annotation.stop_fusion: its SQNR is 27.0 dB; what it reads is "
            "exact. 2 of 576 values of %3 are clipped at ±8.35, which costs more accuracy than "
            "rounding.",
            "If %0 nn.conv2d were quantized too, the result would have 29.6 dB, not 32.4 dB. That costs "
            "2.8 dB, less than one bit.",
            "%9 nn.dense has an SQNR of 32.4 dB; the result's largest element is the same on all "
            "inputs. One more bit gains about 6 dB.",
        ]
    )
    assert view("network").summary == snapshot(
        "tvm_symmetric computes 6 calls in integers and leaves 4 in float. %9 nn.dense has an SQNR "
        "of 32.4 dB; constants take 488 bytes instead of 1,056."
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
    # A threshold of TVM's scheme is 128 steps from 0, and the greatest integer is 127.
    threshold = min(outlier.tried, key=lambda tried: tried.cost).at
    assert threshold == pytest.approx(outlier.kept_high * 128 / 127, rel=1e-5)
    assert spoken(outlier.why).endswith("that is 128 steps from 0, but the greatest integer is 127.")


def test_most_noise_is_explained_by_clipping() -> None:
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
        "All channels of the weight of %a share one scale. The widest has 16 times the range of a "
        "typical one, so that one uses few integers."
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
    *_, step = [step for step in shown.steps if step.mark == QuantizeMark.ERROR]
    assert step.row == -1
    assert re.fullmatch(
        r"The integers reach -?[\d.]+ dB, their simulation [\d.]+ dB. Likely an accumulator overflows.",
        spoken(step.say),
    )
    assert shown.totals.result is not None
    assert shown.totals.result < 10


def test_what_if_has_the_answers_of_the_real_phases() -> None:
    shown = view("layers")
    asked = shown.variants[shown.asked]
    assert asked.choice == tuple(
        axis.options.index(own)
        for axis, own in zip(
            shown.axes, ("8", "asymmetric", "per channel", "min–max", "quantized"), strict=True
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
    assert "KL divergence" in variant(shown, bits="16", calibration_of_activations="KL divergence").refused


def test_the_variant_that_is_asked_is_the_quantization_itself() -> None:
    for name in PROGRAMS:
        shown = view(name)
        asked = shown.variants[shown.asked]
        rows = {each.row: each.error for each in asked.errors}
        assert rows == {n: state.error for n, state in enumerate(shown.states) if state.error is not None}
        assert [each.kept_high for each in asked.ranges] == [site.kept_high for site in shown.sites]


def test_a_layer_that_the_scheme_skips_says_what_it_would_cost() -> None:
    shown = view("network")
    alone = shown.states[row(shown, "%0 = nn.conv2d")]
    assert alone.fate == Fate.FLOAT
    assert alone.otherwise is not None
    assert shown.totals.result is not None
    assert alone.otherwise < shown.totals.result
    quantized = variant(shown, layers_that_the_scheme_skips="quantized")
    assert quantized.result == alone.otherwise


def test_sites_in_recursive_functions_see_all_activations() -> None:
    shown = view("tree")
    (word,) = [site for site in shown.sites if site.name == "%x"]
    assert word.tensors == 8  # words in all sentences
    assert "19 calls stay in float" in " ".join(told(shown, Phase.ANNOTATE))


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


def test_programs_for_which_no_inputs_can_be_generated_are_refused() -> None:
    with raises(
        snapshot(
            "RelayError:\n"
            "from_string:1:11: error: cannot generate random inputs for `%x`: its type Tensor[(?, 3), "
            "float32] has no static shape\n"
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
    with raises(
        snapshot("RelayError: error: [9, 9, 9, 9, 9] does not pick one option for each of the 5 settings")
    ):
        live.answer({"choice": [9] * len(wanted)})
    with raises(snapshot("RelayError: error: None does not pick one option for each of the 5 settings")):
        live.answer({})
