"""The checks of the exercise `lower_operator`: the relation, the lowering and the pattern of `smooth`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.op import RelationError
from ...ir.types import Any, Dim, IncompleteType, TensorType, TupleType, Type
from ..answer_values import integer, repr_of
from ..budget import OutOfTimeError, limited
from ..check import CASE_SECONDS, Exercise, Property, Search, crashed
from ..feedback import Failure
from . import (
    DTYPES,
    NAME,
    PATTERN,
    Case,
    SmoothAttrs,
    chain,
    expected_result,
    kernel,
    kernels,
    numbers,
    padded_with_nan,
)
from .hints import lowering_hint, pattern_hint, refused_hint, slow_hint

COMPILE_SECONDS = 30.0

# -- the relation


class _Reporter:
    def __init__(self) -> None:
        self.assigned: list[tuple[Type, Type]] = []

    def assign(self, target: Type, value: Type) -> None:
        self.assigned.append((target, value))


Question = tuple[Type, int, str]  # the type of x, the radius, and the expected outcome
HOLDS, WAITS, REFUSES = "holds", "waits", "refuses"


def _judge_relation(answer: Anything, question: Question) -> Failure | None:
    """Return how a relation fails on one question, or None."""
    inputs, radius, right = question
    out, reporter = IncompleteType(), _Reporter()
    case = f"types = [{_shown(inputs)}, not known yet], attrs.radius = {radius}"
    expected = {
        HOLDS: f"True, and the result is {inputs}", WAITS: "False: too little is known",
        REFUSES: "a RelationError",
    }[right]  # fmt: skip
    outcome = limited(CASE_SECONDS, answer, [inputs, out], 1, SmoothAttrs(radius=radius), reporter)
    if isinstance(outcome.error, RelationError):
        if right == REFUSES:
            return None
        hint = "A type that is not known yet is never an error." if right == WAITS else ""
        return Failure(case, expected, f"a RelationError: {outcome.error}", hint, printed=outcome.printed)
    if outcome.error is not None:
        strange = right != HOLDS and isinstance(outcome.error, (AttributeError, TypeError))
        return crashed(case, outcome, expected, hint=_relation_hint(question, None, []) if strange else "")
    message = [value for target, value in reporter.assigned if target is out]
    got = f"{repr_of(outcome.value)}, and the result is {message[-1] if message else 'not assigned'}"
    if right == HOLDS and outcome.value is True and message == [inputs]:
        return None
    if right == WAITS and outcome.value is False and not message:
        return None
    return Failure(
        case, expected, got, _relation_hint(question, outcome.value, message), printed=outcome.printed
    )


def _shown(type_: Type) -> str:
    return "not known yet" if isinstance(type_, IncompleteType) else str(type_)


def _relation_hint(question: Question, value: Anything, message: Sequence[Type]) -> str:
    inputs, radius, right = question
    if right == REFUSES and radius < 0:
        return "A negative radius leaves no neighbors, and the mean of nothing is not defined."
    if right == REFUSES and isinstance(inputs, TupleType):
        return "An argument may be a tuple. `tensor(type, 0)` rejects everything but a tensor."
    if right == REFUSES and isinstance(inputs, TensorType):
        return (
            "A tensor without axes has no last axis."
            if not inputs.shape
            else ("The mean of integers is not an integer: accept only float16, float32 and float64.")
        )
    if right == WAITS:
        return "While the type of x is an IncompleteType, the relation waits: it returns False."
    if value is not True:
        return "Return True after you have assigned the result."
    return "Report what the relation infers: reporter.assign(types[1], …)." if not message else ""


def _known(rng: random.Random, count: int) -> Iterator[Question]:
    yield TensorType.of((8,), "float32"), 1, HOLDS
    yield IncompleteType(), 1, WAITS
    for _ in range(count):
        sizes: list[Dim] = [1, 2, 5, 8, Any()]
        shape = [rng.choice(sizes) for _ in range(rng.randint(1, 4))]
        yield TensorType.of(tuple(shape), rng.choice(DTYPES)), rng.randint(0, 9), HOLDS


def _refused(rng: random.Random, count: int) -> Iterator[Question]:
    yield TensorType.of((), "float32"), 1, REFUSES
    yield TensorType.of((4,), "int32"), 1, REFUSES
    yield TensorType.of((4,), "float32"), -1, REFUSES
    yield TupleType([TensorType.of((4,), "float32")]), 1, REFUSES
    for dtype in ("bool", "uint8", "int64"):
        yield TensorType.of((2, 3), dtype), rng.randint(0, 3), REFUSES


def _relation(name: str, says: str, cases: Callable[[random.Random, int], Iterable[Question]]) -> Property:
    def test(answer: Anything, rng: random.Random, count: int) -> Failure | None:
        return next((f for question in cases(rng, count) if (f := _judge_relation(answer, question))), None)

    return Property(name, says, test)


# -- the lowering


class NoTensorsError(TypeError):
    """A lowering returned something other than tensors; the message says what."""


def _tensors(inputs: Anything) -> Anything:
    from tvm import te

    parts = [inputs] if isinstance(inputs, te.Tensor) else inputs
    if not isinstance(parts, (list, tuple)) or not all(isinstance(part, te.Tensor) for part in parts):
        raise NoTensorsError(repr_of(inputs))
    return inputs


def _judge_lowering(answer: Anything, case: Case) -> Failure | None:
    """Return how a lowering fails on one case, or None."""
    import numpy as np

    right = expected_result(case)
    new: dict[str, Anything] = {}

    def run() -> Anything:
        new["kernel"] = kernel(case, lambda call: _tensors(answer(call)))
        return new["kernel"](padded_with_nan(numbers(case), case.radius))

    outcome = limited(COMPILE_SECONDS, run)
    expected = f"{_few(right)}"
    if outcome.error is not None:
        cause = (
            outcome.error.__cause__
        )  # the compiler says which lowering failed, and the error that it raised
        if isinstance(cause, NoTensorsError):
            hint = "A lowering returns a list of tensors, the results of te.compute: [te.compute(…)]."
            return Failure(str(case), "a list of tensors", f"{cause}", hint, printed=outcome.printed)
        if isinstance(outcome.error, RelayError):
            message = outcome.error.message
            description = "\n".join([message, *outcome.error.help])
            return Failure(
                str(case), expected, description[:600], refused_hint(description), printed=outcome.printed
            )
        hint = slow_hint(case) if isinstance(outcome.error, OutOfTimeError) else ""
        return crashed(str(case), outcome, expected, hint=hint or refused_hint(str(outcome.error)))
    result = outcome.value
    if _close(result, right):
        return None
    wrong = ~(np.isclose(result, right, *_tolerance(case.dtype), equal_nan=True))
    place = [int(at[0]) for at in np.nonzero(wrong)]
    spot = f"result[{', '.join(map(str, place))}]"
    return Failure(
        str(case), f"{spot} = {right[tuple(place)]:g} in {expected}",
        f"{spot} = {result[tuple(place)]:g} in {_few(result)}",
        lowering_hint(case, result, _close), printed=outcome.printed,
        picture=lambda: _explorer(new["kernel"]),
    )  # fmt: skip


def _tolerance(dtype: str) -> tuple[float, float]:
    """Return the relative and absolute tolerance; a float64 computed in float32 is off by more."""
    return {"float16": (4e-3, 4e-3), "float32": (1e-5, 1e-5), "float64": (1e-11, 1e-11)}[dtype]


def _close(result: Anything, right: Anything) -> bool:
    import numpy as np

    return result.dtype == right.dtype and bool(
        np.allclose(result, right, *_tolerance(str(right.dtype)), equal_nan=True)
    )


def _few(array: Anything) -> str:
    import numpy as np

    return np.array2string(array, precision=4, threshold=24, edgeitems=4, suppress_small=True)


def _explorer(result: Anything) -> Anything:
    from ...explorer import explore

    return explore(result, view="lowering", title="Your lowering")


def _smaller(case: Case) -> Iterator[Case]:
    """Yield simpler cases: fewer axes, fewer elements, a smaller radius."""
    from dataclasses import replace

    if case.filling == "ones":
        return
    if len(case.shape) > 1:
        yield replace(case, shape=case.shape[1:])
    for n in dict.fromkeys((3, 5, case.shape[-1] // 2)):
        if 2 < n < case.shape[-1]:
            yield replace(case, shape=(*case.shape[:-1], n))
    for radius in range(1, min(case.radius, 3)):
        yield replace(case, radius=radius)


Cases = Callable[[random.Random], Iterator[Case]]


def _lowering(name: str, says: str, cases: Cases) -> Property:
    """Generate the cases. Each is compiled, so there are few of them."""

    def test(answer: Anything, rng: random.Random, count: int) -> Failure | None:
        search: Search[Case] = Search(lambda case: _judge_lowering(answer, case), _smaller)
        chosen = list(cases(rng))
        for _ in range(count // 100):  # more of the same, when an answer is graded
            chosen += cases(rng)
        return search(chosen)

    return Property(name, says, test)


def _ends(rng: random.Random) -> Iterator[Case]:
    yield Case((8,), 1)
    yield Case((rng.randint(9, 40),), rng.randint(2, 4), seed=rng.randint(0, 999))
    yield Case((rng.randint(2, 6),), rng.randint(6, 30), seed=rng.randint(0, 999))
    yield Case((1,), 2)
    yield Case((5,), 0)


def _axes(rng: random.Random) -> Iterator[Case]:
    yield Case((3, 8), 1)
    yield Case((rng.randint(1, 3), rng.randint(2, 4), rng.randint(5, 20)), 2, seed=rng.randint(0, 999))


def _wide(rng: random.Random) -> Iterator[Case]:
    yield Case((16,), 2, "float64", seed=rng.randint(0, 999))
    yield Case((16,), 2, "float16", seed=rng.randint(0, 999))


def _long(rng: random.Random) -> Iterator[Case]:
    yield Case((rng.randint(2600, 3200),), 3200, "float16", "ones")


def _infinite(rng: random.Random) -> Iterator[Case]:
    yield Case((16,), 1, filling="infinite", seed=rng.randint(0, 999))
    yield Case((2, rng.randint(9, 20)), 2, filling="infinite", seed=rng.randint(0, 999))


def _around(rng: random.Random) -> Iterator[Case]:
    yield Case((4, 12), 1, around=True, seed=rng.randint(0, 999))
    yield Case((2, 3, 20), 3, "float64", around=True, seed=rng.randint(0, 999))


# -- the pattern

CHAINS = (
    ("smooth", "nn.relu"), ("smooth", "sum"), ("tanh", "smooth"), ("smooth", "smooth"),
    ("tanh", "smooth", "nn.relu"), ("smooth", "sigmoid", "tanh"),
)  # fmt: skip


def _pattern(answer: Anything, rng: random.Random, count: int) -> Failure | None:
    outcome = limited(CASE_SECONDS, answer, 2)
    if outcome.error is not None:
        return crashed("the pattern", outcome, "one of OpPattern")
    inputs = integer(outcome.value)
    if inputs not in (0, 1, 2, 3, 4, 8):
        return Failure(
            "the pattern", "one of OpPattern", repr_of(outcome.value, 60),
            "It is one of OpPattern.ELEMWISE, BROADCAST, INJECTIVE, COMM_REDUCE, OUT_ELEMWISE_FUSABLE and "
            "OPAQUE.",
        )  # fmt: skip
    for steps in CHAINS:
        right, result = kernels(chain(PATTERN, steps)), kernels(chain(inputs, steps))
        if result != right:
            return Failure(
                f"{' → '.join(steps)}, with smooth over 5 numbers", _kernels(right), _kernels(result),
                pattern_hint(inputs, steps), program=chain(inputs, steps), view="fusion",
                caption="By your pattern", printed=outcome.printed,
            )  # fmt: skip
    return None


def _kernels(result: Sequence[Sequence[str]]) -> str:
    return "the kernels " + " | ".join(["·".join(names) for names in result])


EXERCISE = {
    "relation": Exercise(
        "The type relation of smooth",
        "relation(types, num_inputs, attrs, reporter)",
        (
            _relation("types", "the result has the type of x, once that is known", _known),
            _relation("refuses", "everything that has no mean along its last axis is rejected", _refused),
        ),
    ),
    "lowering": Exercise(
        "The lowering of smooth",
        "lowering(call)",
        (
            _lowering("ends", "the mean covers the neighbors that exist, at the boundaries too", _ends),
            _lowering("axes", "it works along the last of any number of axes", _axes),
            _lowering("types", "it works in the element type of x", _wide),
            _lowering("long", "it accumulates many float16 values accurately", _long),
            _lowering("infinite", "an infinity affects only its neighbors", _infinite),
            _lowering("around", "the result is the same in a kernel with other operators", _around),
        ),
    ),
    "pattern": Exercise(
        "The pattern of smooth",
        "pattern(radius)",
        (Property("kernels", "it is fused wherever that does not compute anything twice", _pattern),),
    ),
}
assert NAME in {step for steps in CHAINS for step in steps}
