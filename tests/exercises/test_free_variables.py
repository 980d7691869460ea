"""The checks of the exercise `free_variables`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

from typing import Any

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.ir.adt import pattern_vars
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake


def test_solution_passes() -> None:
    feedback = check("free_variables", answer("free_variables", "free_variables"), seed=1, programs=40)
    assert feedback.passed, str(feedback)


def by_scope(expr: Any, memo: Any = None) -> Any:
    """Compute the free variables of the parts, minus those that this expression binds."""
    memo = {} if memo is None else memo
    if expr not in memo:
        memo[expr] = _by_scope(expr, memo)
    return memo[expr]


def _by_scope(expr: Any, memo: Any) -> Any:
    if isinstance(expr, relay.Var):
        return {expr}
    if isinstance(expr, relay.Function):
        return by_scope(expr.body, memo) - set(expr.params)
    if isinstance(expr, relay.Let):
        return (by_scope(expr.value, memo) | by_scope(expr.body, memo)) - {expr.var}
    if isinstance(expr, relay.Match):
        result = by_scope(expr.data, memo)
        for clause in expr.clauses:
            result = result | (by_scope(clause.rhs, memo) - set(pattern_vars(clause.lhs)))
        return result
    names = {"op", "args", "fields", "tuple_value", "cond", "true_branch", "false_branch", "ref", "value"}
    parts: list[Any] = []
    for name in names:
        part = getattr(expr, name, None)
        parts += part if isinstance(part, tuple) else [part]
    return set[Any]().union(*(by_scope(p, memo) for p in parts if isinstance(p, relay.Expr)))


def test_alternative_solution_passes() -> None:
    feedback = check("free_variables", lambda expr: by_scope(expr), programs=40)
    assert feedback.passed, str(feedback)


RETURN = "return used - bound"
WRONG = {
    "ignores parameters": Mistake(
        [("bound.update(function.params)", "pass")], "functions", "is a parameter of a function"
    ),
    "ignores let bindings": Mistake([("bound.add(let.var)", "pass")], "lets", "is bound by a `let`"),
    "ignores pattern bindings": Mistake(
        [("bound.update(pattern_vars(clause.lhs))", "pass")], "matches", "by the pattern of a clause"
    ),
    "ignores nested patterns": Mistake(
        [
            (
                "bound.update(pattern_vars(clause.lhs))",
                "bound.update(p.var for p in getattr(clause.lhs, 'patterns', [clause.lhs])"
                " if hasattr(p, 'var'))",
            )
        ],
        "matches",
        "Patterns may be nested",
    ),
    "skips let values": Mistake(
        [("super().visit_let(let)", "self.visit(let.body)")], "lets", "is used in the value of a `let`"
    ),
    "skips let bodies": Mistake([("super().visit_let(let)", "self.visit(let.value)")], "lets", "is used in"),
    "does not bind a let in its value": Mistake(
        [
            (
                "super().visit_let(let)\n            bound.add(let.var)",
                "self.visit(let.body)\n            inner = free_variables(let.value)\n"
                "            used.difference_update({let.var})\n            used.update(inner)",
            )
        ],
        "lets",
        "recursive function",
    ),
    "compares names": Mistake(
        [(RETURN, "return {v for v in used if v.name_hint not in {b.name_hint for b in bound}}")],
        "functions",
        "compare the objects, not their names",
    ),
    "returns names": Mistake(
        [(RETURN, "return {v.name_hint for v in used - bound}")], "uses", "neither names"
    ),
    "returns nothing": Mistake([(RETURN, "used - bound")], "uses", "end in a `return`"),
    "subtracts no bound variables": Mistake([(RETURN, "return used")], "functions", "the function binds it"),
    "skips calls": Mistake(
        [
            (
                "        def visit_var",
                "        def visit_call(self, call):\n            pass\n\n        def visit_var",
            )
        ],
        "uses",
        "The callee is part of the call",
    ),
    "skips callees": Mistake(
        [
            (
                "        def visit_var",
                "        def visit_call(self, call):\n            for arg in call.args:\n"
                "                self.visit(arg)\n\n        def visit_var",
            )
        ],
        "uses",
        "The callee is part of the call",
    ),
    "skips conditions": Mistake(
        [
            (
                "        def visit_var",
                "        def visit_if(self, i):\n            self.visit(i.true_branch)\n"
                "            self.visit(i.false_branch)\n\n        def visit_var",
            )
        ],
        "uses",
        "the condition and two branches",
    ),
    "has no memo": Mistake(
        [
            (
                "            used.add(var)",
                "            used.add(var)\n\n        def visit(self, expr):\n"
                "            self.memo_map.clear()\n"
                "            super().visit(expr)",
            )
        ],
        "shared",
        "",
        endless=True,
    ),
    "modifies the tuple": Mistake(
        [(RETURN, "if isinstance(expr, relay.Tuple):\n        expr.fields = ()\n    return used - bound")],
        "uses",
        "immutable",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_hints_at_common_mistake(name: str) -> None:
    check_mistake("free_variables", "free_variables", "free_variables", WRONG[name])


def test_finds_smallest_program() -> None:
    wrong = answer("free_variables", "free_variables", ("bound.update(function.params)", "pass"))
    failure = check("free_variables", wrong, "functions", seed=3).failure
    assert failure is not None
    assert failure.expected in ("{}", "{%y}")
    assert failure.program is not None
    assert len(failure.case.splitlines()) <= 8
