"""The checks of the exercise `quantization_scheme`: solutions pass, and what exceeds the budget is found."""

from __future__ import annotations

from typing import Any

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.ir.walk import rewrite_nodes
from relay_explorer.quantize import (
    Annotation,
    LeastSquares,
    MaxAbs,
    Quantized,
    Quantizer,
    Role,
    Scheme,
    follow,
    parameters,
)
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake

EXERCISE = "quantization_scheme"
ALL = 120  # random cases, as in hidden tests


def test_solution_passes_on_all_unseen_images() -> None:
    feedback = check(EXERCISE, answer(EXERCISE, "scheme"), programs=ALL)
    assert feedback.passed, str(feedback)
    assert "of 98.3% in float" in str(feedback)


def _smallest_error(seen: Any, quantizer: Any) -> Any:
    """Try thresholds for a weight, and take the one with the least square error; the maximum for data."""
    import numpy as np

    if seen.values is None:
        return parameters(quantizer, -seen.largest, seen.largest)
    rows = seen.values.reshape(len(seen.values), -1)
    greatest = np.abs(rows).max(axis=1)
    best, error = greatest, np.full(len(rows), np.inf)
    for fraction in np.linspace(0.3, 1, 30):
        scale = (greatest * fraction / quantizer.highest)[:, None]
        rounded = np.clip(np.rint(rows / scale), -quantizer.highest, quantizer.highest) * scale
        squares = ((rows - rounded) ** 2).sum(axis=1)
        best = np.where(squares < error, greatest * fraction, best)
        error = np.minimum(squares, error)
    return parameters(quantizer, -best, best)


def test_solution_with_its_own_calibrator_passes() -> None:
    """Symmetric data, a threshold of its own for weights, and no layer in float."""

    class Own(Scheme):
        name = "own"

        def annotate(self, candidate: Any) -> Any:
            data = Quantizer(Role.INPUT, 6, calibrator=_smallest_error)
            if candidate.layer is None:
                return follow(candidate, data)
            ready = candidate.operands[0].role is Role.INPUT
            weight = Quantizer(Role.WEIGHT, 3, axis=0, calibrator=_smallest_error)
            return Annotation([None if ready else data, weight])

    feedback = check(EXERCISE, Own, "digits", programs=ALL)
    assert feedback.passed, str(feedback)


