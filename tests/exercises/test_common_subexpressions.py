"""The checks of `common_subexpressions`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.ir import IRModule
from relay_explorer.transform import EliminateCommonSubexpr
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake


@pytest.mark.parametrize("seed", range(2))
def test_solution_passes(seed: int) -> None:
    solution = answer("common_subexpressions", "share_calls")
    feedback = check("common_subexpressions", solution, seed=seed, programs=30)
    assert feedback.passed, str(feedback)


def test_accepts_package_pass() -> None:
    def package_pass(function: relay.Function) -> relay.Function:
        result = EliminateCommonSubexpr()(IRModule.from_expr(function))["main"]
        assert isinstance(result, relay.Function)
        return result

    for name in ("twice", "attributes", "constants", "projections", "shared"):  # these declare no types
        feedback = check("common_subexpressions", package_pass, name)
        assert feedback.passed, str(feedback)


KEY = "(call.op, attrs, tuple(same(arg) for arg in call.args))"
SUPER = "            call = super().visit_call(call)\n"
SKIP_OTHER_CALLS = "            if not isinstance(call.op, relay.Op):\n                return call\n"
WRONG = {
    "returns the input": Mistake(
        [("return Share().visit(function)", "return function")], "twice", "are the same computation"
    ),
    "returns nothing": Mistake(
        [("return Share().visit(function)", "Share().visit(function)")], "twice", "must return a function"
    ),
    "ignores attributes": Mistake([(KEY, KEY.replace("attrs, ", ""))], "attributes", ""),
    "ignores the order of arguments": Mistake(
        [(KEY, KEY.replace("tuple(", "frozenset("))], "attributes", "has a different meaning"
    ),
    "ignores arguments": Mistake([(KEY, "(call.op, attrs)")], "attributes", ""),
    "looks up a call before its arguments": Mistake(
        [
            (SUPER, ""),
            (
                "first.setdefault(" + KEY + ", call)",
                "first.setdefault(" + KEY + ", super().visit_call(call))",
            ),
        ],
        "chains",
        "Visit a call after its arguments",
    ),
    "compares constants by identity": Mistake(
        [("            return arg.data.dtype, arg.data.item()\n", "            return arg\n")],
        "constants",
        "two constants with the same value",
    ),
    "ignores the element type of constants": Mistake(
        [("arg.data.dtype, arg.data.item()", "arg.data.item()")], "constants", ""
    ),
    "ignores projections": Mistake(
        [("(projection.tuple_value, projection.index), projection", "projection, projection")],
        "projections",
        "A projection is a computation, too",
    ),
    "ignores the index of a projection": Mistake(
        [("(projection.tuple_value, projection.index)", "projection.tuple_value")], "projections", ""
    ),
    "shares calls of functions": Mistake(
        [(SKIP_OTHER_CALLS, ""), ("(call.op, attrs,", "(call.op, attrs, call.op,")], "everything", ""
    ),
    "shares reads of references": Mistake(
        [
            (
                "        def visit_tuple_getitem",
                "        def visit_ref_read(self, read):\n            read = super().visit_ref_read(read)\n"
                "            return first.setdefault(read.ref, read)\n\n        def visit_tuple_getitem",
            )
        ],
        "everything",
        "has a different meaning",
    ),
    "has no memo": Mistake(
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
def test_hints_at_common_mistake(name: str) -> None:
    check_mistake("common_subexpressions", "share_calls", "common_subexpressions", WRONG[name])
