"""The checks of the exercise `realize_operator`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

from typing import Any

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake

EXERCISE = "realize_operator"
PARTS = ("dense", "add", "leaky_relu")


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("seed", range(2))
def test_solution_passes(part: str, seed: int) -> None:
    feedback = check(f"{EXERCISE}.{part}", answer(EXERCISE, part), seed=seed)
    assert feedback.passed, str(feedback)


def _requantized(steps: Any, factor: float, zero_point: int) -> Any:
    """Multiply integers in fixed point, which has 31 bits for the factor."""
    import math

    fraction, exponent = math.frexp(factor)
    result = relay.fixed_point_multiply(steps, min(round(fraction * 2**31), 2**31 - 1), exponent)
    result = relay.clip(result + relay.const(zero_point, "int32"), -128, 127)
    return relay.cast(result, "int8")


def test_solution_in_fixed_point_passes() -> None:
    """Expand the product of the differences, and multiply without floating-point numbers."""

    def dense(x: Any, weight: Any, out: Any) -> Any:
        wide = [relay.cast(operand.expr, "int32") for operand in (x, weight)]
        k = x.expr.checked_type.shape[1]
        zero_x, zero_w = (relay.const(one.zero_point, "int32") for one in (x, weight))
        sums: Any = relay.nn.dense(x.expr, weight.expr, out_dtype="int32")
        sums = sums - zero_w * relay.sum(wide[0], axis=1, keepdims=True) - zero_x * relay.sum(wide[1], axis=1)
        sums = sums + relay.const(k * x.zero_point * weight.zero_point, "int32")
        return _requantized(sums, x.scale * weight.scale / out.scale, out.zero_point)

    feedback = check(f"{EXERCISE}.dense", dense)
    assert feedback.passed, str(feedback)


def test_rounding_by_hand_passes() -> None:
    """Combine floats after the sum, in other ways than by one factor."""

    def dense(x: Any, weight: Any, out: Any) -> Any:
        wide = [relay.cast(one.expr, "int32") - relay.const(one.zero_point, "int32") for one in (x, weight)]
        sums = relay.cast(relay.nn.dense(wide[0], wide[1], out_dtype="int32"), "float32")
        steps = sums * relay.const(x.scale * weight.scale / out.scale, "float32")
        steps = relay.sign(steps) * relay.floor(relay.abs(steps) + relay.const(0.5, "float32"))
        return relay.cast(
            relay.clip(steps + relay.const(float(out.zero_point), "float32"), -128, 127), "int8"
        )

    feedback = check(f"{EXERCISE}.dense", dense)
    assert feedback.passed, str(feedback)


SUMS = 'relay.nn.dense(centered(x), centered(weight), out_dtype="int32")'
CENTERED = 'return relay.cast(operand.expr, "int32") - relay.const(operand.zero_point, "int32")'
FACTOR = 'relay.const(x.scale * weight.scale / out.scale, "float32")'
WRONG = {
    "dense": {
        "ignores zero points": Mistake(
            [(CENTERED, 'return relay.cast(operand.expr, "int32")')], "zero_points", "zero point of"
        ),
        "ignores the zero point of x": Mistake(
            [("centered(x)", 'relay.cast(x.expr, "int32")')], "zero_points", "zero point of x is missing"
        ),
        "ignores the zero point of the weight": Mistake(
            [("centered(weight)", 'relay.cast(weight.expr, "int32")')],
            "zero_points",
            "zero point of weight is missing",
        ),
        "subtracts in int8": Mistake(
            [(CENTERED, 'return operand.expr - relay.const(operand.zero_point, "int8")')],
            "zero_points",
            "wraps around in 8 bits",
        ),
        "adds the zero point of x": Mistake(
            [("centered(x)", 'relay.cast(x.expr, "int32") + relay.const(x.zero_point, "int32")')],
            "zero_points",
            "of x is added, but it must be subtracted",
        ),
        "adds both zero points": Mistake(
            [(CENTERED, CENTERED.replace(" - ", " + "))], "zero_points", "must be subtracted"
        ),
        "subtracts the zero point of the result": Mistake(
            [("steps = steps + relay", "steps = steps - relay")], "products", "but it must be added"
        ),
        "adds the scales": Mistake(
            [(FACTOR, FACTOR.replace("x.scale * weight.scale", "(x.scale + weight.scale)"))],
            "products",
            "scales",
        ),
        "forgets the scale of the result": Mistake(
            [(FACTOR, FACTOR.replace(" / out.scale", ""))], "products", "scale of the result is missing"
        ),
        "forgets the expression of an operand": Mistake(
            [("centered(x)", "relay.cast(x, 'int32')")], "products", "its expression is `x.expr`"
        ),
        "multiplies floats with einsum": Mistake(
            [
                (
                    SUMS,
                    'relay.einsum((relay.cast(centered(x), "float32"), '
                    'relay.cast(centered(weight), "float32")), "ik,jk->ij")',
                )
            ],
            "products",
            "products of integers",
        ),
        "averages products of floats": Mistake(
            [
                (
                    SUMS,
                    'relay.mean(relay.cast(relay.expand_dims(centered(x), 1), "float32")'
                    ' * relay.cast(centered(weight), "float32"), axis=[2])',
                )
            ],
            "products",
            "products of integers",
        ),
        "accumulates in int16": Mistake(
            [('out_dtype="int32"', 'out_dtype="int16"')], "zero_points", "in 16 bits"
        ),
        "multiplies floats": Mistake(
            [
                (
                    SUMS,
                    'relay.nn.dense(relay.cast(centered(x), "float32"), '
                    'relay.cast(centered(weight), "float32"))',
                )
            ],
            "products",
            "products of integers",
        ),
        "uses qnn": Mistake(
            [
                (
                    SUMS,
                    "relay.qnn.op.dense(x.expr, weight.expr, relay.const(x.zero_point), "
                    "relay.const(weight.zero_point), relay.const(x.scale), relay.const(weight.scale), "
                    "units=None)",
                )
            ],
            "products",
            "what you are writing",
        ),
        "forgets a scale": Mistake(
            [(FACTOR, 'relay.const(x.scale / out.scale, "float32")')], "products", "scale"
        ),
        "turns the factor": Mistake(
            [(FACTOR, 'relay.const(out.scale / (x.scale * weight.scale), "float32")')],
            "products",
            "inverted",
        ),
        "rounds toward zero": Mistake(
            [('relay.round(relay.cast(sums, "float32") * factor)', '(relay.cast(sums, "float32") * factor)')],
            "products",
            "relay.round",
        ),
        "does not clip": Mistake(
            [("relay.clip(steps, -128, 127)", 'relay.cast(steps, "int32")')], "clipped", "wraps around"
        ),
        "forgets the zero point of the result": Mistake(
            [('steps = steps + relay.const(float(out.zero_point), "float32")', "pass")],
            "products",
            "zero point of the result",
        ),
        "returns int32": Mistake(
            [
                (
                    'relay.cast(relay.clip(steps, -128, 127), "int8")',
                    'relay.cast(relay.clip(steps, -128, 127), "int32")',
                )
            ],
            "products",
            "result has the type",
        ),
        "returns nothing": Mistake(
            [("return relay.cast(relay.clip(steps", "relay.cast(relay.clip(steps")], "products", "return"
        ),
        "mixes types": Mistake(
            [(CENTERED, 'return relay.cast(operand.expr, "int32") - relay.const(0.5)')],
            "products",
            "element type",
        ),
    },
    "add": {
        "adds integers": Mistake(
            [
                (
                    'return centered * relay.const(operand.scale, "float32")',
                    "return centered * relay.const(a.scale)",
                )
            ],
            "parameters",
            "different parameters",
        ),
        "rounds twice": Mistake(
            [
                (
                    'return centered * relay.const(operand.scale, "float32")',
                    "steps = relay.round(centered * relay.const(operand.scale / out.scale))\n"
                    "        return steps * relay.const(out.scale)",
                )
            ],
            "parameters",
            "round once",
        ),
        "ignores zero points": Mistake(
            [(' - relay.const(float(operand.zero_point), "float32")', "")], "parameters", "zero point"
        ),
    },
    "leaky_relu": {
        "compares integers with zero": Mistake(
            [
                (
                    'relay.less(value, relay.const(0.0, "float32"))',
                    'relay.less(x.expr, relay.const(0, "int8"))',
                )
            ],
            "slope",
            "less than the *zero point*",
        ),
        "is the identity": Mistake(
            [('value * relay.const(alpha, "float32"), value', "value, value")], "slope", "alpha"
        ),
        "is a ReLU": Mistake([('relay.const(alpha, "float32")', "relay.const(0.0)")], "slope", "plain ReLU"),
        "multiplies positive numbers": Mistake(
            [("relay.less", "relay.greater")], "slope", "The positive numbers"
        ),
    },
}


@pytest.mark.parametrize(
    ("part", "mistake"), [(part, name) for part, names in WRONG.items() for name in names]
)
def test_mistake_gets_its_hint(part: str, mistake: str) -> None:
    check_mistake(EXERCISE, part, f"{EXERCISE}.{part}", WRONG[part][mistake])