WEIGHT = "weight = Quantizer(Role.WEIGHT, 3, axis=0, calibrator=LeastSquares())"
DATA = "data = Quantizer(Role.INPUT, 6, symmetric=False, calibrator=MinMax())"
LAST = "if candidate.layer == candidate.layers - 1:"
WRONG = {
    "has 4-bit weights": Mistake([(WEIGHT, WEIGHT.replace("3", "4"))], "budget", "second argument"),
    "has 8-bit data": Mistake([(DATA, DATA.replace("6", "8"))], "budget", "second argument"),
    "leaves two layers in float": Mistake(
        [(LAST, "if candidate.layer >= candidate.layers - 2:")], "budget", "Annotate"
    ),
    "leaves all in float": Mistake([(LAST, "if True:")], "budget", "stays in float"),
    "leaves the data in float": Mistake(
        [("[None if ready else self.data, self.weight]", "[None, self.weight]")], "budget", "both operands"
    ),
    "has one scale for a weight": Mistake(
        [(WEIGHT, WEIGHT.replace("axis=0, ", "")), ("LeastSquares())\n", "MaxAbs())\n")],
        "digits_well",
        "axis=0",
    ),
    "has scales along the other axis": Mistake(
        [(WEIGHT, WEIGHT.replace("axis=0", "axis=1"))], "budget", "lie along axis 1"
    ),
    "passes a class": Mistake([(DATA, DATA.replace("MinMax()", "MinMax"))], "budget", "MinMax()"),
    "reaches to the maximum": Mistake(
        [("LeastSquares())\n", "MaxAbs())\n"), (LAST, "if False:")], "digits_well", "least square error"
    ),
    "has no calibrator": Mistake(
        [(WEIGHT, "weight = Quantizer(Role.WEIGHT, 3, axis=0)")], "budget", "calibrator"
    ),
    "returns the class": Mistake([("return ThreeBits()", "return ThreeBits")], "budget", "instance"),
    "returns nothing": Mistake([("return ThreeBits()", "pass")], "budget", "instance"),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_mistake_gets_its_hint(mistake: str) -> None:
    check_mistake(EXERCISE, "scheme", EXERCISE, WRONG[mistake])


class _Products(Scheme):
    """A scheme within the budget as far as its quantizers say."""

    name = "products"

    def annotate(self, candidate: Any) -> Any:
        data = Quantizer(Role.INPUT, 6, calibrator=MaxAbs())
        if candidate.layer is None:
            return follow(candidate, data)
        ready = candidate.operands[0].role is Role.INPUT
        weight = Quantizer(Role.WEIGHT, 3, axis=0, calibrator=LeastSquares())
        return Annotation([None if ready else data, weight])


def test_finer_integers_than_annotated_are_found() -> None:
    """A scheme that says 3 bits, but stores 8."""

    class Finer(_Products):
        def quantize(self, data: Any, site: Any) -> Any:
            if site.quantizer.role is not Role.WEIGHT:
                return super().quantize(data, site)
            wide = site.quantizer.__class__(Role.WEIGHT, 8, axis=0)
            from dataclasses import replace

            low, high = site.parameters.low, site.parameters.high
            return super().quantize(
                data, replace(site, quantizer=wide, parameters=parameters(wide, low, high))
            )

    feedback = check(EXERCISE, Finer)
    assert feedback.failed == "budget", str(feedback)
    assert "weight levels" in str(feedback)


def test_products_of_floats_are_found() -> None:
    """A scheme that converts the integers back before it multiplies."""

    class InFloat(_Products):
        def realize(self, call: Any, operands: Any) -> Any:
            return None

    feedback = check(EXERCISE, InFloat)
    assert feedback.failed == "budget", str(feedback)


def _as_sums(x: Any, weight: Any) -> Any:
    """Write a product of floats without the operator for it."""
    return relay.sum(relay.expand_dims(x, 1) * relay.expand_dims(weight, 0), axis=[2])


def test_a_float_sum_beside_the_product_is_found() -> None:
    """A scheme that multiplies the integers by 0, and adds the product of the floats."""

    class Beside(_Products):
        def realize(self, call: Any, operands: Any) -> Any:
            result = super().realize(call, operands)
            if not isinstance(result, Quantized) or call.op.name != "nn.dense":
                return result
            exact = _as_sums(self.dequantize(operands[0]), call.args[1].args[0])
            return exact + self.dequantize(result) * relay.const(0.0)

    feedback = check(EXERCISE, Beside)
    assert feedback.failed == "budget", str(feedback)
    assert "`sum` of floating-point numbers" in str(feedback)


def test_layers_that_are_rewritten_before_they_are_counted_are_found() -> None:
    """A scheme that replaces layers by other operators, and so leaves them in float."""

    class Hidden(_Products):
        def prepare(self, mod: Any) -> Any:
            new = mod.copy()

            def rule(node: Any, rebuilt: Any) -> Any:
                name = getattr(getattr(rebuilt, "op", None), "name", "")
                return _as_sums(*rebuilt.args) if name == "nn.dense" else None

            new["main"] = rewrite_nodes(mod["main"], rule)
            return new

    feedback = check(EXERCISE, Hidden)
    assert feedback.failed == "budget", str(feedback)
    assert "replaced by other operators" in str(feedback)


def test_another_network_is_found() -> None:
    class Other(_Products):
        def prepare(self, mod: Any) -> Any:
            new = mod.copy()
            main = mod["main"]
            new["main"] = relay.Function(list(main.params), main.body * relay.const(2.0))
            return new

    feedback = check(EXERCISE, Other)
    assert feedback.failed == "budget", str(feedback)
    assert "another float program" in str(feedback)


def test_an_error_of_the_scheme_shows_its_line() -> None:
    class Mistaken(_Products):
        def calibrate(self, site: Any, observed: Any) -> Any:
            return observed.statistics.biggest

    feedback = check(EXERCISE, Mistaken)
    assert feedback.failed == "budget", str(feedback)
    assert "AttributeError: 'Statistics' object has no attribute 'biggest'" in str(feedback)
    assert "of calibrate: return observed.statistics.biggest" in str(feedback)


def test_two_products_for_a_layer_are_found() -> None:
    """A scheme that adds a second product to each."""

    class Twice(_Products):
        def realize(self, call: Any, operands: Any) -> Any:
            result = super().realize(call, operands)
            if isinstance(result, Quantized) and call.op.name == "nn.dense":
                again = super().realize(call, operands)
                assert isinstance(again, Quantized)
                half = relay.right_shift(result.expr + again.expr, relay.const(1))
                return result.but(half, "int32")
            return result

    feedback = check(EXERCISE, Twice)
    assert feedback.failed == "budget", str(feedback)
    assert "one product" in str(feedback)
