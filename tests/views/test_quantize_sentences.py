"""The sentences of the quantization view: types, scales, errors, and results that are exact."""

from __future__ import annotations

from inline_snapshot import snapshot

from relay_explorer.quantize import trace
from relay_explorer.quantize.schemes import Int8Int16, Weights4BitGroups
from relay_explorer.text import parse
from relay_explorer.views.format import spoken
from relay_explorer.views.quantize import sentences as say
from relay_explorer.views.quantize.format import Fate, Phase, QuantizeView
from relay_explorer.views.quantize.view import quantize_view
from tests.views.quantizations import LAYERS, layers, view


def row(shown: QuantizeView, text: str) -> int:
    """The row of the float program whose text starts with `text`."""
    return next(n for n, each in enumerate(shown.rows[: shown.split]) if each.text.strip().startswith(text))


def test_products_name_the_type_in_which_they_accumulate() -> None:
    _, data = layers()
    shown = quantize_view(trace(parse(LAYERS), Int8Int16(), data.params, data.dataset), data)
    realized = [spoken(step.say) for step in shown.steps if step.phase == Phase.REALIZE]
    assert "%a nn.dense multiplies int8 by int8 and accumulates in int16." in realized[1]
    assert "%a needs no requantization: it already has these scales" in realized[2]


def test_integer_weights_in_a_float_product_are_not_integer_arithmetic() -> None:
    _, data = layers()
    shown = quantize_view(trace(parse(LAYERS), Weights4BitGroups(group=4), data.params, data.dataset), data)
    assert shown.states[row(shown, "let %a")].fate == Fate.WEIGHTS
    assert (shown.totals.integer, shown.totals.weights, shown.totals.left) == (0, 2, 2)
    assert "2 in float with integer weights, and leaves 2 in float" in shown.summary


def test_errors_without_a_quantizer_are_compared_with_those_of_the_operands() -> None:
    shown = view("tree")
    assert "hides part" in spoken(shown.states[row(shown, "%1 = nn.bias_add")].say)
    assert "weighs more" in spoken(shown.states[row(shown, "%4 = tanh")].say)
    assert "only passes on" in spoken(view("network").states[row(view("network"), "%6 =")].say)


def test_a_result_that_would_be_exact_says_so() -> None:
    assert spoken(say.if_left("%0", False, 30.1, None, 3)) == snapshot(
        "Left in float, %0 makes the result exact instead of 30.1 dB. Of the 3 layers tried, it costs most."
    )
    assert spoken(say.if_quantized("%0", None, 30.1)) == snapshot(
        "If %0 were quantized too, the result would have 30.1 dB; now it is exact."
    )
    assert spoken(say.if_quantized("%0", 30.1, 22.1)) == snapshot(
        "If %0 were quantized too, the result would have 22.1 dB, not 30.1 dB. That is a lot for one layer: "
        "8 dB is about 1.33 bits."
    )
