"""Chapter 20: its cells run, and what the text, the drawings and the folded answers say is so."""

from __future__ import annotations

import re

import numpy as np
import pytest

from figures import quantized_speed
from figures.accumulator_wraps import PRODUCT, products_that_fit, wrapped
from figures.clipping_or_rounding import THRESHOLD, WIDEST, counts, step
from figures.integer_product import accumulated, exact, integers, requantized
from figures.kernels_or_rules import kernels, rules
from figures.quantization_ruler import rounded
from relay_explorer.views.quantize.format import QuantizeView
from tests.book.chapters import explorers, names, output, pictures, shown, source

PAGE = "ch20_quantization"


def percents(cell: str) -> list[float]:
    return [float(n) for n in re.findall(r"([\d.]+)%", output(PAGE, cell))]


def say(step: int) -> str:
    """Return the sentence of a step of the explorer, counted from 1 as readers and addresses do."""
    view = explorers(PAGE)["ch20-digits"].view
    assert isinstance(view, QuantizeView)
    template, *arguments = view.steps[step - 1].say
    return template.format(*arguments)


# -- the explorer


def test_it_shows_the_quantization_of_the_digits() -> None:
    assert shown(PAGE) == ["ch20-digits", "Axes"]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (9, "**%data** lies between 0 and 1"),
        (10, "16 scales, one per channel"),
        (11, "zero point -128"),
        (17, "**%data** is quantized"),
        (20, "is requantized"),
        (32, "Most noise is added"),
        (33, "it costs most"),
    ],
)
def test_steps_say_what_the_text_says_of_them(step: int, words: str) -> None:
    assert words in say(step)
    assert f"](#rx-ch20-digits:step={step})" in source(PAGE)


# -- by hand


def test_ruler_rounds_and_clips_as_the_text_says() -> None:
    assert [rounded(x) for x in (1.0, -0.62, 2.5)] == [3, -2, 7]
    assert output(PAGE, "def to_integers").split("stand for")[0].split() == ["[", "3", "-2", "7]"]


def test_product_by_hand_is_right() -> None:
    assert integers() == ((3, -2, 7), (5, 7, -3))
    assert (accumulated(), requantized()) == (-20, -4)
    assert exact() == pytest.approx(-0.471)


def test_threshold_in_the_drawing_clips_few_values() -> None:
    clipped = sum(n for place, n in enumerate(counts()) if place * WIDEST / len(counts()) >= THRESHOLD)
    assert f"clips {clipped} of {sum(counts()):,} values" in source(PAGE)
    assert f"{step(WIDEST):.2f}" == "1.14"
    assert f"{step(THRESHOLD):.2f}" == "0.29"


def test_kernels_and_rules_are_counted() -> None:
    assert f"{kernels()} kernels" in source(PAGE)
    assert f"{rules()} rules" in source(PAGE)


def test_third_product_wraps_around() -> None:
    assert products_that_fit(16) == 2
    assert wrapped(2 * PRODUCT, 16) == 2 * PRODUCT
    assert wrapped(3 * PRODUCT, 16) == -17_149
    assert output(PAGE, "for bits in (16, 32)").split()[2::3] == ["2", f"{products_that_fit(32)}"]


# -- the network


def test_weights_take_a_quarter() -> None:
    rows = re.findall(r"([\d,]+) bytes in float32 +([\d,]+) in int8", output(PAGE, "import numpy"))
    numbers = [[int(n.replace(",", "")) for n in row] for row in rows]
    assert len(numbers) == 3
    assert all(wide == 4 * narrow for wide, narrow in numbers)


def test_eight_bits_lose_less_than_a_point() -> None:
    in_float, simulated, in_integers = percents("unseen = data.unseen")
    assert in_float - simulated < 1
    assert in_integers - in_float == pytest.approx(100 / 357, abs=0.1)  # one more image


def test_relu_and_pool_work_on_integers() -> None:
    lines = output(PAGE, "text = str(result.realized").splitlines()
    assert re.match(r" *%3 = nn.relu", lines[3])
    assert re.match(r" *%5 = nn.max_pool2d", lines[5])


