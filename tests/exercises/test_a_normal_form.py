"""The exercise `a_normal_form`: right answers pass, and every usual mistake is told by its name."""

from __future__ import annotations

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.ir.narrow import as_let
from relay_explorer.transform.normal_forms.to_a_normal_form import to_a_normal_form
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, tried


def test_the_solution_passes() -> None:
    feedback = check("a_normal_form", answer("a_normal_form", "a_normal_form"), seed=1, programs=15)
    assert feedback.passed, str(feedback)


def test_the_packages_own_pass_is_right() -> None:
    """It names constants and results too, which is more than is asked."""

    def own(function: relay.Function) -> relay.Function:
        result = to_a_normal_form(function)
        assert isinstance(result, relay.Function)
        return result

    feedback = check("a_normal_form", own, seed=2, programs=12)
    assert feedback.passed, str(feedback)


MEMO = "        if expr not in names:\n"
HOME = "names[expr] = line(blocks.home(expr), relay.var"
SIMPLE = "simple = isinstance(value, (*NAMES, relay.Let)) or value in names"
BIND = "                bind(expr)\n"
RESULT = "                names[expr] = named(expr.body)\n"
OPENED = "        opened = blocks.opened(expr)\n"
# Where a line goes if what an `if` opens is no block.
BEFORE = """place = blocks.home(expr)
                for owner in ifs:
                    if place in blocks.opened(owner).values():
                        place = blocks.home(owner)
                names[expr] = line(place, relay.var"""
IFS = """    ifs = []
    relay.analysis.post_order_visit(
        function, lambda e: ifs.append(e) if isinstance(e, relay.If) else None
    )
    names = {}"""
FIRST = "enumerate(children(expr)):\n            result"
WRONG = {
    "nothing": Mistake([("return operation(function)", "return function")], "arguments", "a line of its own"),
    "no function": Mistake(
        [("return operation(function)", "return operation(function).body")], "arguments", "not its body"
    ),
    "a line for each use": Mistake(
        [(MEMO, "        if expr not in names or not isinstance(expr, relay.Let):\n")],
        "shared",
        "What is shared gets one line",
    ),
    "backwards": Mistake([("in reversed(lines", "in (lines")], "arguments", "used before it is introduced"),
    "arguments from behind": Mistake(
        [
            (FIRST, "reversed(list(enumerate(children(expr)))):\n            result"),
            ("return rebuild(expr, parts)", "return rebuild(expr, parts[::-1])"),
        ],
        "lets",
        "effects in another order",
    ),
    "lets in lets": Mistake(
        [(SIMPLE, "simple = isinstance(value, NAMES) or value in names")], "lets", "The value of %"
    ),
    "the result first": Mistake(
        [(BIND + RESULT, RESULT + BIND)], "lets", "its line stands in the wrong place"
    ),
    "drops what is not used": Mistake(
        [(BIND, BIND.replace("bind", "if expr.var in relay.analysis.free_vars(expr.body): bind"))],
        "lets",
        "also what nobody uses",
    ),
    "no blocks": Mistake([(OPENED, "        opened = {}\n")], "arguments", "nothing introduces it"),
    "all in one block": Mistake(
        [
            (
                "    blocks = Blocks(function)\n",
                "    blocks = Blocks(function)\n    [top] = blocks.opened(function).values()\n"
                "    blocks.home = lambda expr: top\n",
            )
        ],
        "functions",
        "its line stands in the wrong place",
    ),
    "branches before the if": Mistake(
        [
            (OPENED, "        opened = {} if isinstance(expr, relay.If) else blocks.opened(expr)\n"),
            (HOME, BEFORE),
            ("    names = {}", IFS),
        ],
        "functions",
        "means something else",
        endless=True,
    ),
    "functions are names": Mistake(
        [("if isinstance(expr, NAMES):", "if isinstance(expr, (*NAMES, relay.Function)):")],
        "functions",
        "into functions, branches and clauses",
    ),
    "recursion by another name": Mistake(
        [(SIMPLE, "simple = True")], "functions", "`%f` is used before it is introduced"
    ),
}


def test_what_one_branch_needs_stays_in_it() -> None:
    """Also where no value would tell."""
    right = answer("a_normal_form", "a_normal_form")

    def early(function: relay.Function) -> relay.Function:
        output: relay.Function = right(function)
        result: list[relay.Expr] = []
        relay.analysis.post_order_visit(output, result.append)
        ifs = [e for e in result if isinstance(e, relay.If) and isinstance(e.false_branch, relay.Let)]
        if not ifs:
            return output
        inner = as_let(ifs[0].false_branch)
        if relay.analysis.free_vars(inner.value):
            return output

        class Lift(relay.ExprMutator):
            def visit_if(self, choice: relay.If) -> relay.Expr:
                if choice is not ifs[0]:
                    return super().visit_if(choice)
                return relay.If(choice.cond, choice.true_branch, inner.body)

        lifted = Lift().visit(output)
        assert isinstance(lifted, relay.Function)
        body = relay.Let(inner.var, inner.value, lifted.body)
        return relay.Function(lifted.params, body)

    feedback = check("a_normal_form", early, "branches")
    assert feedback.failure is not None
    assert "In a run, " in feedback.failure.hint, str(feedback)
    assert "What only one branch or one clause needs stands in it" in feedback.failure.hint


@pytest.mark.parametrize("name", WRONG)
def test_a_usual_mistake_is_named(name: str) -> None:
    tried("a_normal_form", "a_normal_form", "a_normal_form", WRONG[name])
