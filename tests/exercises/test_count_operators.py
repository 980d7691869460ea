"""The checks of the exercise `count_operators`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

from collections import Counter

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.ir.walk import post_order
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake

FUNCTIONS = {"operators": "count_operators", "parameters": "count_parameters"}


@pytest.mark.parametrize("part", FUNCTIONS)
def test_solution_passes(part: str) -> None:
    right = answer("count_operators", FUNCTIONS[part])
    feedback = check(f"count_operators.{part}", right, seed=1, programs=40)
    assert feedback.passed, str(feedback)


def test_accepts_counter_of_post_order() -> None:
    def count(function):  # type: ignore[no-untyped-def]
        calls = [n for n in post_order(function) if isinstance(n, relay.Call)]
        return Counter(n.op.name for n in calls if isinstance(n.op, relay.Op))

    assert check("count_operators.operators", count, programs=30).passed


COUNT_OPERATOR = (
    "            if isinstance(call.op, relay.Op):\n"
    "                counts[call.op.name] = counts.get(call.op.name, 0) + 1"
)
COUNT_CALLEE = (
    "            name = getattr(call.op, 'name', None) or call.op.name_hint\n"
    "            counts[name] = counts.get(name, 0) + 1"
)
WRONG_OPERATORS = {
    "skips arguments": Mistake(
        [("            super().visit_call(call)\n", "")], "calls", "`super().visit_call(call)` visits"
    ),
    "counts every callee": Mistake([(COUNT_OPERATOR, COUNT_CALLEE)], "calls", "test whether `call.op` is a"),
    "operators as keys": Mistake(
        [("counts[call.op.name] =", "counts[call.op] =")], "calls", "The keys are the names"
    ),
    "counts each operator once": Mistake([("counts.get(call.op.name, 0) + 1", "1")], "calls", ""),
    "returns nothing": Mistake([("    return counts\n", "    counts\n")], "calls", "end in a `return`"),
    "has no memo": Mistake(
        [
            (
                "    Count().visit(function)",
                "    class Again(Count):\n        def visit(self, expr):\n            self.memo_map.clear()\n"
                "            return super().visit(expr)\n\n    Again().visit(function)",
            )
        ],
        "shared",
        "a shared expression is one object",
    ),
    "skips nested functions": Mistake(
        [
            (
                "    Count().visit(function)",
                "    Count.visit_function = lambda self, f: None\n    Count().visit(function.body)",
            )
        ],
        "everywhere",
        "A nested function has a body",
    ),
    "skips let values": Mistake(
        [
            (
                "    Count().visit(function)",
                "    Count.visit_let = lambda self, let: self.visit(let.body)\n    Count().visit(function)",
            )
        ],
        "everywhere",
        "in the value of a `let`",
    ),
    "skips match clauses": Mistake(
        [
            (
                "    Count().visit(function)",
                "    Count.visit_match = lambda self, m: self.visit(m.data)\n    Count().visit(function)",
            )
        ],
        "everywhere",
        "is in a `Match`",
    ),
}
TUPLES = (
    "    if isinstance(type, relay.TupleType):\n"
    "        return sum(elements(field) for field in type.fields)\n"
)
WRONG_PARAMETERS = {
    "counts inputs": Mistake([(" if p.name_hint not in inputs", "")], "tensors", "named in `inputs`"),
    "counts a scalar as 0": Mistake(
        [("return prod(type.shape)", "return prod(type.shape) if type.shape else 0")],
        "tensors",
        "the empty product is 1",
    ),
    "adds the dimensions": Mistake(
        [("return prod(type.shape)", "return sum(type.shape)")], "tensors", "Multiply the dimensions"
    ),
    "ignores tuples": Mistake([(TUPLES, "")], "tuples", "A parameter may be a tuple"),
    "ignores nested tuples": Mistake(
        [
            (
                "sum(elements(field) for field in type.fields)",
                "sum(prod(f.shape) for f in type.fields if hasattr(f, 'shape'))",
            )
        ],
        "tuples",
        "may be a tuple again",
    ),
    "ignores constants": Mistake(
        [("total += prod(constant.data.shape)", "pass")], "constants", "are learned, too"
    ),
    "counts parameters of nested functions": Mistake(
        [
            (
                "        def visit_constant",
                "        def visit_function(self, f):\n            nonlocal total\n"
                "            super().visit_function(f)\n            if f is not function:\n"
                "                total += sum(elements(p.type_annotation) for p in f.params)\n\n"
                "        def visit_constant",
            )
        ],
        "inner",
        "only those of the function itself",
    ),
    "returns a float": Mistake(
        [("    return total\n", "    return float(total)\n")], "tensors", "must return an `int`"
    ),
}
WRONG = {
    f"{part}: {name}": (part, mistake)
    for part, table in (("operators", WRONG_OPERATORS), ("parameters", WRONG_PARAMETERS))
    for name, mistake in table.items()
}


@pytest.mark.parametrize("name", WRONG)
def test_hints_at_common_mistake(name: str) -> None:
    part, mistake = WRONG[name]
    check_mistake("count_operators", FUNCTIONS[part], f"count_operators.{part}", mistake)


def test_finds_smallest_program() -> None:
    wrong = answer("count_operators", "count_operators", ("            super().visit_call(call)\n", ""))
    failure = check("count_operators.operators", wrong).failure
    assert failure is not None
    assert failure.program is not None
    assert len(failure.case.splitlines()) <= 5