def test_few_bits_are_enough_and_clipping_helps_at_the_end() -> None:
    rows = np.array(percents("def few_bits")).reshape(-1, 2)
    whole, clipped = rows.T
    assert (98.3 - rows[:3] <= 0.6).all()  # two images, with 8, 6 and 5 bits
    assert (clipped[3:5] > whole[3:5]).all()  # 4 and 3
    assert whole[5] < 20


def test_last_layer_costs_most_and_then_the_first() -> None:
    rows = re.findall(r"dB: (.*)", output(PAGE, "from relay_explorer.quantize.error_analysis"))
    none, *others = ([float(n) for n in row.split()] for row in rows)
    assert none[0] == pytest.approx(18, abs=0.5)
    assert none[-1] == pytest.approx(10, abs=0.5)
    assert min(none[1:3]) > 14.5
    assert max(none[1:3]) < 16.5
    gains = [other[-1] - none[-1] for other in others]
    assert sorted(range(4), key=lambda layer: -gains[layer]) == [3, 0, 1, 2]
    assert gains[3] == pytest.approx(2, abs=0.5)
    assert gains[2] < 0


def test_canonical_operators_are_in_the_groups_that_the_text_names() -> None:
    image, layer, rest = output(PAGE, "canonical = ").splitlines()[1:]
    assert image.split()[-1] == "cast"
    assert re.search(r"nn\.conv2d (cast sum expand_dims multiply subtract) nn\.bias_add$", layer)
    assert rest.split() == ["nn.relu", "fixed_point_multiply_per_axis", "clip", "add", "cast"]


def test_one_broken_image_costs_bits_unless_it_is_clipped() -> None:
    eight, eight_clipped, six, six_clipped = percents("broken = calibration.copy()")
    assert eight > 97
    assert six < 85
    assert min(eight_clipped, six_clipped) > 97


def test_dim_calibration_images_mislead() -> None:
    (dim,) = percents('print(f"{few_bits(8, 1, images=0.25')
    assert dim < 90


def test_sums_overflow_without_a_margin() -> None:
    without, doubled = percents("from relay_explorer.quantize.schemes import Int8Int16")
    assert without < 97.5 < doubled


def test_fixed_point_gives_the_numbers_of_the_drawing() -> None:
    assert output(PAGE, "x = relay.const(np.array([-20").split() == ["[", "-4", "1", "200]"]


def test_only_ternary_weights_lose_much() -> None:
    *fine, ternary = percents("from relay_explorer.quantize import schemes")
    assert min(fine) > 97.5
    assert ternary < 80


def test_the_histogram_is_that_of_the_second_relu() -> None:
    ((title, words),) = pictures(PAGE)
    assert title == "operand 0 of nn.max_pool2d in @main"
    assert re.fullmatch(r"A histogram of 16,384 values from 0 to ([\d.]+)\. 8 bits from 0 to \1\.", words)
    site = names(PAGE)["result"].sites[4]
    assert site.expr.op.name == "nn.relu"


def test_speedups_are_those_of_the_drawing() -> None:
    spoken = re.search(r"^:alt: Bars of the speedup.*$", source(PAGE), re.MULTILINE)
    assert spoken is not None
    networks = {"ResNet-18": (1.9, 2.3), "ResNet-50": (2.4, 2.8), "MobileNet v1": (2.2, 3)}
    for network, (least, most) in networks.items():
        assert f"between {least:g} and {most:g} for {network.removesuffix(' v1')}" in spoken[0]
        speedups = quantized_speed.SPEEDUPS[network].values()
        assert least < min(speedups) <= max(speedups) < most
    for network, name in (("BERT-base", "For BERT"), ("geometric mean", "In the geometric mean")):
        ours, onnx, torch = quantized_speed.SPEEDUPS[network].values()
        said = f"{name}, this compiler has {ours:.1f}, ONNX Runtime {onnx:.1f} and PyTorch {torch:.1f}."
        assert said in spoken[0]
    by_network = {network: each["this compiler"] for network, each in quantized_speed.SPEEDUPS.items()}
    assert min(by_network, key=lambda network: by_network[network]) == "ResNet-18"
    assert max(by_network.values()) < 4
