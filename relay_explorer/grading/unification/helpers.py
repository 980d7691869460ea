"""The checks of the first two functions of the exercise `unification`, `resolve` and `occurs`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any as Anything
from typing import NamedTuple

from ...ir.module import IRModule
from ...ir.types import FuncType, TupleType, Type
from ..answer_values import repr_of
from ..budget import limited
from ..check import CASE_SECONDS, Exercise, Property, Search, crashed
from ..feedback import Failure
from . import Variable, parts, resolved, variables
from .oracle import drawn
from .terms import (
    PLAIN,
    Steps,
    built,
    copied,
    fresh,
    simpler_steps,
    simpler_terms,
    snapshot,
    steps_to_know,
    term,
)


class Query(NamedTuple):
    """A query: the history of the classes, a type, and, for `occurs`, a variable."""

    steps: Steps
    type: Type
    variable: Variable | None = None

    def describe(self, call: str) -> str:
        """Write a query: what is known, and the call."""
        known = [
            f"{v} and {t} are equal" if isinstance(t, Variable) else f"{v} is {t}" for v, t in self.steps
        ]
        return "\n".join([*known, call])

    def drawn(self) -> IRModule:
        """Build a program in which inference learns the same facts."""
        return drawn(self.steps, self.type)


# -- resolve


def _judge_resolve(resolve: Anything, question: Query) -> Failure | None:
    classes, inputs = built(question.steps), copied(question.type)
    want = resolved(question.type, classes)
    before, message = snapshot(inputs), repr(classes)
    outcome = limited(CASE_SECONDS, resolve, inputs, classes)
    case, program = question.describe(f"resolve({question.type}, classes)"), question.drawn()
    if outcome.error is not None:
        return crashed(case, outcome, str(want), program=program, hint=_crash_hint(outcome.error))
    got = outcome.value
    if snapshot(inputs) != before or repr(classes) != message:
        hint = "`resolve` must build a new type, and change neither the original nor the classes."
        return Failure(
            case,
            str(want),
            "the type or the classes have been changed",
            hint,
            program,
            printed=outcome.printed,
        )
    if isinstance(got, Type) and got == want:
        return None
    if not isinstance(got, Type):
        hint = "Every path must return a type."
        return Failure(case, f"the type {want}", repr_of(got), hint, program, printed=outcome.printed)
    return Failure(
        case,
        str(want),
        str(got),
        _resolve_hint(resolve, question, want, got),
        program,
        printed=outcome.printed,
    )


def _crash_hint(error: BaseException) -> str:
    if isinstance(error, AttributeError):
        return (
            "A tensor has no parts, a tuple has `fields`, a function `arg_types` and "
            "`ret_type`: test which kind it is."
        )
    return ""


def _resolve_hint(resolve: Anything, question: Query, want: Type, got: Type) -> str:
    written = question.type
    while type(want) is type(got) and len(parts(want)) == len(parts(got)) > 0:
        at = next(n for n, (a, b) in enumerate(zip(parts(want), parts(got))) if a != b)
        if isinstance(written, FuncType) and _right_in_tuples(resolve, question, parts(written)[at]):
            return "A function has parts, too: its parameters, and its result."
        want, got = parts(want)[at], parts(got)[at]
        written = parts(written)[at] if parts(written) else written
    if isinstance(got, Variable) and isinstance(want, Variable):
        return f"{got} is equal to {want}, the representative of its class: return classes.find({got})."
    if isinstance(got, Variable):
        return f"{got} is known here. A known type may itself contain known variables: resolve it, too."
    if type(want) is type(got):
        return "The type must keep all its parts, each of them resolved."
    return "A tuple stays a tuple and a function a function: only variables are replaced."


def _right_in_tuples(resolve: Anything, question: Query, part: Type) -> bool:
    """Return whether a part that is wrong inside a function is right inside a tuple."""
    classes = built(question.steps)
    outcome = limited(CASE_SECONDS, resolve, TupleType([copied(part)]), classes)
    return bool(outcome.error is None and outcome.value == resolved(TupleType([part]), classes))


def _smaller(question: Query) -> Iterator[Query]:
    for fewer in simpler_steps(question.steps):
        if question.variable is None or built(fewer).known(question.variable) is None:
            yield question._replace(steps=fewer)
    for simpler in simpler_terms(question.type):
        yield question._replace(type=simpler)


def _asked(rng: random.Random, count: int, depth: int, pool_size: int) -> Iterator[Query]:
    for number in range(count):
        pool = fresh(min(pool_size, 2 + number // 6))
        yield Query(steps_to_know(rng, pool), term(rng, rng.randint(0, depth), pool, 0.8))


def _single(rng: random.Random, count: int) -> Iterator[Query]:
    """Generate variables, known and not; resolving each takes a single step."""
    a, b = fresh(2)
    yield Query((), PLAIN[1])
    yield Query((), a)
    yield Query(((a, b),), a)
    for _ in range(count):
        yield Query(((a, term(rng, 1, [])),), a)


def _inside(rng: random.Random, count: int) -> Iterator[Query]:
    yield from _asked(rng, count, 3, 8)


# -- occurs


def _occurs(question: Query) -> bool:
    assert question.variable is not None
    classes = built(question.steps)
    return classes.find(question.variable) in variables(resolved(question.type, classes))


def _judge_occurs(occurs: Anything, question: Query) -> Failure | None:
    classes, inputs = built(question.steps), copied(question.type)
    want = _occurs(question)
    before, message = snapshot(inputs), repr(classes)
    outcome = limited(CASE_SECONDS, occurs, question.variable, inputs, classes)
    case, program = (
        question.describe(f"occurs({question.variable}, {question.type}, classes)"),
        question.drawn(),
    )
    if outcome.error is not None:
        return crashed(case, outcome, str(want), program=program, hint=_crash_hint(outcome.error))
    got = outcome.value
    if snapshot(inputs) != before or repr(classes) != message:
        hint = "`occurs` must change neither the type nor the classes."
        return Failure(
            case,
            str(want),
            "the type or the classes have been changed",
            hint,
            program,
            printed=outcome.printed,
        )
    if isinstance(got, bool) and got == want:
        return None
    hint = _occurs_hint(question, got) if isinstance(got, bool) else "Every path must return True or False."
    return Failure(case, str(want), repr_of(got), hint, program, printed=outcome.printed)


def _occurs_hint(question: Query, got: bool) -> str:
    if got:
        return "Nothing in the type is of the variable's class. Do you compare classes, with classes.find?"
    if question.variable in variables(question.type):
        if question.type is question.variable:
            return "The type is the variable itself, so it occurs in it."
        return (
            "The variable is part of the type. Look into every part, including a function's "
            "parameters and its result."
        )
    classes = built(question.steps)
    result = resolved(question.type, classes)
    assert question.variable is not None
    root = classes.find(question.variable)
    equal = [v for v in variables(question.type) if classes.find(v) is root]
    if equal:
        return f"{equal[0]} is equal to {question.variable}: compare representatives, classes.find(…)."
    return f"With known variables replaced, the type is {result}: look inside the types of known variables."


def _occurs_in(depth: int, pool_size: int) -> Callable[[random.Random, int], Iterator[Query]]:
    def cases(rng: random.Random, count: int) -> Iterator[Query]:
        for question in _asked(rng, 2 * count, depth, pool_size):
            classes = built(question.steps)
            pool = variables(question.type, *[t for pair in question.steps for t in pair])
            unknown = [v for v in pool if classes.known(v) is None]
            if unknown:
                yield question._replace(variable=rng.choice(unknown))

    return cases


def _direct(rng: random.Random, count: int) -> Iterator[Query]:
    """Generate queries without known types: the variable is in the type, or it is not."""
    pool = fresh(3)
    yield Query((), pool[0], pool[0])
    yield Query((), pool[1], pool[0])
    for number in range(count):
        yield Query((), term(rng, min(3, number // 5), pool, 0.5), pool[0])


def _property(
    name: str,
    says: str,
    judge: Callable[[Anything, Query], Failure | None],
    cases: Callable[[random.Random, int], Iterable[Query]],
) -> Property:
    def test(answer: Anything, rng: random.Random, count: int) -> Failure | None:
        search: Search[Query] = Search(lambda query: judge(answer, query), _smaller)
        return search(cases(rng, count))

    return Property(name, says, test)


HELPERS = {
    "resolve": Exercise(
        "resolve",
        "resolve(type, classes)",
        (
            _property("variables", "a variable is replaced with its known type", _judge_resolve, _single),
            _property(
                "inside", "so are variables inside types, and inside known types", _judge_resolve, _inside
            ),
        ),
    ),
    "occurs": Exercise(
        "occurs",
        "occurs(variable, type, classes)",
        (
            _property("direct", "a variable is found in every position of a type", _judge_occurs, _direct),
            _property(
                "known", "also under another name, and in known types", _judge_occurs, _occurs_in(2, 8)
            ),
        ),
    ),
}
