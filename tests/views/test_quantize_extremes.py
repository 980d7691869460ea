"""The quantization view of unusual programs: values not finite, without elements, of other precisions."""

from __future__ import annotations

import numpy as np

from relay_explorer.quantize import trace
from relay_explorer.quantize.observation import Inputs
from relay_explorer.quantize.schemes import PerChannelAsymmetric
from relay_explorer.text import parse
from relay_explorer.views.format import spoken
from relay_explorer.views.quantize.inputs import Data
from relay_explorer.views.quantize.view import quantize_view


def test_values_that_are_not_finite_have_a_ratio_that_json_can_hold() -> None:
    from relay_explorer.views.quantize.measure import EXACT, Noise

    nan, inf = float("nan"), float("inf")
    for exact, other, ratio in (
        ([1, nan, inf], [1, nan, inf], None),
        ([1, nan], [1, 0], -EXACT),
        ([1, inf], [1, 2], -EXACT),
        ([0, 0], [0, 1], -EXACT),
        ([2, 0], [1, 0], 6.0),
    ):
        noise = Noise()
        noise.add(np.asarray(exact, "float32"), np.asarray(other, "float32"))
        assert noise.decibels == ratio


def test_a_program_in_half_precision_or_of_integers_says_so() -> None:
    from relay_explorer.views.quantize import sentences

    assert sentences.begin(1, ["float16"], 8) == ("**1 call** in `float16`, 8 bytes of constants.",)
    assert "a quarter of the memory" in sentences.begin(2, ["float32"], 8)[0]
    assert "nothing to quantize" in sentences.begin(0, [], 8)[0]


def test_a_value_without_elements_is_not_called_unreached() -> None:
    text = """#[version = "0.0.5"]
    def @main(%x: Tensor[(0, 4), float32], %w: Tensor[(3, 4), float32]) { nn.dense(%x, %w, units=3) }"""
    dataset: list[Inputs] = [{"x": np.zeros((0, 4), "float32")}]
    traced = trace(parse(text), PerChannelAsymmetric(), {"w": np.ones((3, 4), "float32")}, dataset)
    shown = quantize_view(traced, Data({}, dataset, "1 input"))
    assert "has no elements" in " ".join([spoken(step.say) for step in shown.steps])
