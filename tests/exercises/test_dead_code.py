"""The checks of the exercise `dead_code`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.ir import children, rebuild
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake


def test_solution_passes() -> None:
    feedback = check("dead_code", answer("dead_code", "sweep"), seed=1, programs=20)
    assert feedback.passed, str(feedback)


def test_alternative_solution_passes() -> None:
    """Bottom-up: remove a `let` if its variable is not free in its rewritten body."""

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
                if not used and not _has_side_effects(value):
                    memo[expr] = body
        result = memo[function]
        assert isinstance(result, relay.Function)
        return result

    feedback = check("dead_code", sweep, seed=2, programs=15)
    assert feedback.passed, str(feedback)


def _has_side_effects(expr: relay.Expr) -> bool:
    if isinstance(expr, relay.Function):
        return False
    if isinstance(expr, relay.Call) and not isinstance(expr.op, (relay.Op, relay.Constructor)):
        return True
    return isinstance(expr, relay.RefWrite) or any(map(_has_side_effects, children(expr)))


CALLS_FUNCTION = "not isinstance(expr.op, (relay.Op, relay.Constructor))"
PARTS = "() if isinstance(expr, relay.Function) else children(expr)"
FOLLOW = "                pending.append(values[expr])\n"
WRONG = {
    "returns the input": Mistake(
        [("return Sweep().visit(function)", "return function")], "unused", "Its variable is never used"
    ),
    "returns the body": Mistake(
        [("Sweep().visit(function)", "Sweep().visit(function.body)")], "unused", "not its body"
    ),
    "stops at the outermost let": Mistake(
        [("return self.visit(let.body)", "return let.body")], "unused", "Its variable is never used"
    ),
    "drops every let": Mistake([("if let.var not in needed:", "if True:")], "unused", ""),
    "counts uses in dead code": Mistake(
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
        "only by dead code",
    ),
    "drops writes": Mistake(
        [(" or isinstance(expr, relay.RefWrite)", "")], "writes", "Its value writes to a reference"
    ),
    "ignores nested writes": Mistake(
        [
            (" or any(part in acts for part in parts)", ""),
        ],
        "writes",
        "Look into all parts of the value",
    ),
    "does not follow the uses of a kept value": Mistake(
        [("                pending.append(expr.var)", "                needed.add(expr.var)")],
        "writes",
        "",
    ),
    "keeps reads": Mistake(
        [("isinstance(expr, relay.RefWrite)", "isinstance(expr, (relay.RefRead, relay.RefWrite))")],
        "writes",
        "Creating or reading a reference",
    ),
    "drops calls of functions": Mistake(
        [("called or isinstance", "isinstance")], "calls", "or not terminate"
    ),
    "keeps every call": Mistake(
        [(f" and {CALLS_FUNCTION}", "")], "unused", "Operators and constructors have no side effects"
    ),
    "keeps constructors": Mistake(
        [("(relay.Op, relay.Constructor)", "relay.Op")], "unused", "Operators and constructors"
    ),
    "treats a function literal as a call": Mistake(
        [(PARTS, "children(expr)")], "chains", "without calling it"
    ),
    "skips nested functions": Mistake(
        [
            (
                "    class Sweep(relay.ExprMutator):\n",
                "    class Sweep(relay.ExprMutator):\n        def visit_function(self, inner):\n"
                "            return super().visit_function(inner) if inner is function else inner\n\n",
            )
        ],
        "unused",
        "functions, branches and clauses",
    ),
    "modifies the let": Mistake(
        [("return self.visit(let.body)", "let.body = self.visit(let.body); return let.body")], "unused", ""
    ),
    "has no memo": Mistake(
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
def test_hints_at_common_mistake(name: str) -> None:
    check_mistake("dead_code", "sweep", "dead_code", WRONG[name])


def test_shows_program_before_and_after() -> None:
    wrong = answer("dead_code", "sweep", (" or isinstance(expr, relay.RefWrite)", ""))
    feedback = check("dead_code", wrong, "writes")
    assert feedback.picture is not None
    assert feedback.picture.view.kind == "pipeline"
    assert feedback.failure is not None
    assert len(feedback.failure.case.splitlines()) <= 8
