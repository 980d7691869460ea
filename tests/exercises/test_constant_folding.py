"""The exercise `constant_folding`: right answers pass, and every usual mistake is told by its name."""

from __future__ import annotations

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.ir import IRModule
from relay_explorer.transform import FoldConstant
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, tried


def test_the_solution_passes() -> None:
    feedback = check("constant_folding", answer("constant_folding", "fold_constants"), seed=1, programs=25)
    assert feedback.passed, str(feedback)


def test_the_packages_own_pass_computes_calls() -> None:
    """On programs without functions of the module, which it needs to infer types."""

    def own(function: relay.Function) -> relay.Function:
        module = FoldConstant()(IRModule.from_expr(function))
        result = module["main"]
        assert isinstance(result, relay.Function)
        return result

    feedback = check("constant_folding", own, "shared")
    assert feedback.passed, str(feedback)


CALL = "            call = super().visit_call(call)\n"
EVALUATE = "return evaluate(call) or call"
WRONG = {
    "nothing": Mistake(
        [("return Fold().visit(function)", "return function")], "calls", "on constants is left"
    ),
    "no result": Mistake(
        [("return Fold().visit(function)", "Fold().visit(function)")], "calls", "must return a function"
    ),
    "the body": Mistake([("visit(function)", "visit(function.body)")], "calls", "not its body"),
    "outside in": Mistake([(CALL, "")], "chains", "First rewrite the arguments"),
    "without arguments": Mistake([("if call.args and constant and", "if constant and")], "calls", ""),
    "None": Mistake([(EVALUATE, "return evaluate(call)")], "chains", "", programs=60),
    "variables": Mistake([("return known.get(var, var)", "return var")], "lets", ""),
    "let after body": Mistake(
        [
            (
                "                known[let.var] = value\n                return self.visit(let.body)\n",
                "                body = self.visit(let.body)\n                known[let.var] = value\n"
                "                return relay.Let(let.var, value, body)\n",
            )
        ],
        "lets",
        "variables bound to constants",
    ),
    "drops every let": Mistake(
        [("return relay.Let(let.var, value, self.visit(let.body))", "return self.visit(let.body)")],
        "lets",
        "",
    ),
    "the wrong branch": Mistake(
        [("if condition.data.item() else", "if not condition.data.item() else")],
        "branches",
        "means something else",
    ),
    "no branches": Mistake(
        [
            (
                "            if isinstance(condition, relay.Constant):\n"
                "                return self.visit(i.true_branch if condition.data.item() else "
                "i.false_branch)\n",
                "",
            )
        ],
        "branches",
        "whose condition is known",
    ),
    "both branches": Mistake(
        [
            (
                "return relay.If(condition, self.visit(i.true_branch), self.visit(i.false_branch))",
                "return self.visit(i.true_branch)",
            )
        ],
        "branches",
        "",
    ),
    "in place": Mistake(
        [(EVALUATE, "call.args = (evaluate(call) or call,)[:1]; return call.args[0]")], "calls", ""
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_usual_mistake_is_named(name: str) -> None:
    tried("constant_folding", "fold_constants", "constant_folding", WRONG[name])


def test_the_program_is_shown_before_and_after() -> None:
    wrong = answer("constant_folding", "fold_constants", (CALL, ""))
    feedback = check("constant_folding", wrong, "chains")
    assert feedback.picture is not None
    assert feedback.picture.view.kind == "pipeline"
    assert feedback.failure is not None
    assert len(feedback.failure.case.splitlines()) <= 8
