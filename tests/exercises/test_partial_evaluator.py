"""The checks of the exercise `partial_evaluator`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import random

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.grading.partial_evaluator.programs import ends, programs
from relay_explorer.ir import GlobalVar, IRModule
from relay_explorer.text import parse
from relay_explorer.transform import DeadCodeElimination, PartialEvaluate, Sequential
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake

Functions = dict[str, relay.Function]
VISIT_LET = (
    "            self.values[let.var] = self.visit(let.value)\n            return self.visit(let.body)\n"
)


def test_solution_passes() -> None:
    feedback = check(
        "partial_evaluator", answer("partial_evaluator", "partial_evaluate"), seed=1, programs=15
    )
    assert feedback.passed, str(feedback)


def test_accepts_answer_that_keeps_lets() -> None:
    """Each copy gets a new variable, because a function's body may be unfolded in several places."""
    keeping_lets = answer(
        "partial_evaluator", "partial_evaluate",
        (
            VISIT_LET,
            "            value = self.visit(let.value)\n"
            "            if isinstance(value, relay.Constant):\n"
            "                self.values[let.var] = value\n"
            "                return self.visit(let.body)\n"
            "            self.values[let.var] = relay.Var(let.var.name_hint)\n"
            "            return relay.Let(self.values[let.var], value, self.visit(let.body))\n",
        ),
    )  # fmt: skip
    feedback = check("partial_evaluator", keeping_lets, programs=10)
    assert feedback.passed, str(feedback)


def test_accepts_package_pass() -> None:
    def package_pass(function: relay.Function, functions: Functions) -> relay.Function:
        calls: list[relay.Expr] = []
        for each in (function, *functions.values()):
            relay.analysis.post_order_visit(each, calls.append)
        names = {c.name_hint: c for c in calls if isinstance(c, GlobalVar)}
        module = IRModule({names.get(name, GlobalVar(name)): f for name, f in functions.items()})
        module[GlobalVar("main")] = function
        passes = [PartialEvaluate(), DeadCodeElimination(inline_once=True)]
        result = Sequential(passes)(module)["main"]
        assert isinstance(result, relay.Function)
        return result

    for part in ("functions", "recursion"):
        feedback = check("partial_evaluator", package_pass, part, programs=15)
        assert feedback.passed, str(feedback)


VISIT_LET = (
    "            self.values[let.var] = self.visit(let.value)\n            return self.visit(let.body)\n"
)
CALLEE = "return Evaluate(zip(callee.params, args)).visit(callee.body)"
WRONG = {
    "returns the input": Mistake(
        [("body = Evaluate().visit(function.body)", "body = function.body")],
        "arithmetic", "Evaluate the arguments first",
    ),
    "returns the body": Mistake(
        [("return relay.Function(function.params, body, function.ret_type)", "return body")],
        "arithmetic", "not its body",
    ),
    "drops the parameters": Mistake(
        [("relay.Function(function.params, body", "relay.Function(function.params[:0], body")],
        "arithmetic", "",
    ),
    "does not evaluate arguments first": Mistake(
        [("args = [self.visit(arg) for arg in call.args]", "args = list(call.args)")], "arithmetic", "",
    ),
    "does not propagate constants through variables": Mistake(
        [(VISIT_LET, "            return relay.Let(let.var, self.visit(let.value), self.visit(let.body))\n")],
        "arithmetic", "its variable stands for the constant",
    ),
    "takes the wrong branch": Mistake(
        [("if condition.data.item() else", "if not condition.data.item() else")],
        "branches", "has a different meaning",
    ),
    "takes the true branch of a dynamic condition": Mistake(
        [("            return relay.If(condition, self.visit(i.true_branch), self.visit(i.false_branch))\n",
          "            return self.visit(i.true_branch)\n")],
        "branches", "has a different meaning",
    ),
    "does not visit the branches of a dynamic condition": Mistake(
        [("relay.If(condition, self.visit(i.true_branch), self.visit(i.false_branch))",
          "relay.If(condition, i.true_branch, i.false_branch)")],
        "branches", "",
    ),
    "never unfolds calls": Mistake(
        [("                if isinstance(args[0], relay.Constant):\n", "                if False:\n")],
        "functions", "Replace it with the evaluated body",
    ),
    "shares one environment between calls": Mistake(
        [(CALLEE, "self.values.update(zip(callee.params, args)); return self.visit(callee.body)")],
        "functions", "",
    ),
    "passes unevaluated arguments": Mistake(
        [(CALLEE, "return Evaluate(zip(callee.params, call.args)).visit(callee.body)")], "functions", "",
    ),
    "unfolds every call": Mistake(
        [("                if isinstance(args[0], relay.Constant):\n", "                if True:\n")],
        "recursion", "What does it call itself on here?",
    ),
    "duplicates argument expressions": Mistake(
        [("            new = relay.Call(call.op, args, call.attrs)\n",
          "            args = [relay.Call(a.op, a.args) if isinstance(a, relay.Call) else a for a in args]\n"
          "            new = relay.Call(call.op, args, call.attrs)\n")],
        "once", "more often than before",
    ),
    "replaces operators": Mistake(
        [("            return (constant and evaluate(new)) or new\n",
          "            if call.op.name == 'negative' and not constant:\n"
          "                return relay.subtract(relay.const(0), args[0])\n"
          "            return (constant and evaluate(new)) or new\n")],
        "arithmetic", "stay as they are",
    ),
    "modifies the call": Mistake(
        [("            new = relay.Call(call.op, args, call.attrs)\n",
          "            call.args = tuple(args); new = call\n")],
        "arithmetic", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_hints_at_common_mistake(name: str) -> None:
    feedback = check_mistake("partial_evaluator", "partial_evaluate", "partial_evaluator", WRONG[name])
    assert feedback.failure is not None
    assert len(feedback.failure.case.splitlines()) <= 24, "the program is small"


def test_generated_programs_terminate() -> None:
    rng = random.Random(0)
    result = list(programs(rng, 60, lets=True, branches=True, calls=2))
    assert all(map(ends, result))
    assert sum("@down(" in module.astext().partition("@main")[2] for module in result) > 15
    for text in (
        "def @f(%n: int32) -> int32 { @f(%n) } def @main(%x: int32) { @f(1) }",
        "def @f(%n: int32) -> int32 { if (less(%n, 1)) { @f(%n) } else { 1 } } "
        "def @main(%x: int32) { @f(1) }",
        "def @f(%n: int32) -> int32 { if (less(%n, 1)) { 1 } else { @f(subtract(%n, 0)) } } "
        "def @main(%x: int32) { @f(1) }",
        "def @f(%n: int32) -> int32 { @g(%n) } def @g(%n: int32) -> int32 { @f(%n) } "
        "def @main(%x: int32) { @f(1) }",
        "def @main(%x: int32) -> int32 { @main(%x) }",
    ):
        assert not ends(parse(text))
