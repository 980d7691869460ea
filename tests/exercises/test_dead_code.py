"""The exercise `dead_code`: right answers pass, and every usual mistake is told by its name."""

from __future__ import annotations

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.ir import children, rebuild
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, tried


def test_the_solution_passes() -> None:
    feedback = check("dead_code", answer("dead_code", "sweep"), seed=1, programs=20)
    assert feedback.passed, str(feedback)


def test_another_way_is_right() -> None:
    """From the leaves to the root: a `let` goes if its variable is not free in what is left of its body."""

    def sweep(function: relay.Function) -> relay.Function:
        order: list[relay.Expr] = []
        relay.analysis.post_order_visit(function, order.append)
        memo: dict[relay.Expr, relay.Expr] = {}
        for expr in order:
            parts = [memo[part] for part in children(expr)]
            memo[expr] = rebuild(expr, parts)
            if isinstance(expr, relay.Let):
                var, value, body = parts
                used = var in relay.analysis.free_vars(body)
                if not used and not _acts(value):
                    memo[expr] = body
        result = memo[function]
        assert isinstance(result, relay.Function)
        return result

    feedback = check("dead_code", sweep, seed=2, programs=15)
    assert feedback.passed, str(feedback)


def _acts(expr: relay.Expr) -> bool:
    if isinstance(expr, relay.Function):
        return False
    if isinstance(expr, relay.Call) and not isinstance(expr.op, (relay.Op, relay.Constructor)):
        return True
    return isinstance(expr, relay.RefWrite) or any(map(_acts, children(expr)))


CALLED = "not isinstance(expr.op, (relay.Op, relay.Constructor))"
INSIDE = "() if isinstance(expr, relay.Function) else children(expr)"
FOLLOW = "                pending.append(values[expr])\n"
WRONG = {
    "nothing": Mistake([("return Sweep().visit(function)", "return function")], "unused", "Nobody uses"),
    "the body": Mistake(
        [("Sweep().visit(function)", "Sweep().visit(function.body)")], "unused", "not its body"
    ),
    "outermost only": Mistake([("return self.visit(let.body)", "return let.body")], "unused", "Nobody uses"),
    "every let": Mistake([("if let.var not in needed:", "if True:")], "unused", ""),
    "counts uses": Mistake(
        [
            (
                "    needed = set()\n",
                "    needed = {part for expr in order if not isinstance(expr, relay.Let) for part in "
                "children(expr)} | {e.body for e in order if isinstance(e, relay.Let)} | "
                "{e.value for e in order if isinstance(e, relay.Let)} | "
                "{e.var for e in order if isinstance(e, relay.Let) and e.value in acts}\n",
            ),
            ("    pending = [function]\n", "    pending = []\n"),
        ],
        "chains",
        "only by what is not needed either",
    ),
    "no writes": Mistake([(" or isinstance(expr, relay.RefWrite)", "")], "writes", "There is a write in it"),
    "writes at the top only": Mistake(
        [
            (" or any(part in acts for part in parts)", ""),
        ],
        "writes",
        "Look into all parts of the value",
    ),
    "not what they need": Mistake(
        [("                pending.append(expr.var)", "                needed.add(expr.var)")],
        "writes",
        "",
    ),
    "reading too": Mistake(
        [("isinstance(expr, relay.RefWrite)", "isinstance(expr, (relay.RefRead, relay.RefWrite))")],
        "writes",
        "To make or to read a cell",
    ),
    "no calls": Mistake([("called or isinstance", "isinstance")], "calls", "it may never come to an end"),
    "every call": Mistake([(f" and {CALLED}", "")], "unused", "Operators and constructors have no effect"),
    "constructors too": Mistake(
        [("(relay.Op, relay.Constructor)", "relay.Op")], "unused", "Operators and constructors"
    ),
    "written down is called": Mistake([(INSIDE, "children(expr)")], "chains", "written down and not called"),
    "not into functions": Mistake(
        [
            (
                "    class Sweep(relay.ExprMutator):\n",
                "    class Sweep(relay.ExprMutator):\n        def visit_function(self, inner):\n"
                "            return super().visit_function(inner) if inner is function else inner\n\n",
            )
        ],
        "unused",
        "into functions, branches and clauses",
    ),
    "in place": Mistake(
        [("return self.visit(let.body)", "let.body = self.visit(let.body); return let.body")], "unused", ""
    ),
    "every path": Mistake(
        [
            (
                "        def visit_let",
                "        def visit(self, expr):\n            self.memo_map.clear()\n"
                "            return super().visit(expr)\n\n        def visit_let",
            )
        ],
        "everywhere",
        "are shared differently",
        programs=60,
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_usual_mistake_is_named(name: str) -> None:
    tried("dead_code", "sweep", "dead_code", WRONG[name])


def test_the_program_is_shown_before_and_after() -> None:
    wrong = answer("dead_code", "sweep", (" or isinstance(expr, relay.RefWrite)", ""))
    feedback = check("dead_code", wrong, "writes")
    assert feedback.picture is not None
    assert feedback.picture.view.kind == "pipeline"
    assert feedback.failure is not None
    assert len(feedback.failure.case.splitlines()) <= 8
