"""The exercise `common_subexpressions`: right answers pass, and every usual mistake is told by its name."""

from __future__ import annotations

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.ir import IRModule
from relay_explorer.transform import EliminateCommonSubexpr
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, tried


@pytest.mark.parametrize("seed", range(2))
def test_the_solution_passes(seed: int) -> None:
    right = answer("common_subexpressions", "share_calls")
    feedback = check("common_subexpressions", right, seed=seed, programs=30)
    assert feedback.passed, str(feedback)


def test_the_packages_own_pass_is_right() -> None:
    def own(function: relay.Function) -> relay.Function:
        result = EliminateCommonSubexpr()(IRModule.from_expr(function))["main"]
        assert isinstance(result, relay.Function)
        return result

    for name in ("twice", "attributes", "constants", "projections", "shared"):  # these declare no types
        feedback = check("common_subexpressions", own, name)
        assert feedback.passed, str(feedback)


KEY = "(call.op, attrs, tuple(same(arg) for arg in call.args))"
SUPER = "            call = super().visit_call(call)\n"
ASK = "            if not isinstance(call.op, relay.Op):\n                return call\n"
WRONG = {
    "nothing": Mistake(
        [("return Share().visit(function)", "return function")], "twice", "are one computation"
    ),
    "no result": Mistake(
        [("return Share().visit(function)", "Share().visit(function)")], "twice", "must return a function"
    ),
    "no attributes": Mistake([(KEY, KEY.replace("attrs, ", ""))], "attributes", ""),
    "in any order": Mistake(
        [(KEY, KEY.replace("tuple(", "frozenset("))], "attributes", "means something else"
    ),
    "no arguments": Mistake([(KEY, "(call.op, attrs)")], "attributes", ""),
    "before the arguments": Mistake(
        [
            (SUPER, ""),
            (
                "first.setdefault(" + KEY + ", call)",
                "first.setdefault(" + KEY + ", super().visit_call(call))",
            ),
        ],
        "chains",
        "Look at a call after its arguments",
    ),
    "constants as objects": Mistake(
        [("            return arg.data.dtype, arg.data.item()\n", "            return arg\n")],
        "constants",
        "two that hold the same number",
    ),
    "numbers of any type": Mistake([("arg.data.dtype, arg.data.item()", "arg.data.item()")], "constants", ""),
    "no projections": Mistake(
        [("(projection.tuple_value, projection.index), projection", "projection, projection")],
        "projections",
        "A projection is a computation too",
    ),
    "any projection": Mistake(
        [("(projection.tuple_value, projection.index)", "projection.tuple_value")], "projections", ""
    ),
    "functions too": Mistake(
        [(ASK, ""), ("(call.op, attrs,", "(call.op, attrs, call.op,")], "everything", ""
    ),
    "references too": Mistake(
        [
            (
                "        def visit_tuple_getitem",
                "        def visit_ref_read(self, read):\n            read = super().visit_ref_read(read)\n"
                "            return first.setdefault(read.ref, read)\n\n        def visit_tuple_getitem",
            )
        ],
        "everything",
        "means something else",
    ),
    "every path": Mistake(
        [
            (
                "        def visit_call",
                "        def visit(self, expr):\n            self.memo_map.clear()\n"
                "            return super().visit(expr)\n\n        def visit_call",
            )
        ],
        "everything",
        "",
        programs=60,
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_usual_mistake_is_named(name: str) -> None:
    tried("common_subexpressions", "share_calls", "common_subexpressions", WRONG[name])
