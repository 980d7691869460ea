"""The checks of the exercise `operator_gradient`: solutions pass, and each common mistake gets its hint."""

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
from tests.exercises.mistakes import Mistake, check_mistake

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
def test_solution_passes(part: str, seed: int) -> None:
    feedback = check(f"{EXERCISE}.{part}", answer(EXERCISE, f"{part}_rule"), seed=seed, programs=60)
    assert feedback.passed, str(feedback)


@pytest.mark.parametrize("part", ["sigmoid", "multiply", "mean", "softmax"])
def test_accepts_package_rule(part: str) -> None:
    """Package rules may also return tuples and None."""
    op = Op.get({"softmax": "nn.softmax"}.get(part, part))
    assert check(f"{EXERCISE}.{part}", op.get_attr("FPrimalGradient")).passed


WRONG = {
    "uses the argument instead of the value": (
        "sigmoid",
        Mistake(
            [
                (
                    "* call * (relay.ones_like(call) - call)",
                    "* call.args[0] * (relay.ones_like(call) - call.args[0])",
                )
            ],
            "slope",
            "the *value* of sigmoid",
        ),
    ),
    "omits one factor of the slope": (
        "sigmoid",
        Mistake([("grad * call * ", "grad * ")], "slope", "y is the other"),
    ),
    "uses the derivative of exp": (
        "sigmoid",
        Mistake([(" * (relay.ones_like(call) - call)", "")], "slope", "exp is its own derivative"),
    ),
    "ignores the incoming gradient": (
        "sigmoid",
        Mistake([("return [grad * call", "return [call")], "slope", "`grad`, the derivative"),
    ),
    "returns an expression without a list": (
        "sigmoid",
        Mistake([(SIGMOID, SIGMOID.replace("[", "(").replace("]", ")"))], "slope", "a list of one"),
    ),
    "returns nothing": (
        "sigmoid",
        Mistake([(SIGMOID, SIGMOID.removeprefix("return "))], "slope", "must return"),
    ),
    "returns a Python number": (
        "sigmoid",
        Mistake([(SIGMOID, "return [0.25]")], "slope", "not a number that Python computes"),
    ),
    "uses a float32 constant": (
        "sigmoid",
        Mistake([("relay.ones_like(call)", "relay.const(1.0)")], "slope", "`relay.const(1.0)` is float32"),
    ),
    "returns None for a used argument": (
        "sigmoid",
        Mistake([(SIGMOID, "return [None]")], "slope", "means that y does not depend on x"),
    ),
    "negates the slope": (
        "sigmoid",
        Mistake(
            [("(relay.ones_like(call) - call)", "(call - relay.ones_like(call))")], "slope", "the wrong sign"
        ),
    ),
    "exchanges the arguments": (
        "multiply",
        Mistake(
            [("(grad * b, a)", "(grad * a, a)"), ("(grad * a, b)", "(grad * b, b)")],
            "same",
            "if a changes, y changes b times as much",
        ),
    ),
    "does not sum broadcast axes": (
        "multiply",
        Mistake([(MULTIPLY, "return [grad * b, grad * a]")], "broadcast", "`relay.collapse_sum_like(…, b)`"),
    ),
    "returns one gradient for two arguments": (
        "multiply",
        Mistake([(MULTIPLY, "return [grad * b]")], "same", "one for each argument: a, b"),
    ),
    "does not divide the mean": ("mean", Mistake([(SHARE, "share = grad")], "all", "The mean divides")),
    "divides by the size of x": (
        "mean",
        Mistake(
            [
                ("count *= int(shape[a])", "count = int(np.prod([int(n) for n in shape]))"),
                ("(x,) = call.args", "(x,) = call.args; import numpy as np"),
            ],
            "axes",
            "not by the number of elements of x",
        ),
    ),
    "does not broadcast the gradient": (
        "mean",
        Mistake([(MEAN, "return [share]")], "all", "`relay.broadcast_to_like(…, x)`"),
    ),
    "does not restore reduced axes": (
        "mean",
        Mistake([("if not call.attrs.keepdims:", "if False:")], "axes", "`relay.expand_dims`"),
    ),
    "ignores the other softmax outputs": (
        "softmax",
        Mistake(
            [(SOFTMAX, "return [grad * call * (relay.ones_like(call) - call)]")],
            "last",
            "therefore includes the `grad` of the others",
        ),
    ),
    "does not weight the sum": (
        "softmax",
        Mistake([("relay.sum(grad * call", "relay.sum(grad")], "last", "weighted by its y"),
    ),
    "does not multiply by the value": (
        "softmax",
        Mistake([(SOFTMAX, "return [grad - total]")], "last", "At the end"),
    ),
    "ignores the axis attribute": (
        "softmax",
        Mistake([("axis=[call.attrs.axis]", "axis=[-1]")], "axis", "The axis is an attribute"),
    ),
    "drops the reduced axis": ("softmax", Mistake([(", keepdims=True", "")], "last", "need `keepdims=True`")),
    "exchanges the weights of a blend": (
        "blend",
        Mistake(
            [(BLEND, "return [grad * t, grad * (relay.ones_like(t) - t), grad * (b - a)]")],
            "three",
            "the weight of b",
        ),
    ),
    "ignores the second occurrence of a": (
        "blend",
        Mistake([("grad * (relay.ones_like(t) - t)", "grad")], "three", "a occurs twice"),
    ),
    "negates the gradient of t": (
        "blend",
        Mistake([("grad * (b - a)", "grad * (a - b)")], "three", "with respect to t has the wrong sign"),
    ),
    "returns None for t": (
        "blend",
        Mistake([("grad * (b - a)", "None")], "three", "with respect to t is zero"),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_hints_at_common_mistake(name: str) -> None:
    part, mistake = WRONG[name]
    feedback = check_mistake(EXERCISE, f"{part}_rule", f"{EXERCISE}.{part}", mistake)
    assert feedback.picture is not None
    assert feedback.failure is not None
    assert len(feedback.failure.case.splitlines()) <= 5


def test_reports_difference_quotients() -> None:
    wrong = answer(EXERCISE, "sigmoid_rule", ("grad * call * ", "grad * "))
    feedback = check(f"{EXERCISE}.sigmoid", wrong)
    assert feedback.failure is not None
    assert feedback.failure.case == (
        "y = sigmoid(x), where\nx = [1.6]   # Tensor[(1), float64]\ndy = [-1.1]   # Tensor[(1), float64]"
    )
    y = 1 / (1 + np.exp(-1.6))
    assert feedback.failure.expected == f"dx = [{-1.1 * y * (1 - y):.4f}]"
    assert feedback.failure.got == f"dx = [{-1.1 * (1 - y):.4f}]"


def test_draws_rule_of_failing_case() -> None:
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


def test_keeps_declared_rules() -> None:
    def broken(call: Any, grad: Any) -> Any:
        raise ValueError("not today")

    feedback = check(f"{EXERCISE}.multiply", broken)
    assert feedback.failure is not None
    assert "ValueError: not today" in feedback.failure.got
    for name in ("sigmoid", "multiply", "mean", "nn.softmax"):
        assert Op.get(name).get_attr("FPrimalGradient") is declared_rule(Op.get(name))
    assert "blend" not in Op.list_op_names()


@pytest.mark.parametrize("part", ARGUMENTS)
def test_example_opens_in_gradient_explorer(part: str) -> None:
    explorer = explore(example(part, answer(EXERCISE, f"{part}_rule")), view="gradient")
    assert explorer.view.kind == "gradient"
    with pytest.raises(ValueError, match="there is no part 'tanh'"):
        example("tanh", lambda call, grad: [grad])


def test_rules_of_mistakes_differ_from_solution() -> None:
    """Otherwise a right answer would get a hint about a mistake."""
    cases = {
        "sigmoid": Case("sigmoid", ((3,),)),
        "multiply": Case("multiply", ((2, 3), (2, 3))),
        "mean": Case("mean", ((2, 3),), (("axis", [1]),)),
        "softmax": Case("softmax", ((2, 3),), (("axis", 0),)),
        "blend": Case("blend", ((3,),) * 3),
    }
    for part, mistakes in MISTAKES.items():
        expected = quotients(cases[part])
        assert same(derivatives(cases[part], answer(EXERCISE, f"{part}_rule"))[1], expected)
        for rule, hint in mistakes:
            with contextlib.suppress(RelayError):  # a rule may also have a wrong shape
                assert not same(derivatives(cases[part], Watched(rule))[1], expected), hint


def test_rule_of_registered_operator_is_used() -> None:
    """A rule of the exercise's form, set by `set_attr`, differentiates a registered operator."""
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
