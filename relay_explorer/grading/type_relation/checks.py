"""The checks of the exercise `type_relation`: the test programs, and the mistakes that explain an outcome."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any as Anything

from ...ir.module import IRModule
from ...ir.op import RelationError
from ...ir.types import Any, Dim, TensorType, Type
from ..answer_values import repr_of
from ..budget import limited
from ..check import CASE_SECONDS, Exercise, Property, Search, crashed
from ..feedback import Failure
from . import UNKNOWN, Case, Holds, MisuseError, Refusal, Tried, Waits, answer, program

Cases = Callable[[random.Random, int], Iterable[Case]]
_DTYPES = ("float32", "float64", "float16")


def _judge(rule: Anything, case: Case, look: str = "types") -> Failure | None:
    """Return how `rule` fails on `case`, or None. `look` says what is compared: "types", the inferred
    types; "refusal", only whether the program is refused; "message", also the message.
    """
    right = answer(case)
    tried = Tried(case, rule)
    outcome = limited(CASE_SECONDS, tried.infer)
    text = str(tried.module).strip()
    if isinstance(outcome.error, MisuseError):
        description = str(outcome.error)
        return Failure(
            text,
            _expected(right),
            description,
            outcome.error.hint,
            _broken(case, description),
            printed=outcome.printed,
        )
    if outcome.error is not None:
        hint = _crash_hint(outcome.error, case, right)
        drawn = _broken(case, f"the relation raised {type(outcome.error).__name__}")
        return crashed(text, outcome, _expected(right), hint=hint, program=drawn)
    if look == "refusal" and isinstance(right, Holds) and tried.refusal is None:
        return None
    got, hint = _compared(case, right, tried)
    if not got and look == "message" and isinstance(right, Refusal):
        got, hint = _message(right, tried)
    if not got:
        return None
    return Failure(text, _expected(right), got, hint, tried.module, printed=outcome.printed)


def _broken(case: Case, description: str) -> IRModule:
    """Build the program of `case` for the explorer, in which the relation itself cannot run again."""

    def refuse(types: Anything, num_inputs: int, attrs: Anything, reporter: Anything) -> bool:
        raise RelationError(description)

    return program(case, refuse)[0]


def _expected(right: Holds | Refusal | Waits) -> str:
    if isinstance(right, Holds):
        return f"result: {right.out}\ncenters: {right.centers}"
    if isinstance(right, Refusal):
        return f"a RelationError: {right.says}"
    return "no result: the program does not determine the types, so the relation must wait"


def _compared(case: Case, right: Holds | Refusal | Waits, tried: Tried) -> tuple[str, str]:
    """Describe the outcome of a case, and the mistake that explains it; two empty strings if it is right."""
    if tried.refusal is None:
        got = f"result: {tried.out}\ncenters: {tried.centers_type}"
        if not isinstance(right, Holds):
            return got, _accepted_hint(case, right)
        if tried.out == right.out and tried.centers_type == right.centers:
            return "", ""
        return got, _wrong_type_hint(case, right, tried.out, tried.centers_type)
    message = tried.refusal.message
    if isinstance(right, Holds):
        return f"the compiler rejects the program: {message}", _refused_hint(case, right, tried)
    if isinstance(right, Waits) and tried.refused_by_rule:
        return (
            f"the compiler rejects the program: {message}",
            "Knowing too little is not an error. Return False, and the relation runs again "
            "when more is known.",
        )
    if isinstance(right, Refusal) and not tried.refused_by_rule:
        return (
            f"only this: {message}",
            "The relation waits here, although everything that it needs is known. It "
            "should raise a RelationError.",
        )
    return "", ""


def _message(right: Refusal, tried: Tried) -> tuple[str, str]:
    """Check the refusal itself: a RelationError that states the disagreement and blames the right
    arguments.
    """
    refused = tried.rule.refused
    if refused is None:
        assert tried.refusal is not None
        return (
            f"a rejection, but not by a RelationError of yours: {tried.refusal.message}",
            "Unification failed because the two types differ. Compare them first, and raise "
            "a RelationError that says why.",
        )
    if not isinstance(refused.message, str) or not refused.message.strip():
        return (
            f"a RelationError: {repr_of(refused.message, 300)}",
            "The message is one sentence: what disagrees?",
        )
    missing = [str(n) for n in right.numbers if str(n) not in refused.message]
    if missing:
        return (
            f"a RelationError: {refused.message:.300}",
            f"The message should name the two numbers that disagree; {' and '.join(missing)} is missing.",
        )
    if not set(right.culprits) <= set(refused.culprits) <= {0, 1}:
        expected = right.culprits if len(right.culprits) > 1 else f"({right.culprits[0]},)"
        return (
            f"a RelationError with culprits={repr_of(refused.culprits, 100)}: {refused.message:.300}",
            f"Say which arguments disagree, so that the compiler can point at them: culprits={expected}.",
        )
    return "", ""


# -- hints


def _crash_hint(error: BaseException, case: Case, right: Holds | Refusal | Waits) -> str:
    """Explain an exception that is not a RelationError."""
    if "IncompleteType" in str(error) or "InferenceVariable" in str(error):
        return "A type that is not known yet has no shape. Test first: isinstance(points, IncompleteType)."
    if isinstance(error, AttributeError) and "Tuple" in str(error):
        return "An argument may be something other than a tensor. Test first: isinstance(points, TensorType)."
    if isinstance(right, Refusal):
        if isinstance(error, (ValueError, TypeError, AssertionError)) and "axes, and has" not in right.says:
            return (
                "A relation rejects a call by raising a RelationError; other exceptions look "
                "like a bug in the compiler."
            )
        return "Check that there are enough axes before you look at them, and raise a RelationError if not."
    if isinstance(error, TypeError) and "'Any'" in str(error):
        return (
            "A dimension may be `?`, which is not a number: compare with == or same_dim, and "
            "never with < or max."
        )
    return ""


def _accepted_hint(case: Case, right: Refusal | Waits) -> str:
    """Explain why an ill-typed program is accepted."""
    if isinstance(right, Waits):
        return (
            "Nothing determines the type of the centers, yet the relation answered. It has to "
            "wait: return False."
        )
    if "coordinates" in right.says:
        return "The last axes of the two arguments must be equal, but nothing compares them."
    if "element types" in right.says:
        return "Compare the element types, too."
    if "count=" in right.says:
        return "If both `count` and the centers are known, they must agree."
    if "broadcast" in right.says:
        return "Two batch axes must be equal, or one of them 1."
    return "Raise a RelationError if an argument is not a tensor, or has too few axes."


def _refused_hint(case: Case, right: Holds, tried: Tried) -> str:
    """Explain why a well-typed program is rejected."""
    assert tried.refusal is not None
    if not tried.refused_by_rule:
        if tried.rule.half_done:
            return (
                "The relation assigned a type and then returned False. What it infers itself "
                "does not make it run again: go on, and compute the result in the same run."
            )
        if case.centers is None:
            return "`count` and the points determine the type of the centers: assign it as well."
        if not tried.rule.assigned and not case.late:
            return (
                "Did the relation return False although everything was known, or True without "
                "assigning the result?"
            )
        return (
            "The relation returned True before it had assigned the result, so it is not run "
            "again. Return False while something is missing."
        )
    if tried.rule.impatient:
        return (
            "An argument's type was not known yet when the relation raised its error. Return "
            "False instead, and the relation runs again."
        )
    if tried.rule.guessed:
        return (
            "Nothing determines the type of the centers, yet the relation assigned it. It "
            "has to wait: return False."
        )
    if _has_unknown(case):
        return "`?` may be any number at run time, so it never disagrees."
    if (
        isinstance(case.points, tuple)
        and isinstance(case.centers, tuple)
        and len(case.points) != len(case.centers)
    ):
        return (
            "One argument may have more batch axes than the other. Align them at the last one, as NumPy does."
        )
    if case.count is not None:
        return "`count` is the number of centers, the second-to-last axis of the second argument."
    return ""


def _has_unknown(case: Case) -> bool:
    return any(isinstance(d, Any) for s in (case.points, case.centers) if isinstance(s, tuple) for d in s)


def _wrong_type_hint(case: Case, right: Holds, out: Type | None, centers: Type | None) -> str:
    """Explain a wrong type."""
    if not isinstance(out, TensorType):
        return "The result is a tensor. Did the relation assign its type to `types[-1]`?"
    if out == right.out:
        return (
            "The result is right, but the centers are not: if they have no type of their "
            "own, it is (count, coordinates)."
        )
    if out.dtype != right.out.dtype and out.shape == right.out.shape:
        return "The result has the element type of the arguments, whatever that is."
    want, have = right.out.shape, out.shape
    if have == (*want[:-2], want[-1], want[-2]):
        return "One row per point, one column per center: the last two axes are swapped."
    if have[-2:] != want[-2:]:
        if have[-2:-1] == want[-2:-1] and isinstance(case.points, tuple) and have[-1:] == case.points[-1:]:
            return "The coordinates do not appear in the result. Its last axis is the number of centers."
        return "The last two axes of the result are the number of points and the number of centers."
    if _has_unknown(case):
        return (
            "If `?` meets a number larger than 1, the result is that number; if it meets 1, the "
            "result is `?`."
        )
    batches = [s[:-2] for s in (case.points, case.centers) if isinstance(s, tuple)]
    if have[:-2] in batches:
        return "The batch axes of both arguments count: they broadcast, aligned at the last one."
    if len(batches) == 2 and len(batches[0]) != len(batches[1]):
        return "One argument has more batch axes than the other. Align them at the last one, as NumPy does."
    return "Compute the batch axes alone: everything before the last two axes of each argument."


# -- test cases


def _dims(rng: random.Random, largest: int) -> tuple[int, int, int]:
    """Generate numbers of points, centers and coordinates, all different, so that none can be confused."""
    n, k, d = rng.sample(range(2, max(largest, 6)), 3)
    return n, k, d


def _forward(rng: random.Random, count: int) -> Iterator[Case]:
    for number in range(count):
        n, k, d = _dims(rng, 6 + number)
        dtype = "float32" if number < 3 else rng.choice(_DTYPES)
        yield Case((n, d), (k, d), rng.choice([None, None, k]), dtypes=(dtype, dtype))


def _batches(rng: random.Random, count: int) -> Iterator[Case]:
    for number in range(count):
        n, k, d = _dims(rng, 6 + number)
        batch = [rng.randint(2, 9) for _ in range(rng.randint(1, 1 + min(3, number // 4)))]
        left = [1 if rng.random() < 0.25 else e for e in batch]
        right = [e if left[i] == 1 or rng.random() < 0.7 else 1 for i, e in enumerate(batch)]
        short = rng.randint(0, len(batch))
        if rng.random() < 0.5:
            right = right[short:]
        else:
            left = left[short:]
        yield Case((*left, n, d), (*right, k, d), rng.choice([None, None, k]))


def _late(rng: random.Random, count: int) -> Iterator[Case]:
    for case, late in zip(_batches(rng, count), ["pc", "p", "c"] * count):
        # With `count`, centers of unknown type are assumed to be a matrix: rule 4.
        yield replace(case, late=late, count=None if "c" in late else case.count)
    yield Case((4, 3), None)
    yield Case(None, (5, 3))


def _backward(rng: random.Random, count: int) -> Iterator[Case]:
    for number in range(count):
        n, k, d = _dims(rng, 6 + number)
        batch = [rng.randint(2, 9) for _ in range(rng.randint(0, min(3, number // 4)))]
        dtype = "float32" if number < 3 else rng.choice(_DTYPES)
        yield Case((*batch, n, d), None, k, rng.choice(["", "p", "pc"]) if number > 3 else "", (dtype, dtype))


def _any(rng: random.Random, count: int) -> Iterator[Case]:
    for case in _batches(rng, count):
        points, centers = [
            tuple(UNKNOWN if rng.random() < 0.35 else d for d in shape)
            for shape in (case.points, case.centers)
            if isinstance(shape, tuple)
        ]
        result = replace(case, points=points, centers=centers)
        yield result
        if rng.random() < 0.3:
            yield replace(result, centers=None, count=7)


def _bad(rng: random.Random, count: int) -> Iterator[Case]:
    """Yield programs that are each wrong in one place, and some that are right."""
    for number in range(count):
        n, k, d = _dims(rng, 6 + number)
        good = Case((n, d), (k, d))
        yield [
            replace(good, centers=(k, n)),
            replace(good, count=k + 1),
            Case((4, n, d), (5, k, d)),
            Case((4, 6, n, d), (6, 4, k, d)),
            replace(good, dtypes=("float32", "float64")),
            replace(good, points=(d,)),
            replace(good, centers=(d,)),
            replace(good, points=()),
            replace(good, points="tuple"),
            replace(good, centers="tuple"),
            Case((1, 6, n, d), (4, 1, k, d), k),
        ][number % 11]


def _disagreeing(rng: random.Random, count: int) -> Iterator[Case]:
    return (case for case in _bad(rng, count) if isinstance(answer(case), Refusal))


def _smaller(case: Case) -> Iterator[Case]:
    """Yield simpler cases that should have the same outcome: a type, a rejection or waiting."""
    kind = type(answer(case))
    return (simpler for simpler in _simpler(case) if type(answer(simpler)) is kind)


def _simpler(case: Case) -> Iterator[Case]:
    if case.late:
        yield replace(case, late="")
        for letter in case.late:
            if letter != case.late:
                yield replace(case, late=letter)
    if case.count is not None and case.centers is not None:
        yield replace(case, count=None)
    if case.dtypes[0] == case.dtypes[1] != "float32":
        yield replace(case, dtypes=("float32", "float32"))
    for field in ("points", "centers"):
        shape = getattr(case, field)
        if isinstance(shape, tuple):
            for axis in range(len(shape) - 2):
                yield _with(case, field, shape[:axis] + shape[axis + 1 :])
    yield from _plainer(case)


def _plainer(case: Case) -> Iterator[Case]:
    """Yield smaller numbers, equal where they were equal, and no `?`."""
    dims = sorted(
        {d for s in (case.points, case.centers) if isinstance(s, tuple) for d in s if isinstance(d, int)}
    )
    names: dict[Dim, Dim] = {d: d for d in dims}
    free = iter(n for n in range(2, 12))
    for dim in dims:
        if dim > 1:
            names[dim] = next(free)
    small = replace(case, points=_named(case.points, names), centers=_named(case.centers, names))
    if case.count is not None:
        small = replace(small, count=names.get(case.count, 7))  # type: ignore[arg-type]  # ints stay ints
    if small != case:
        yield small
    for field in ("points", "centers"):
        shape = getattr(case, field)
        for axis, dim in enumerate(shape if isinstance(shape, tuple) else ()):
            if isinstance(dim, Any):
                yield _with(case, field, (*shape[:axis], 5, *shape[axis + 1 :]))


def _with(case: Case, field: str, shape: tuple[Dim, ...]) -> Case:
    return replace(case, points=shape) if field == "points" else replace(case, centers=shape)


def _named(shape: tuple[Dim, ...] | str | None, names: dict[Dim, Dim]) -> tuple[Dim, ...] | str | None:
    return tuple(names.get(d, d) for d in shape) if isinstance(shape, tuple) else shape


def _property(name: str, says: str, cases: Cases, look: str = "types") -> Property:
    def test(rule: Anything, rng: random.Random, count: int) -> Failure | None:
        search: Search[Case] = Search(lambda case: _judge(rule, case, look), _smaller)
        return search(cases(rng, count))

    return Property(name, says, test)


EXERCISE = {
    "": Exercise(
        "The type relation of distances",
        "relation(types, num_inputs, attrs, reporter)",
        (
            _property("forward", "two known matrices determine the type of the result", _forward),
            _property("broadcast", "batch axes broadcast", _batches),
            _property(
                "waits", "it waits for types that are not known yet, and finishes when they are", _late
            ),
            _property("backward", "`count` determines the type of the centers", _backward),
            _property("any", "a dimension may be `?`", _any),
            _property("refuses", "ill-typed programs are rejected, and only those", _bad, "refusal"),
            _property(
                "message",
                "the error says what disagrees, and which arguments are to blame",
                _disagreeing,
                "message",
            ),
        ),
    )
}
