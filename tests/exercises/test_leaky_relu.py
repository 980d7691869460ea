"""The checks of the exercise `leaky_relu`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.ir.walk import rewrite
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake


def test_solution_passes() -> None:
    feedback = check("leaky_relu", answer("leaky_relu", "use_leaky"), seed=1, programs=30)
    assert feedback.passed, str(feedback)


def test_alternative_solution_passes() -> None:
    def bottom_up(function, alpha):  # type: ignore[no-untyped-def]
        relu = relay.op.get("nn.relu")

        def change(node):  # type: ignore[no-untyped-def]
            if isinstance(node, relay.Call) and node.op == relu:
                return relay.nn.leaky_relu(node.args[0], alpha)
            return None

        return rewrite(function, change)

    feedback = check("leaky_relu", bottom_up, programs=30)
    assert feedback.passed, str(feedback)


SUPER = "call = super().visit_call(call)"
NEW = "return relay.nn.leaky_relu(call.args[0], alpha=alpha)"
IS_RELU = 'isinstance(call.op, relay.Op) and call.op.name == "nn.relu"'
VISIT = "return UseLeaky().visit(function)"
WRONG = {
    "does not visit a ReLU's argument": Mistake(
        [
            (SUPER, "old = call"),
            ("            return call\n", "            return super().visit_call(old)\n"),
        ],
        "nested",
        "A ReLU of a ReLU",
    ),
    "visits only a ReLU's argument": Mistake(
        [(SUPER, ""), (NEW, "return relay.nn.leaky_relu(self.visit(call.args[0]), alpha=alpha)")],
        "calls",
        "every call's arguments must be visited",
    ),
    "uses the unrewritten argument": Mistake(
        [(SUPER, "old, call = call, super().visit_call(call)"), ("(call.args[0]", "(old.args[0]")],
        "nested",
        "",
    ),
    "uses the default slope": Mistake([(", alpha=alpha)", ")")], "calls", "must be the argument `alpha`"),
    "replaces every unary operator": Mistake([(IS_RELU, "len(call.args) == 1")], "calls", ""),
    "matches operators by suffix": Mistake(
        [(' == "nn.relu"', '.endswith("relu")')], "untouched", "something else did"
    ),
    "reads the name of any callee": Mistake(
        [("isinstance(call.op, relay.Op) and ", "")], "everywhere", "before you read its name"
    ),
    "returns the body": Mistake([(VISIT, "return UseLeaky().visit(function.body)")], "calls", "not its body"),
    "returns nothing": Mistake([(VISIT, "UseLeaky().visit(function)")], "calls", "must return a function"),
    "duplicates shared calls": Mistake(
        [
            (
                "        def visit_call",
                "        def visit(self, expr):\n            if isinstance(expr, relay.Call):\n"
                "                self.memo_map.pop(expr, None)\n            return super().visit(expr)\n\n"
                "        def visit_call",
            )
        ],
        "everywhere",
        "A shared ReLU became several",
    ),
    "skips let values": Mistake(
        [
            (
                "        def visit_call",
                "        def visit_let(self, let):\n            return relay.Let(let.var, let.value, "
                "self.visit(let.body))\n\n        def visit_call",
            )
        ],
        "everywhere",
        "in the value of a `let`",
    ),
    "skips nested functions": Mistake(
        [
            (
                "        def visit_call",
                "        def visit_function(self, f):\n            return f if f is not function else "
                "super().visit_function(f)\n\n        def visit_call",
            )
        ],
        "everywhere",
        "A nested function has a body",
    ),
    "skips match clauses": Mistake(
        [
            (
                "        def visit_call",
                "        def visit_match(self, m):\n            return m\n\n        def visit_call",
            )
        ],
        "everywhere",
        "in a `Match`",
    ),
    "renames the parameters": Mistake(
        [
            (
                VISIT,
                "f = UseLeaky().visit(function)\n"
                "    new = [relay.Var(p.name_hint, p.type_annotation) for p in f.params]\n"
                "    return relay.Function(new, f.body, f.ret_type)",
            )
        ],
        "calls",
        "The parameters must stay the same variables",
    ),
    "modifies the call": Mistake(
        [(SUPER, ""), (NEW, "call.op = relay.op.get('nn.leaky_relu'); return call")],
        "calls",
        "immutable",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_hints_at_common_mistake(name: str) -> None:
    check_mistake("leaky_relu", "use_leaky", "leaky_relu", WRONG[name])


def test_finds_smallest_program() -> None:
    wrong = answer("leaky_relu", "use_leaky", (SUPER, ""))
    failure = check("leaky_relu", wrong, "nested", seed=5).failure
    assert failure is not None
    assert failure.case.count("nn.relu") == 2
    assert failure.expected.count("nn.leaky_relu") == 2
