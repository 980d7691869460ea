"""The checks of the exercise `unification`: `resolve`, `occurs`, then `unify`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any as Anything

from ...ir.types import TensorType, TupleType, Type
from ..budget import limited
from ..check import CASE_SECONDS, Exercise, Property, Search, crashed
from ..feedback import Failure
from . import (
    Classes,
    InfiniteTypeError,
    MismatchError,
    Variable,
    disagree,
    parts,
    resolved,
    same_up_to_names,
    subterms,
    variables,
)
from .helpers import HELPERS
from .oracle import Right, drawn, solve
from .terms import Equations, changed, copied, endless, fresh, simpler_equations, snapshot, term, unifiable

CAPTION = "The same types, unified by the compiler"


class Run:
    """The result of a learner's `unify` on equations: the classes, and how it failed, if it did."""

    def __init__(self, unify: Anything, equations: Equations) -> None:
        self.classes = Classes()
        self.failed: int | None = None
        self.mismatch: MismatchError | None = None
        self.mutated = False
        self.said_false = False
        self.outcome = limited(CASE_SECONDS, self._all, unify, equations)

    def _all(self, unify: Anything, equations: Equations) -> None:
        for number, pair in enumerate(equations):
            a, b = map(copied, pair)
            before = snapshot(a), snapshot(b)
            try:
                self.said_false |= unify(a, b, self.classes) is False
            except MismatchError as mismatch:
                self.failed, self.mismatch = number, mismatch
            self.mutated |= (snapshot(a), snapshot(b)) != before
            if self.failed is not None:
                return

    def types(self, *expected: Type) -> list[Type]:
        """Return types with all their variables replaced."""
        return [resolved(t, self.classes) for t in expected]


def story(equations: Equations) -> str:
    """Write equations as the calls of a learner."""
    return "\n".join(f"unify({a}, {b}, classes)" for a, b in equations)


def _judge(unify: Anything, equations: Equations, names: bool = False) -> Failure | None:
    """Return how `unify` fails on `equations`. With `names`, compare the types in its MismatchError as
    well.
    """
    right = solve(equations)
    run = Run(unify, equations)
    expected = _expected(right)
    program = drawn(equations)
    if run.outcome.error is not None:
        hint = _crash_hint(run.outcome.error)
        return crashed(story(equations), run.outcome, expected, hint=hint, program=program, caption=CAPTION)
    got, hint = _compared(unify, equations, right, run)
    if not got and names and right.failed is not None:
        got, hint = _names(equations, run)
    if not got:
        return None
    printed = run.outcome.printed
    return Failure(story(equations), expected, got, hint, program, caption=CAPTION, printed=printed)


def _expected(right: Right) -> str:
    if right.failed is not None:
        call = "" if right.failed == 0 else f" from call {right.failed + 1}"
        return f"a MismatchError{call}: {_disagreement(right)}"
    return _shown(right.types) or "no error: the two can be made equal"


def _disagreement(right: Right) -> str:
    if right.infinite:
        return f"{right.left} would have to contain itself, since it equals {right.right}"
    return f"{right.left} and {right.right} cannot be equal"


def _shown(types: dict[Variable, Type]) -> str:
    return "\n".join(f"{v} is {'not known' if t is v else t}" for v, t in types.items())


def _compared(unify: Anything, equations: Equations, right: Right, run: Run) -> tuple[str, str]:
    """Describe the outcome of the equations, and the mistake that explains it; two empty strings if it is
    right.
    """
    if run.mutated:
        return (
            "the original types have been changed",
            "Types are immutable. Store what you learn in `classes`.",
        )
    if run.mismatch is not None:
        if right.failed == run.failed:
            return "", ""
        call = f"call {(run.failed or 0) + 1}: " if len(equations) > 1 else ""
        return f"{call}MismatchError: {run.mismatch}", _mismatch_hint(unify, equations, run)
    if right.failed is not None:
        return "no error", _accepted_hint(unify, equations, right, run)
    expected = list(right.types)
    try:
        result = run.types(*expected)
        sides = [run.types(a, b) for a, b in equations]
    except InfiniteTypeError:
        return "a type that contains itself", "No type here is infinite, but a class now contains itself."
    got = _shown(dict(zip(expected, result)))
    if not all(a == b for a, b in sides):
        a, b = next(s for s in sides if s[0] != s[1])
        return f"{got}\nwhich makes the two sides {a} and {b}", _unequal_hint(unify, equations, a, b)
    if not same_up_to_names(result, list(right.types.values())):
        return got, "This makes the two equal, but learns more than required."
    return "", ""


