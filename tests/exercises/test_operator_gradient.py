"""The exercise `operator_gradient`: right rules pass, and every usual mistake is told by its name."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from relay_explorer import explore, relay
from relay_explorer.grading import check
from relay_explorer.grading.operator_gradient import ARGUMENTS, Case, Watched, example
from relay_explorer.grading.operator_gradient.checks import derivatives, quotients, same
from relay_explorer.grading.operator_gradient.hints import MISTAKES
from relay_explorer.ir import Op
from relay_explorer.ir.errors import RelayError
from relay_explorer.ops.relation import IDENTITY
from relay_explorer.transform.gradients import declared_rule
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, tried

EXERCISE = "operator_gradient"
SIGMOID = "return [grad * call * (relay.ones_like(call) - call)]"
MULTIPLY = "return [relay.collapse_sum_like(grad * b, a), relay.collapse_sum_like(grad * a, b)]"
MEAN = "return [relay.broadcast_to_like(share, x)]"
SHARE = "share = grad / relay.const(float(count), x.checked_type.dtype)"
TOTAL = "total = relay.sum(grad * call, axis=[call.attrs.axis], keepdims=True)"
SOFTMAX = "return [(grad - total) * call]"
BLEND = "return [grad * (relay.ones_like(t) - t), grad * t, grad * (b - a)]"


@pytest.mark.parametrize("part", ARGUMENTS)
@pytest.mark.parametrize("seed", range(2))
def test_the_solution_passes(part: str, seed: int) -> None:
    feedback = check(f"{EXERCISE}.{part}", answer(EXERCISE, f"{part}_rule"), seed=seed, programs=60)
    assert feedback.passed, str(feedback)


@pytest.mark.parametrize("part", ["sigmoid", "multiply", "mean", "softmax"])
def test_the_packages_own_rule_passes(part: str) -> None:
    """It is written in another way, and gives tuples and None where a list is meant, too."""
    op = Op.get({"softmax": "nn.softmax"}.get(part, part))
    assert check(f"{EXERCISE}.{part}", op.get_attr("FPrimalGradient")).passed


WRONG = {
    "of what went in": (
        "sigmoid",
        Mistake(
            [
                (
                    "* call * (relay.ones_like(call) - call)",
                    "* call.args[0] * (relay.ones_like(call) - call.args[0])",
                )
            ],
            "slope",
            "about the *value* of sigmoid",
        ),
    ),
    "half of the slope": ("sigmoid", Mistake([("grad * call * ", "grad * ")], "slope", "y is the other")),
    "as exp": (
        "sigmoid",
        Mistake([(" * (relay.ones_like(call) - call)", "")], "slope", "exp is its own slope"),
    ),
    "without what comes": (
        "sigmoid",
        Mistake([("return [grad * call", "return [call")], "slope", "`grad`, the derivative"),
    ),
    "not a list": (
        "sigmoid",
        Mistake([(SIGMOID, SIGMOID.replace("[", "(").replace("]", ")"))], "slope", "a list of one"),
    ),
    "no return": ("sigmoid", Mistake([(SIGMOID, SIGMOID.removeprefix("return "))], "slope", "must return")),
    "a number": ("sigmoid", Mistake([(SIGMOID, "return [0.25]")], "slope", "nothing that is computed now")),
    "a constant of float32": (
        "sigmoid",
        Mistake([("relay.ones_like(call)", "relay.const(1.0)")], "slope", "`relay.const(1.0)` is float32"),
    ),
    "nothing": (
        "sigmoid",
        Mistake([(SIGMOID, "return [None]")], "slope", "says that y does not move with x"),
    ),
    "the wrong sign": (
        "sigmoid",
        Mistake(
            [("(relay.ones_like(call) - call)", "(call - relay.ones_like(call))")], "slope", "the wrong sign"
        ),
    ),
    "exchanged": (
        "multiply",
        Mistake(
            [("(grad * b, a)", "(grad * a, a)"), ("(grad * a, b)", "(grad * b, b)")],
            "same",
            "if a moves, y moves by b times as much",
        ),
    ),
    "not summed": (
        "multiply",
        Mistake([(MULTIPLY, "return [grad * b, grad * a]")], "broadcast", "`relay.collapse_sum_like(…, b)`"),
    ),
    "one for two": (
        "multiply",
        Mistake([(MULTIPLY, "return [grad * b]")], "same", "one for each argument: a, b"),
    ),
    "not divided": ("mean", Mistake([(SHARE, "share = grad")], "all", "The mean divides")),
    "divided by all": (
        "mean",
        Mistake(
            [
                ("count *= int(shape[a])", "count = int(np.prod([int(n) for n in shape]))"),
                ("(x,) = call.args", "(x,) = call.args; import numpy as np"),
            ],
            "axes",
            "not by how many x has",
        ),
    ),
    "not stretched": ("mean", Mistake([(MEAN, "return [share]")], "all", "`relay.broadcast_to_like(…, x)`")),
    "axes not put back": (
        "mean",
        Mistake([("if not call.attrs.keepdims:", "if False:")], "axes", "`relay.expand_dims`"),
    ),
    "each by itself": (
        "softmax",
        Mistake(
            [(SOFTMAX, "return [grad * call * (relay.ones_like(call) - call)]")],
            "last",
            "So what came to the others",
        ),
    ),
    "not weighted": (
        "softmax",
        Mistake([("relay.sum(grad * call", "relay.sum(grad")], "last", "weighted by its y"),
    ),
    "not multiplied": ("softmax", Mistake([(SOFTMAX, "return [grad - total]")], "last", "At the end")),
    "always the last axis": (
        "softmax",
        Mistake([("axis=[call.attrs.axis]", "axis=[-1]")], "axis", "The axis is an attribute"),
    ),
    "the axis gone": ("softmax", Mistake([(", keepdims=True", "")], "last", "need `keepdims=True`")),
    "how much of which": (
        "blend",
        Mistake(
            [(BLEND, "return [grad * t, grad * (relay.ones_like(t) - t), grad * (b - a)]")],
            "three",
            "how much of b",
        ),
    ),
    "a once": ("blend", Mistake([("grad * (relay.ones_like(t) - t)", "grad")], "three", "in two places")),
    "backwards": (
        "blend",
        Mistake([("grad * (b - a)", "grad * (a - b)")], "three", "by t has the wrong sign"),
    ),
    "t does not matter": ("blend", Mistake([("grad * (b - a)", "None")], "three", "by t is zero")),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_usual_mistake_is_named(name: str) -> None:
    part, mistake = WRONG[name]
    feedback = tried(EXERCISE, f"{part}_rule", f"{EXERCISE}.{part}", mistake)
    assert feedback.picture is not None
    assert feedback.failure is not None
    assert len(feedback.failure.case.splitlines()) <= 5


def test_numbers_are_shown_beside_difference_quotients() -> None:
    wrong = answer(EXERCISE, "sigmoid_rule", ("grad * call * ", "grad * "))
    feedback = check(f"{EXERCISE}.sigmoid", wrong)
    assert feedback.failure is not None
    assert feedback.failure.case == (
        "y = sigmoid(x), where\nx = [1.6]   # Tensor[(1), float64]\ndy = [-1.1]   # Tensor[(1), float64]"
    )
    y = 1 / (1 + np.exp(-1.6))
    assert feedback.failure.expected == f"dx = [{-1.1 * y * (1 - y):.4f}]"
    assert feedback.failure.got == f"dx = [{-1.1 * (1 - y):.4f}]"


def test_the_rule_is_drawn_as_it_was_asked() -> None:
    feedback = check(
        f"{EXERCISE}.softmax", answer(EXERCISE, "softmax_rule", (SOFTMAX, "return [grad - total]"))
    )
    assert feedback.picture is not None
    assert feedback.picture.view.kind == "gradient"
    message = str(feedback.picture.view.to_dict()["strings"])
    assert "rule: set for {0}" in message
    assert "%d_x = subtract" in "".join(
        t.text
        for line in feedback.picture.view.lines
        for t in line.tokens  # a gradient view
    )


def test_the_operators_themselves_are_left_as_they_are() -> None:
    def broken(call: Any, grad: Any) -> Any:
        raise ValueError("not today")

    feedback = check(f"{EXERCISE}.multiply", broken)
    assert feedback.failure is not None
    assert "ValueError: not today" in feedback.failure.got
    for name in ("sigmoid", "multiply", "mean", "nn.softmax"):
        assert Op.get(name).get_attr("FPrimalGradient") is declared_rule(Op.get(name))
    assert "blend" not in Op.list_op_names()


@pytest.mark.parametrize("part", ARGUMENTS)
def test_an_example_can_be_stepped_through(part: str) -> None:
    shown = explore(example(part, answer(EXERCISE, f"{part}_rule")), view="gradient")
    assert shown.view.kind == "gradient"
    with pytest.raises(ValueError, match="there is no part 'tanh'"):
        example("tanh", lambda call, grad: [grad])


def test_a_rule_of_a_mistake_differs_from_a_right_one() -> None:
    """Otherwise its hint would be given for something else."""
    cases = {
        "sigmoid": Case("sigmoid", ((3,),)),
        "multiply": Case("multiply", ((2, 3), (2, 3))),
        "mean": Case("mean", ((2, 3),), (("axis", [1]),)),
        "softmax": Case("softmax", ((2, 3),), (("axis", 0),)),
        "blend": Case("blend", ((3,),) * 3),
    }
    for part, mistakes in MISTAKES.items():
        right = quotients(cases[part])
        assert same(derivatives(cases[part], answer(EXERCISE, f"{part}_rule"))[1], right)
        for rule, hint in mistakes:
            with contextlib.suppress(RelayError):  # one that does not even fit
                assert not same(derivatives(cases[part], Watched(rule))[1], right), hint


def test_a_rule_for_an_operator_of_ones_own_trains() -> None:
    """What the exercise asks for is what the compiler takes: by `set_attr`, for a registered operator."""
    relay.op.register("thrice", "Three times as much.")
    try:
        op = relay.op.get("thrice")
        op.inputs, op.relation = ("data",), IDENTITY
        op.set_attr("FPrimalGradient", lambda call, grad: [grad * relay.const(3.0)])
        x = relay.var("x", shape=())
        result = relay.transform.gradient(relay.Function([x], relay.Call(op, [x])), mode="first_order")
        assert "multiply" in relay.IRModule.from_expr(result).astext()
    finally:
        Op.unregister("thrice")
