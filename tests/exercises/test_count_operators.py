"""The exercise `count_operators`: right answers pass, and every usual mistake is told by its name."""

from __future__ import annotations

from collections import Counter

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.ir.walk import post_order
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, tried

FUNCTIONS = {"operators": "count_operators", "parameters": "count_parameters"}


@pytest.mark.parametrize("part", FUNCTIONS)
def test_the_solution_passes(part: str) -> None:
    right = answer("count_operators", FUNCTIONS[part])
    feedback = check(f"count_operators.{part}", right, seed=1, programs=40)
    assert feedback.passed, str(feedback)


def test_a_counter_of_the_walk_passes() -> None:
    def counted(function):  # type: ignore[no-untyped-def]
        calls = [n for n in post_order(function) if isinstance(n, relay.Call)]
        return Counter(n.op.name for n in calls if isinstance(n.op, relay.Op))

    assert check("count_operators.operators", counted, programs=30).passed


ASKED = (
    "            if isinstance(call.op, relay.Op):\n"
    "                counts[call.op.name] = counts.get(call.op.name, 0) + 1"
)
NO_ASKING = (
    "            name = getattr(call.op, 'name', None) or call.op.name_hint\n"
    "            counts[name] = counts.get(name, 0) + 1"
)
WRONG_OPERATORS = {
    "arguments": Mistake(
        [("            super().visit_call(call)\n", "")], "calls", "`super().visit_call(call)` visits"
    ),
    "everything that is called": Mistake([(ASKED, NO_ASKING)], "calls", "ask whether `call.op` is a"),
    "operators as keys": Mistake(
        [("counts[call.op.name] =", "counts[call.op] =")], "calls", "The keys are the names"
    ),
    "no repetition": Mistake([("counts.get(call.op.name, 0) + 1", "1")], "calls", ""),
    "no result": Mistake([("    return counts\n", "    counts\n")], "calls", "end in a `return`"),
    "every path": Mistake(
        [
            (
                "    Count().visit(function)",
                "    class Again(Count):\n        def visit(self, expr):\n            self.memo_map.clear()\n"
                "            return super().visit(expr)\n\n    Again().visit(function)",
            )
        ],
        "shared",
        "a shared expression is one node",
    ),
    "no inner functions": Mistake(
        [
            (
                "    Count().visit(function)",
                "    Count.visit_function = lambda self, f: None\n    Count().visit(function.body)",
            )
        ],
        "everywhere",
        "A function inside the function has a body",
    ),
    "no values of let": Mistake(
        [
            (
                "    Count().visit(function)",
                "    Count.visit_let = lambda self, let: self.visit(let.body)\n    Count().visit(function)",
            )
        ],
        "everywhere",
        "in the value of a `let`",
    ),
    "only the data of a match": Mistake(
        [
            (
                "    Count().visit(function)",
                "    Count.visit_match = lambda self, m: self.visit(m.data)\n    Count().visit(function)",
            )
        ],
        "everywhere",
        "stands in a `Match`",
    ),
}
TUPLES = (
    "    if isinstance(type, relay.TupleType):\n        return sum(numbers(field) for field in type.fields)\n"
)
WRONG_PARAMETERS = {
    "inputs": Mistake([(" if p.name_hint not in inputs", "")], "tensors", "named in `inputs`"),
    "scalars": Mistake(
        [("return prod(type.shape)", "return prod(type.shape) if type.shape else 0")],
        "tensors",
        "the empty product is 1",
    ),
    "sums": Mistake(
        [("return prod(type.shape)", "return sum(type.shape)")], "tensors", "Multiply the dimensions"
    ),
    "no tuples": Mistake([(TUPLES, "")], "tuples", "A parameter may be a tuple"),
    "flat tuples": Mistake(
        [
            (
                "sum(numbers(field) for field in type.fields)",
                "sum(prod(f.shape) for f in type.fields if hasattr(f, 'shape'))",
            )
        ],
        "tuples",
        "a field may be a tuple again",
    ),
    "no constants": Mistake(
        [("total += prod(constant.data.shape)", "pass")], "constants", "are learnt numbers, too"
    ),
    "inner parameters": Mistake(
        [
            (
                "        def visit_constant",
                "        def visit_function(self, f):\n            nonlocal total\n"
                "            super().visit_function(f)\n            if f is not function:\n"
                "                total += sum(numbers(p.type_annotation) for p in f.params)\n\n"
                "        def visit_constant",
            )
        ],
        "inner",
        "only those of the function that is given",
    ),
    "a float": Mistake(
        [("    return total\n", "    return float(total)\n")], "tensors", "must return an `int`"
    ),
}
WRONG = {
    f"{part}: {name}": (part, mistake)
    for part, table in (("operators", WRONG_OPERATORS), ("parameters", WRONG_PARAMETERS))
    for name, mistake in table.items()
}


@pytest.mark.parametrize("name", WRONG)
def test_a_usual_mistake_is_named(name: str) -> None:
    part, mistake = WRONG[name]
    tried("count_operators", FUNCTIONS[part], f"count_operators.{part}", mistake)


def test_the_smallest_program_is_found() -> None:
    wrong = answer("count_operators", "count_operators", ("            super().visit_call(call)\n", ""))
    failure = check("count_operators.operators", wrong).failure
    assert failure is not None
    assert failure.program is not None
    assert len(failure.case.splitlines()) <= 5
