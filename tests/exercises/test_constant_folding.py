"""The checks of the exercise `constant_folding`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.ir import IRModule
from relay_explorer.transform import FoldConstant
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake


def test_solution_passes() -> None:
    feedback = check("constant_folding", answer("constant_folding", "fold_constants"), seed=1, programs=25)
    assert feedback.passed, str(feedback)


def test_accepts_package_pass_on_calls() -> None:
    """On programs that call no global function, because the pass needs the module to infer types."""

    def package_pass(function: relay.Function) -> relay.Function:
        module = FoldConstant()(IRModule.from_expr(function))
        result = module["main"]
        assert isinstance(result, relay.Function)
        return result

    feedback = check("constant_folding", package_pass, "shared")
    assert feedback.passed, str(feedback)


CALL = "            call = super().visit_call(call)\n"
EVALUATE = "return evaluate(call) or call"
WRONG = {
    "returns the input": Mistake(
        [("return Fold().visit(function)", "return function")], "calls", "with constant arguments is left"
    ),
    "returns nothing": Mistake(
        [("return Fold().visit(function)", "Fold().visit(function)")], "calls", "must return a function"
    ),
    "returns the body": Mistake([("visit(function)", "visit(function.body)")], "calls", "not its body"),
    "does not fold arguments first": Mistake([(CALL, "")], "chains", "Rewrite the arguments first"),
    "folds calls without arguments": Mistake(
        [("if call.args and constant and", "if constant and")], "calls", ""
    ),
    "replaces other calls with None": Mistake(
        [(EVALUATE, "return evaluate(call)")], "chains", "", programs=60
    ),
    "does not propagate constants through variables": Mistake(
        [("return known.get(var, var)", "return var")], "lets", ""
    ),
    "visits the body before the value": Mistake(
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
    "takes the wrong branch": Mistake(
        [("if condition.data.item() else", "if not condition.data.item() else")],
        "branches",
        "has a different meaning",
    ),
    "keeps both branches of a constant condition": Mistake(
        [
            (
                "            if isinstance(condition, relay.Constant):\n"
                "                return self.visit(i.true_branch if condition.data.item() else "
                "i.false_branch)\n",
                "",
            )
        ],
        "branches",
        "with a constant condition",
    ),
    "takes the true branch of a dynamic condition": Mistake(
        [
            (
                "return relay.If(condition, self.visit(i.true_branch), self.visit(i.false_branch))",
                "return self.visit(i.true_branch)",
            )
        ],
        "branches",
        "",
    ),
    "modifies the call": Mistake(
        [(EVALUATE, "call.args = (evaluate(call) or call,)[:1]; return call.args[0]")], "calls", ""
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_hints_at_common_mistake(name: str) -> None:
    check_mistake("constant_folding", "fold_constants", "constant_folding", WRONG[name])


def test_shows_program_before_and_after() -> None:
    wrong = answer("constant_folding", "fold_constants", (CALL, ""))
    feedback = check("constant_folding", wrong, "chains")
    assert feedback.picture is not None
    assert feedback.picture.view.kind == "pipeline"
    assert feedback.failure is not None
    assert len(feedback.failure.case.splitlines()) <= 8
