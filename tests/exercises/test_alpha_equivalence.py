"""The exercise `alpha_equivalence`: right answers pass, and every usual mistake is told by its name."""

from __future__ import annotations

from typing import Any

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.grading.alpha_equivalence import binders, parts, same_label
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, tried


def test_the_solution_passes() -> None:
    right = answer("alpha_equivalence", "alpha_equal")
    feedback = check("alpha_equivalence", right, seed=1, programs=30)
    assert feedback.passed, str(feedback)


def test_another_way_of_writing_it_passes() -> None:
    """A number for each binder, in a table that grows on the way down."""

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
    "            if a in there or b in back:\n"
    "                return there.get(a) is b and back.get(b) is a\n"
    "            return a is b\n"
)
LABEL = "        if not same_label(a, b):\n            return False\n"
BIND = "            there[one], back[other] = other, one\n"
WRONG = {
    "names": Mistake(
        [(VARIABLES, "            return a.name_hint == b.name_hint\n")], "renamed", "never compare names"
    ),
    "objects": Mistake([(VARIABLES, "            return a is b\n")], "renamed", "never compare names"),
    "variables are variables": Mistake(
        [(VARIABLES, "            return True\n")], "variables", "Every variable of the left stands for one"
    ),
    "one way": Mistake(
        [
            (
                VARIABLES,
                "            return there.get(a, a) is b\n",
            )
        ],
        "free",
        "the same object",
    ),
    "the other way": Mistake(
        [(VARIABLES, "            return back.get(b, b) is a\n")], "free", "the same object"
    ),
    "no free variables": Mistake(
        [("            return a is b\n", "            return False\n")],
        "renamed",
        "a variable that nothing binds",
    ),
    "free ones by name": Mistake(
        [("            return a is b\n", "            return a.name_hint == b.name_hint\n")],
        "free",
        "the same object",
    ),
    "a table without free ones": Mistake(
        [(VARIABLES, "            return there[a] is b\n")], "renamed", "it is in no table"
    ),
    "labels": Mistake([(LABEL, "")], "different", "numbers of parts"),
    "kinds only": Mistake([("not same_label(a, b)", "type(a) is not type(b)")], "different", ""),
    "no result": Mistake(
        [("    return equal(left, right)\n", "    equal(left, right)\n")], "renamed", "end in a `return`"
    ),
    "first part": Mistake(
        [("zip(parts(a), parts(b)))", "list(zip(parts(a), parts(b)))[:1])")], "different", "in all parts"
    ),
    "any part": Mistake([("return all(", "return not parts(a) or any(")], "different", "in all parts"),
    "patterns": Mistake(
        [
            (
                "zip(binders(a), binders(b)):",
                "zip(binders(a), binders(b)) if not isinstance(a, relay.Match) else ():",
            )
        ],
        "matches",
        "",
    ),
    "every path": Mistake([("        compared.add((a, b))\n", "")], "shared", "", endless=True),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_usual_mistake_is_named(name: str) -> None:
    tried("alpha_equivalence", "alpha_equal", "alpha_equivalence", WRONG[name])


def test_the_smallest_pair_is_found() -> None:
    wrong = answer("alpha_equivalence", "alpha_equal", (VARIABLES, "            return a is b\n"))
    failure = check("alpha_equivalence", wrong, "renamed", seed=2).failure
    assert failure is not None
    assert failure.program is not None
    assert len(failure.case.splitlines()) <= 16