def _names(equations: Equations, run: Run) -> tuple[str, str]:
    """Return whether the MismatchError names the innermost parts that disagree."""
    mismatch = run.mismatch
    assert mismatch is not None
    assert run.failed is not None
    got = f"MismatchError: {mismatch}"
    if not isinstance(mismatch.left, Type) or not isinstance(mismatch.right, Type):
        return got, "MismatchError takes the two types that disagree: MismatchError(left, right)."
    try:
        left, right, *sides = run.types(mismatch.left, mismatch.right, *equations[run.failed])
    except InfiniteTypeError:
        return got, "The class was changed before the check: call `occurs` first, then `learn`."
    inside = [list(subterms(side)) for side in sides]
    if not disagree(left, right):
        return (
            got,
            "Name the innermost parts that disagree: for ((a, b), c) and ((a, d), c) these are b and d.",
        )
    if not any(left in mine and right in others for mine, others in (inside, inside[::-1])):
        return got, "Name parts of the two types that you received, one of each."
    return "", ""


# -- hints


def _crash_hint(error: BaseException) -> str:
    if isinstance(error, ValueError) and "already" in str(error):
        return (
            "Look at known types before you learn or merge: if classes.known(v) is a type, unify that type."
        )
    if isinstance(error, RecursionError):
        return (
            "Does every recursive call receive smaller types? A class that contains itself "
            "also leads to endless recursion: call `occurs` before `learn`."
        )
    if isinstance(error, TypeError) and "learn cannot take a variable" in str(error):
        return "Both sides are variables. Test for that case before you call `learn`."
    return ""


def _accepted_hint(unify: Anything, equations: Equations, right: Right, run: Run) -> str:
    """Explain why unsatisfiable equations are accepted."""
    if run.said_false:
        return "The return value of `unify` is ignored: raise MismatchError(left, right)."
    if right.infinite:
        return (
            "A variable cannot be equal to a type that contains it. Call `occurs` before "
            "`learn`; it must also look inside known types."
        )
    left, other = right.left, right.right
    assert left is not None
    assert other is not None
    if (left, other) not in equations and Run(unify, ((left, other),)).mismatch is not None:
        return (
            f"{left} and {other} alone are rejected. Here they are parts: every part of one "
            "type must be unified with its counterpart in the other, including a function's "
            "result."
        )
    if type(left) is not type(other):
        return "Tensors, tuples and functions are different kinds of types: compare the kinds first."
    if isinstance(left, TensorType):
        return "Two tensors are equal if their shapes and element types are: compare them with ==."
    if len(parts(left)) != len(parts(other)):
        return "Compare the numbers of parts first: `zip` silently stops at the end of the shorter list."
    return "Every part of one must be unified with its counterpart in the other."


def _mismatch_hint(unify: Anything, equations: Equations, run: Run) -> str:
    """Explain why satisfiable equations are refused."""
    mismatch = run.mismatch
    assert mismatch is not None
    pair = [t for t in (mismatch.left, mismatch.right) if isinstance(t, Type)]
    if len(pair) == 2 and all(isinstance(t, Variable) for t in pair):
        left, right = pair
        if run.classes.find(left) is run.classes.find(right):  # type: ignore[arg-type]  # variables, both
            return (
                "A variable is equal to itself. Test whether the two are in the same class "
                "before you call `occurs`."
            )
    if any(isinstance(t, Variable) and run.classes.known(t) is not None for t in pair):
        return "One of these is a variable with a known type. Replace it with that type first."
    if _works_mirrored(unify, equations):
        return "It works with the two arguments swapped: a variable may stand on either side."
    if any(isinstance(t, Variable) for t in pair):
        return "A variable without a known type can be equal to any type that does not contain it."
    return ""


