"""The checks of the exercise `a_normal_form`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.ir.narrow import as_let
from relay_explorer.transform.normal_forms.to_a_normal_form import to_a_normal_form
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake


def test_solution_passes() -> None:
    feedback = check("a_normal_form", answer("a_normal_form", "a_normal_form"), seed=1, programs=15)
    assert feedback.passed, str(feedback)


def test_accepts_package_pass() -> None:
    """The pass also binds constants and results, which the exercise does not require."""

    def package_pass(function: relay.Function) -> relay.Function:
        result = to_a_normal_form(function)
        assert isinstance(result, relay.Function)
        return result

    feedback = check("a_normal_form", package_pass, seed=2, programs=12)
    assert feedback.passed, str(feedback)


MEMO = "        if expr not in names:\n"
NAME_IN_SCOPE = "names[expr] = bind_new(blocks.home(expr), relay.var"
SIMPLE = "simple = isinstance(value, (*NAMES, relay.Let)) or value in names"
BIND = "                bind(expr)\n"
RESULT = "                names[expr] = named(expr.body)\n"
OPENED = "        opened = blocks.opened(expr)\n"
# Puts a binding outside the `if` instead of into the branch's scope.
BEFORE = """scope = blocks.home(expr)
                for owner in ifs:
                    if scope in blocks.opened(owner).values():
                        scope = blocks.home(owner)
                names[expr] = bind_new(scope, relay.var"""
IFS = """    ifs = []
    relay.analysis.post_order_visit(
        function, lambda e: ifs.append(e) if isinstance(e, relay.If) else None
    )
    names = {}"""
FIRST = "enumerate(children(expr)):\n            result"
WRONG = {
    "returns the input": Mistake(
        [("return operation(function)", "return function")], "arguments", "Bind it to a variable"
    ),
    "returns the body": Mistake(
        [("return operation(function)", "return operation(function).body")], "arguments", "not its body"
    ),
    "duplicates shared bindings": Mistake(
        [(MEMO, "        if expr not in names or not isinstance(expr, relay.Let):\n")],
        "shared",
        "A shared expression gets one binding",
    ),
    "reverses the bindings": Mistake(
        [("in reversed(bindings", "in (bindings")], "arguments", "used before it is introduced"
    ),
    "evaluates arguments right to left": Mistake(
        [
            (FIRST, "reversed(list(enumerate(children(expr)))):\n            result"),
            ("return rebuild(expr, parts)", "return rebuild(expr, parts[::-1])"),
        ],
        "lets",
        "side effects in another order",
    ),
    "nests lets in let values": Mistake(
        [(SIMPLE, "simple = isinstance(value, NAMES) or value in names")], "lets", "The value of %"
    ),
    "binds a let after its body": Mistake(
        [(BIND + RESULT, RESULT + BIND)], "lets", "its binding is in the wrong block"
    ),
    "drops unused bindings": Mistake(
        [(BIND, BIND.replace("bind", "if expr.var in relay.analysis.free_vars(expr.body): bind"))],
        "lets",
        "even one that is never used",
    ),
    "ignores scopes": Mistake([(OPENED, "        opened = {}\n")], "arguments", "nothing introduces it"),
    "uses a single scope": Mistake(
        [
            (
                "    blocks = Blocks(function)\n",
                "    blocks = Blocks(function)\n    [top] = blocks.opened(function).values()\n"
                "    blocks.home = lambda expr: top\n",
            )
        ],
        "functions",
        "its binding is in the wrong block",
    ),
    "hoists branches out of the if": Mistake(
        [
            (OPENED, "        opened = {} if isinstance(expr, relay.If) else blocks.opened(expr)\n"),
            (NAME_IN_SCOPE, BEFORE),
            ("    names = {}", IFS),
        ],
        "functions",
        "has a different meaning",
        endless=True,
    ),
    "treats functions as atoms": Mistake(
        [("if isinstance(expr, NAMES):", "if isinstance(expr, (*NAMES, relay.Function)):")],
        "functions",
        "functions, branches and clauses",
    ),
    "renames recursive functions": Mistake(
        [(SIMPLE, "simple = True")], "functions", "`%f` is used before it is introduced"
    ),
}


def test_rejects_hoisting_out_of_a_branch() -> None:
    """Also where the hoisting does not change the value."""
    solution = answer("a_normal_form", "a_normal_form")

    def hoisting(function: relay.Function) -> relay.Function:
        output: relay.Function = solution(function)
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

    feedback = check("a_normal_form", hoisting, "branches")
    assert feedback.failure is not None
    assert "At run time, " in feedback.failure.hint, str(feedback)
    assert "A value that only one branch or clause needs is computed in it" in feedback.failure.hint


@pytest.mark.parametrize("name", WRONG)
def test_hints_at_common_mistake(name: str) -> None:
    check_mistake("a_normal_form", "a_normal_form", "a_normal_form", WRONG[name])
