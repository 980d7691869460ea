"""The exercise `partial_evaluator`: right answers pass, and every usual mistake is told by its name."""

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
from tests.exercises.mistakes import Mistake, tried

Functions = dict[str, relay.Function]
VISIT_LET = (
    "            self.given[let.var] = self.visit(let.value)\n            return self.visit(let.body)\n"
)


def test_the_solution_passes() -> None:
    feedback = check(
        "partial_evaluator", answer("partial_evaluator", "partial_evaluate"), seed=1, programs=15
    )
    assert feedback.passed, str(feedback)


def test_lets_may_stay() -> None:
    """Each with a variable of its own: a function's body may come to stand in several places."""
    keeps = answer(
        "partial_evaluator", "partial_evaluate",
        (
            VISIT_LET,
            "            value = self.visit(let.value)\n"
            "            if isinstance(value, relay.Constant):\n"
            "                self.given[let.var] = value\n"
            "                return self.visit(let.body)\n"
            "            self.given[let.var] = relay.Var(let.var.name_hint)\n"
            "            return relay.Let(self.given[let.var], value, self.visit(let.body))\n",
        ),
    )  # fmt: skip
    feedback = check("partial_evaluator", keeps, programs=10)
    assert feedback.passed, str(feedback)


def test_the_packages_own_pass_is_a_right_answer() -> None:
    def own(function: relay.Function, functions: Functions) -> relay.Function:
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
        feedback = check("partial_evaluator", own, part, programs=15)
        assert feedback.passed, str(feedback)


VISIT_LET = (
    "            self.given[let.var] = self.visit(let.value)\n            return self.visit(let.body)\n"
)
CALLEE = "return Evaluate(zip(callee.params, args)).visit(callee.body)"
WRONG = {
    "nothing": Mistake(
        [("body = Evaluate().visit(function.body)", "body = function.body")],
        "arithmetic", "First evaluate the arguments",
    ),
    "the body": Mistake(
        [("return relay.Function(function.params, body, function.ret_type)", "return body")],
        "arithmetic", "not its body",
    ),
    "other parameters": Mistake(
        [("relay.Function(function.params, body", "relay.Function(function.params[:0], body")],
        "arithmetic", "",
    ),
    "outside in": Mistake(
        [("args = [self.visit(arg) for arg in call.args]", "args = list(call.args)")], "arithmetic", "",
    ),
    "variables": Mistake(
        [(VISIT_LET, "            return relay.Let(let.var, self.visit(let.value), self.visit(let.body))\n")],
        "arithmetic", "its variable stands for it",
    ),
    "the wrong branch": Mistake(
        [("if condition.data.item() else", "if not condition.data.item() else")],
        "branches", "means something else",
    ),
    "both branches": Mistake(
        [("            return relay.If(condition, self.visit(i.true_branch), self.visit(i.false_branch))\n",
          "            return self.visit(i.true_branch)\n")],
        "branches", "means something else",
    ),
    "an unknown choice is left alone": Mistake(
        [("relay.If(condition, self.visit(i.true_branch), self.visit(i.false_branch))",
          "relay.If(condition, i.true_branch, i.false_branch)")],
        "branches", "",
    ),
    "no calls": Mistake(
        [("                if isinstance(args[0], relay.Constant):\n", "                if False:\n")],
        "functions", "Evaluate the body of the function in its place",
    ),
    "one visitor for all": Mistake(
        [(CALLEE, "self.given.update(zip(callee.params, args)); return self.visit(callee.body)")],
        "functions", "",
    ),
    "arguments as they are written": Mistake(
        [(CALLEE, "return Evaluate(zip(callee.params, call.args)).visit(callee.body)")], "functions", "",
    ),
    "every call": Mistake(
        [("                if isinstance(args[0], relay.Constant):\n", "                if True:\n")],
        "recursion", "On what does it call itself here?",
    ),
    "twice": Mistake(
        [("            new = relay.Call(call.op, args, call.attrs)\n",
          "            args = [relay.Call(a.op, a.args) if isinstance(a, relay.Call) else a for a in args]\n"
          "            new = relay.Call(call.op, args, call.attrs)\n")],
        "once", "more often than before",
    ),
    "another operator": Mistake(
        [("            return (constant and evaluate(new)) or new\n",
          "            if call.op.name == 'negative' and not constant:\n"
          "                return relay.subtract(relay.const(0), args[0])\n"
          "            return (constant and evaluate(new)) or new\n")],
        "arithmetic", "stays as it is written",
    ),
    "in place": Mistake(
        [("            new = relay.Call(call.op, args, call.attrs)\n",
          "            call.args = tuple(args); new = call\n")],
        "arithmetic", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_usual_mistake_is_named(name: str) -> None:
    feedback = tried("partial_evaluator", "partial_evaluate", "partial_evaluator", WRONG[name])
    assert feedback.failure is not None
    assert len(feedback.failure.case.splitlines()) <= 24, "the program is small"


def test_programs_end_and_what_may_not_is_not_tried() -> None:
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