def _unequal_hint(unify: Anything, equations: Equations, a: Type, b: Type) -> str:
    """Explain why two sides are not equal afterwards."""
    if _works_mirrored(unify, equations):
        return "It works with the two arguments swapped: a variable may stand on either side."
    while type(a) is type(b) and len(parts(a)) == len(parts(b)) > 0:
        pairs = list(zip(parts(a), parts(b)))
        at = next(n for n, (x, y) in enumerate(pairs) if x != y)
        if at == len(pairs) - 1 and not isinstance(a, TupleType):
            return "A function's result is part of it, too."
        a, b = pairs[at]
    if isinstance(a, Variable) and isinstance(b, Variable):
        return "Two variables that must be equal become one class: merge them."
    return (
        "Every part of one must be unified with its counterpart in the other, and what was "
        "learned must be kept."
    )


def _works_mirrored(unify: Anything, equations: Equations) -> bool:
    mirrored = tuple((b, a) for a, b in equations)
    run = Run(unify, mirrored)
    if run.outcome.error is not None or run.mismatch is not None:
        return False
    try:
        return all(a == b for a, b in (run.types(*pair) for pair in mirrored))
    except InfiniteTypeError:
        return False


# -- test cases


def _plain(rng: random.Random, count: int) -> Iterator[Equations]:
    for number in range(count):
        result = term(rng, min(3, number // 5), [])
        yield ((result, result),)
        yield ((result, changed(rng, result)),)


def _variables(rng: random.Random, count: int) -> Iterator[Equations]:
    a, b = fresh(2)
    yield ((a, a),)
    yield ((a, b),)
    for number in range(count):
        result = unifiable(rng, min(3, number // 5))
        yield (result,)
        yield (result[::-1],)


def _known(rng: random.Random, count: int) -> Iterator[Equations]:
    a, b = fresh(2)
    yield ((a, b), (b, a))
    for number in range(count):
        first = unifiable(rng, min(3, number // 8))
        pool = variables(*first)
        more = [(term(rng, 1, pool, 0.8), term(rng, 1, pool, 0.8)) for _ in range(rng.randint(0, 2))]
        if not solve([first, *more]).infinite:
            yield (first, *more)
        yield (first, first)
        yield (first, first[::-1])


def _endless(rng: random.Random, count: int) -> Iterator[Equations]:
    for number in range(count):
        equations = endless(rng, 1 + number % 4)
        yield equations
        if len(equations) > 1:  # without one of them no type is infinite
            yield equations[1:]


def _general(rng: random.Random, count: int) -> Iterator[Equations]:
    for number in range(count):
        pool = fresh(2 + number % 5)
        deep = 1 + number % 4
        result = [(term(rng, deep, pool, 0.6), term(rng, deep, pool, 0.6)) for _ in range(rng.randint(1, 3))]
        if not solve(result).infinite:
            yield tuple(result)
        yield (unifiable(rng, 4),)


def _conflicts(rng: random.Random, count: int) -> Iterator[Equations]:
    for number in range(count):
        if number % 4 == 3:
            yield endless(rng, 1 + number % 3)
        else:
            a, b = unifiable(rng, 1 + number % 3)
            yield ((a, changed(rng, b)),)


def _smaller(equations: Equations) -> Iterator[Equations]:
    """Yield simpler equations; if the type is infinite, it stays so."""
    infinite = solve(equations).infinite
    return (simpler for simpler in simpler_equations(equations) if solve(simpler).infinite == infinite)


def _property(
    name: str, says: str, cases: Callable[[random.Random, int], Iterable[Equations]], names: bool = False
) -> Property:
    def test(unify: Anything, rng: random.Random, count: int) -> Failure | None:
        search: Search[Equations] = Search(lambda case: _judge(unify, case, names), _smaller)
        return search(cases(rng, count))

    return Property(name, says, test)


EXERCISE = HELPERS | {
    "unify": Exercise(
        "unify",
        "unify(left, right, classes)",
        (
            _property("plain", "types without variables are accepted if they are equal", _plain),
            _property("variables", "a variable on either side gets a type or is merged", _variables),
            _property("known", "known types are taken into account", _known),
            _property("occurs", "no variable becomes part of its own type", _endless),
            _property("general", "it learns everything required, and nothing more", _general),
            _property("names", "the MismatchError names the parts that disagree", _conflicts, True),
        ),
    ),
}
