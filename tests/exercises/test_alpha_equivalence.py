"""The checks of the exercise `alpha_equivalence`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

from typing import Any

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.grading.alpha_equivalence import binders, parts, same_label
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake


def test_solution_passes() -> None:
    right = answer("alpha_equivalence", "alpha_equal")
    feedback = check("alpha_equivalence", right, seed=1, programs=30)
    assert feedback.passed, str(feedback)


def test_alternative_solution_passes() -> None:
    """Number the binders, in a table that is extended while descending."""

    def numbered(left, right):  # type: ignore[no-untyped-def]
        observed: dict[Any, Any] = {}

        def equal(a: Any, b: Any, mine: dict[Any, Any], others: dict[Any, Any]) -> Any:
            if isinstance(a, relay.Var) and isinstance(b, relay.Var):
                return mine.get(a, a) == others.get(b, b)
            if (a, b) not in observed:
                observed[a, b] = same_label(a, b)
                if observed[a, b]:
                    start = len(mine)
                    new = range(start, start + len(binders(a)))
                    mine = {**mine, **dict(zip(binders(a), new))}
                    others = {**others, **dict(zip(binders(b), new))}
                    observed[a, b] = all(equal(x, y, mine, others) for x, y in zip(parts(a), parts(b)))
            return observed[a, b]

        return bool(equal(left, right, {}, {}))

    feedback = check("alpha_equivalence", numbered, programs=30)
    assert feedback.passed, str(feedback)


VARIABLES = (
    "            if a in to_right or b in to_left:\n"
    "                return to_right.get(a) is b and to_left.get(b) is a\n"
    "            return a is b\n"
)
LABEL = "        if not same_label(a, b):\n            return False\n"
BIND = "            to_right[one], to_left[other] = other, one\n"
WRONG = {
    "compares names": Mistake(
        [(VARIABLES, "            return a.name_hint == b.name_hint\n")], "renamed", "Never compare names"
    ),
    "compares objects": Mistake(
        [(VARIABLES, "            return a is b\n")], "renamed", "Never compare names"
    ),
    "accepts any two variables": Mistake(
        [(VARIABLES, "            return True\n")], "variables", "Variables correspond one-to-one"
    ),
    "maps left to right only": Mistake(
        [
            (
                VARIABLES,
                "            return to_right.get(a, a) is b\n",
            )
        ],
        "free",
        "the same object",
    ),
    "maps right to left only": Mistake(
        [(VARIABLES, "            return to_left.get(b, b) is a\n")], "free", "the same object"
    ),
    "rejects free variables": Mistake(
        [("            return a is b\n", "            return False\n")],
        "renamed",
        "so is every free variable",
    ),
    "compares free variables by name": Mistake(
        [("            return a is b\n", "            return a.name_hint == b.name_hint\n")],
        "free",
        "the same object",
    ),
    "has no entry for free variables": Mistake(
        [(VARIABLES, "            return to_right[a] is b\n")], "renamed", "no binder has recorded it"
    ),
    "ignores labels": Mistake([(LABEL, "")], "different", "numbers of parts"),
    "compares node classes only": Mistake(
        [("not same_label(a, b)", "type(a) is not type(b)")], "different", ""
    ),
    "returns nothing": Mistake(
        [("    return equal(left, right)\n", "    equal(left, right)\n")], "renamed", "end in a `return`"
    ),
    "compares the first child only": Mistake(
        [("zip(parts(a), parts(b)))", "list(zip(parts(a), parts(b)))[:1])")],
        "different",
        "in all of their parts",
    ),
    "accepts one equal child": Mistake(
        [("return all(", "return not parts(a) or any(")], "different", "in all of their parts"
    ),
    "ignores pattern variables": Mistake(
        [
            (
                "zip(binders(a), binders(b)):",
                "zip(binders(a), binders(b)) if not isinstance(a, relay.Match) else ():",
            )
        ],
        "matches",
        "",
    ),
    "has no memo": Mistake([("        compared.add((a, b))\n", "")], "shared", "", endless=True),
}


@pytest.mark.parametrize("name", WRONG)
def test_hints_at_common_mistake(name: str) -> None:
    check_mistake("alpha_equivalence", "alpha_equal", "alpha_equivalence", WRONG[name])


def test_finds_smallest_pair() -> None:
    wrong = answer("alpha_equivalence", "alpha_equal", (VARIABLES, "            return a is b\n"))
    failure = check("alpha_equivalence", wrong, "renamed", seed=2).failure
    assert failure is not None
    assert failure.program is not None
    assert len(failure.case.splitlines()) <= 16
