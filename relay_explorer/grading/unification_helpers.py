"""The checks of the exercise `unification`'s first two functions, `resolve` and `occurs`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any as Anything
from typing import NamedTuple

from ..ir.types import Type
from .budget import limited
from .check import CASE_SECONDS, Exercise, Property, Search, crashed
from .feedback import Failure
from .unification import Classes, Variable, parts, resolved, variables
from .unification_oracle import Equation, drawn
from .unification_terms import PLAIN, fresh, known_classes, simpler_terms, snapshot, term


class Asked(NamedTuple):
    """A question about classes: a type, how the classes came about, and, for `occurs`, a variable."""

    classes: Classes
    story: tuple[str, ...]
    known: tuple[Equation, ...]
    type: Type
    variable: Variable | None = None


def _told(asked: Asked, call: str) -> str:
    return "\n".join([*asked.story, call])


def _known(classes: Classes, pool: list[Variable]) -> tuple[Equation, ...]:
    """What classes say, as equations."""
    found: list[Equation] = [(v, classes.find(v)) for v in pool if classes.find(v) is not v]
    for variable in pool:
        known = classes.known(variable)
        if known is not None and classes.find(variable) is variable:
            found.append((variable, known))
    return tuple(found)


# -- resolve


def _judge_resolve(resolve: Anything, asked: Asked) -> Failure | None:
    want = resolved(asked.type, asked.classes)
    before, said = snapshot(asked.type), repr(asked.classes)
    outcome = limited(CASE_SECONDS, resolve, asked.type, asked.classes)
    case = _told(asked, f"resolve({asked.type}, classes)")
    program = drawn(asked.known, asked.type)
    if outcome.error is not None:
        return crashed(case, outcome, str(want), program=program, hint=_crash_hint(outcome.error))
    got = outcome.value
    if snapshot(asked.type) != before or repr(asked.classes) != said:
        hint = "`resolve` only looks: it makes a new type, and changes neither the given one nor the classes."
        return Failure(case, str(want), "the type or the classes are changed", hint, program, printed=outcome.printed)
    if isinstance(got, Type) and got == want:
        return None
    if not isinstance(got, Type):
        hint = "Every path must return a type."
        return Failure(case, f"the type {want}", f"{got!r:.200}", hint, program, printed=outcome.printed)
    return Failure(case, str(want), str(got), _resolve_hint(asked, want, got), program, printed=outcome.printed)


def _crash_hint(error: BaseException) -> str:
    if isinstance(error, AttributeError):
        return "A tensor has no parts, a tuple has `fields`, a function `arg_types` and `ret_type`: ask which it is."
    return ""


def _resolve_hint(asked: Asked, want: Type, got: Type) -> str:
    while type(want) is type(got) and len(parts(want)) == len(parts(got)) > 0:
        differing = [(a, b) for a, b in zip(parts(want), parts(got)) if a != b]
        want, got = differing[0]
    if isinstance(got, Variable) and isinstance(want, Variable):
        return f"{got} is equal to {want}, the representative of its class: return classes.find({got})."
    if isinstance(got, Variable):
        return f"{got} is known here. What is known may itself hold variables that are known: resolve that, too."
    if type(want) is type(got):
        return "The type must keep all its parts, each of them resolved. A function's result is one of them."
    return "A tuple stays a tuple and a function a function: only variables are replaced."


def _smaller(asked: Asked) -> Iterator[Asked]:
    if asked.known:
        used = variables(asked.type)
        if asked.variable is not None:
            used.append(asked.variable)
        if not any(v in used or asked.classes.known(v) for pair in asked.known for v in variables(*pair)):
            yield Asked(Classes(), (), (), asked.type, asked.variable)
    for simpler in simpler_terms(asked.type):
        yield asked._replace(type=simpler)


def _asked(rng: random.Random, count: int, depth: int, pool_size: int) -> Iterator[Asked]:
    for number in range(count):
        classes, pool, story = known_classes(rng, min(pool_size, 2 + number // 6))
        known = _known(classes, pool)
        yield Asked(classes, tuple(story), known, term(rng, depth and rng.randint(1, depth), pool, 0.8))


def _single(rng: random.Random, count: int) -> Iterator[Asked]:
    """Variables, known and not; one step from what they are."""
    a, b = fresh(2)
    yield Asked(Classes(), (), (), PLAIN[1])
    yield Asked(Classes(), (), (), a)
    merged = Classes()
    merged.merge(a, b)
    yield Asked(merged, (f"{a} and {b} are equal",), ((a, b),), a)
    for _ in range(count):
        classes = Classes()
        known = term(rng, 1, [])
        classes.learn(a, known)
        yield Asked(classes, (f"{a} is {known}",), ((a, known),), a)


def _inside(rng: random.Random, count: int) -> Iterator[Asked]:
    yield from _asked(rng, count, 3, 8)


# -- occurs


def _occurs(asked: Asked) -> bool:
    assert asked.variable is not None
    return asked.classes.find(asked.variable) in variables(resolved(asked.type, asked.classes))


def _judge_occurs(occurs: Anything, asked: Asked) -> Failure | None:
    want = _occurs(asked)
    before, said = snapshot(asked.type), repr(asked.classes)
    outcome = limited(CASE_SECONDS, occurs, asked.variable, asked.type, asked.classes)
    case = _told(asked, f"occurs({asked.variable}, {asked.type}, classes)")
    program = drawn(asked.known, asked.type)
    if outcome.error is not None:
        return crashed(case, outcome, str(want), program=program, hint=_crash_hint(outcome.error))
    got = outcome.value
    if snapshot(asked.type) != before or repr(asked.classes) != said:
        hint = "`occurs` only looks: it changes neither the type nor the classes."
        return Failure(case, str(want), "the type or the classes are changed", hint, program, printed=outcome.printed)
    if isinstance(got, bool) and got == want:
        return None
    hint = _occurs_hint(asked, got) if isinstance(got, bool) else "Every path must return True or False."
    return Failure(case, str(want), f"{got!r:.200}", hint, program, printed=outcome.printed)


def _occurs_hint(asked: Asked, got: bool) -> str:
    if got:
        return "Nothing in the type is of the variable's class. Is it the class that is compared, with classes.find?"
    if asked.variable in variables(asked.type):
        if asked.type is asked.variable:
            return "The type is the variable itself: there it occurs."
        return "The variable stands in the type. Look into every part: a function's parameters and its result, too."
    found = resolved(asked.type, asked.classes)
    equal = [v for v in variables(asked.type) if asked.classes.find(v) is asked.classes.find(asked.variable)]  # type: ignore[arg-type]  # occurs' cases have one
    if equal:
        return f"{equal[0]} is equal to {asked.variable}: compare representatives, classes.find(…)."
    return f"With what is known put in, the type is {found}: look through variables that are known."


def _occurs_in(depth: int, pool_size: int) -> Callable[[random.Random, int], Iterator[Asked]]:
    def cases(rng: random.Random, count: int) -> Iterator[Asked]:
        for asked in _asked(rng, 2 * count, depth, pool_size):
            pool = variables(asked.type, *[t for pair in asked.known for t in pair])
            unknown = [v for v in pool if asked.classes.known(v) is None]
            if unknown:
                yield asked._replace(variable=rng.choice(unknown))

    return cases


def _direct(rng: random.Random, count: int) -> Iterator[Asked]:
    """Nothing is known: the variable stands in the type, or it does not."""
    pool = fresh(3)
    yield Asked(Classes(), (), (), pool[0], pool[0])
    yield Asked(Classes(), (), (), pool[1], pool[0])
    for number in range(count):
        yield Asked(Classes(), (), (), term(rng, min(3, number // 5), pool, 0.5), pool[0])


def _property(
    name: str,
    says: str,
    judge: Callable[[Anything, Asked], Failure | None],
    cases: Callable[[random.Random, int], Iterable[Asked]],
) -> Property:
    def test(answer: Anything, rng: random.Random, count: int) -> Failure | None:
        search: Search[Asked] = Search(lambda asked: judge(answer, asked), _smaller)
        return search(cases(rng, count))

    return Property(name, says, test)


HELPERS = {
    "resolve": Exercise(
        "resolve",
        "resolve(type, classes)",
        (
            _property("variables", "a variable becomes what is known of it", _judge_resolve, _single),
            _property("inside", "so do variables inside types, and inside what is known", _judge_resolve, _inside),
        ),
    ),
    "occurs": Exercise(
        "occurs",
        "occurs(variable, type, classes)",
        (
            _property("direct", "a variable is found wherever it stands in a type", _judge_occurs, _direct),
            _property("known", "also by another name, and in what is known", _judge_occurs, _occurs_in(2, 8)),
        ),
    ),
}
