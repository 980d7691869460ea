"""The checks of the exercise `operator_converter`: random nodes, imported with the learner's converter."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any as Anything

from ...ir.errors import RelayError
from ..budget import Outcome, limited
from ..check import CASE_SECONDS, Exercise, Property, Search, crashed
from ..feedback import Failure
from . import (
    EPSILON,
    NAMED,
    OPERATOR,
    STATIC,
    UNKNOWN,
    Attrs,
    Case,
    Imported,
    MisuseError,
    Watched,
    expected,
    import_node,
    run,
    shown,
)
from .hints import error_hint, type_hint, value_hint

VIEW, CAPTION = "ir", "The program that your converter built for the smallest failing node"
REFUSED = "an error that says why the node cannot be imported"


def _judge(answer: Anything, case: Case) -> Failure | None:
    """Return how the converter fails on a node, or None."""
    right = expected(case)
    wanted = f"y = {shown(right)}"
    watched = Watched(answer)
    outcome = limited(CASE_SECONDS, import_node, case, watched)
    if outcome.error is not None:
        return _not_imported(case, outcome, watched, wanted)
    imported: Imported = outcome.value
    more: dict[str, Anything] = {"program": imported.module, "view": VIEW, "caption": CAPTION}
    if imported.type != imported.right_type:
        hint = type_hint(case, imported.type)
        return Failure(
            str(case),
            f"y: {imported.right_type}",
            f"y: {imported.type}",
            hint,
            printed=outcome.printed,
            **more,
        )
    if imported.foreign:
        names = ", ".join(f"%{name}" for name in imported.foreign)
        hint = "The only variables that a converter may use are in `inputs`: nothing gives another a value."
        got = f"a program with further parameters: {names}"
        return Failure(str(case), wanted, got, hint, printed=outcome.printed, **more)
    ran = limited(CASE_SECONDS, run, case, imported)
    if ran.error is not None:
        return crashed(str(case), ran, wanted, **more)
    if _same(case, ran.value, right):
        return None
    hint = value_hint(case, ran.value, lambda a, b: _same(case, a, b))
    return Failure(str(case), wanted, f"y = {shown(ran.value)}", hint, printed=outcome.printed, **more)


def _not_imported(case: Case, outcome: Outcome, watched: Watched, wanted: str) -> Failure:
    """Build the failure of a node that cannot be imported."""
    own = watched.error
    if isinstance(own, MisuseError):
        return Failure(str(case), wanted, str(own), own.hint, printed=outcome.printed)
    if own is None and isinstance(outcome.error, RelayError):  # what was built is ill-typed
        text = str(outcome.error)
        got = f"the expression cannot be typed: {outcome.error.message}"
        return Failure(str(case), wanted, got, error_hint(case, outcome.error, text), printed=outcome.printed)
    error = own if own is not None and isinstance(outcome.error, RelayError) else outcome.error
    assert error is not None
    hint = error_hint(case, error, str(error)) if isinstance(error, Exception) else ""
    return crashed(str(case), outcome._replace(error=error), wanted, hint=hint)


def _same(case: Case, result: Anything, right: Anything) -> bool:
    import numpy as np

    if getattr(result, "shape", None) != right.shape:
        return False
    half = "float16" in (case.dtype, case.scale_dtype)
    tolerance = 4e-3 if half else 2e-5
    return bool(np.allclose(result, right, rtol=tolerance, atol=tolerance, equal_nan=True))


def _judge_refusal(answer: Anything, case: Case) -> Failure | None:
    """Return a failure if a node that has no meaning, or none that the converter knows, is imported."""
    outcome = limited(CASE_SECONDS, import_node, case, Watched(answer))
    if isinstance(outcome.error, RelayError):
        return None
    if outcome.error is not None:
        return crashed(str(case), outcome, REFUSED)
    attrs = dict(case.attrs)
    hint = (
        f"`axis` must be at least −{case.rank} and less than {case.rank}, the rank of x. Python's `%` and "
        "slices hide an axis out of range: compare it, and raise a `relay.RelayError`."
        if "axis" in attrs
        else "`stash_type` asks for another precision of the first stage than float32. Ignoring an attribute "
        "gives a model with other results: raise a `relay.RelayError` for what you do not convert."
    )
    got = f"a program whose result has the type {outcome.value.type}"
    return Failure(
        str(case), REFUSED, got, hint, outcome.value.module, VIEW, CAPTION, printed=outcome.printed
    )


# -- test cases


def _shape(rng: random.Random, least: int = 1, most: int = 4) -> tuple[int, ...]:
    return tuple(rng.choice((2, 3, 4)) for _ in range(rng.randint(least, most)))


def _attrs(axis: int = -1, epsilon: float = EPSILON) -> Attrs:
    """Return attributes that are all given, so that only one property depends on their defaults."""
    return (("axis", axis), ("epsilon", epsilon))


def _node(rng: random.Random, least: int = 1) -> Case:
    """Draw a node that normalizes the last axis."""
    shape = _shape(rng, least)
    return Case(shape, shape[-1:], _attrs(), seed=rng.randrange(10**6))


def _drawn(rng: random.Random, count: int, draw: Callable[[random.Random], Case]) -> Iterator[Case]:
    """Iterate over random nodes, the small ones first."""
    cases = [draw(rng) for _ in range(max(count // 3, 8))]
    yield from sorted(cases, key=lambda case: (case.rank, sum(case.shape)))


def _defaults(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case((2,), (2,))
    yield Case((2, 2), (2,), seed=1)
    # Elements so small that epsilon is of the size of their squares.
    yield Case((2, 3), (3,), magnitude=1e-3, seed=2)
    yield from _drawn(rng, count, lambda r: replace(_node(r), attrs=(), magnitude=r.choice((1.0, 1e-3))))


def _axes(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case((2, 3), (2, 3), _attrs(0))
    yield Case((2, 3), (3,), _attrs(1))
    yield Case((2, 2, 3), (2, 3), _attrs(1))
    yield Case((2, 2, 3), (2, 3), _attrs(-2))
    yield Case((2, 3, 2, 2), (2,), _attrs(-1))

    def draw(rng: random.Random) -> Case:
        case = _node(rng, 2)
        at = rng.randrange(case.rank)
        axis = at - case.rank if rng.random() < 0.5 else at
        return replace(case, scale=case.shape[at:], attrs=_attrs(axis))

    yield from _drawn(rng, count, draw)


def _epsilons(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case((2,), (2,), _attrs(epsilon=0.5))
    yield Case((3,), (3,), _attrs(epsilon=0.25), magnitude=0.0)

    def draw(rng: random.Random) -> Case:
        attrs = _attrs(epsilon=rng.choice((0.5, 0.1, 1e-3, 2.0)))
        return replace(_node(rng), attrs=attrs, magnitude=rng.choice((0.0, 0.1, 1.0)))

    yield from _drawn(rng, count, draw)


def _scales(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case((2, 3), (3,), _attrs(), weight=False)
    yield Case((2, 2, 3), (2, 3), _attrs())
    yield Case((2, 3), (1,), _attrs())

    def draw(rng: random.Random) -> Case:
        case = _node(rng, 2)
        suffix = case.shape[rng.randrange(case.rank) :]
        scale = tuple([1 if rng.random() < 0.3 else n for n in suffix])
        return replace(case, scale=scale, weight=rng.random() < 0.5)

    yield from _drawn(rng, count, draw)


def _types(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case((2,), (2,), _attrs(), dtype="float16", scale_dtype="float16")
    yield Case((2,), (2,), _attrs(), dtype="float64", scale_dtype="float64")
    yield Case((2, 3), (3,), _attrs(), dtype="float16", scale_dtype="float16", magnitude=400.0)
    yield Case((2,), (2,), _attrs(), dtype="float16", scale_dtype="float32")

    def draw(rng: random.Random) -> Case:
        floats = ("float16", "float32", "float64")
        return replace(_node(rng), dtype=rng.choice(floats), scale_dtype=rng.choice(floats))

    yield from _drawn(rng, count, draw)


def _sizes(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case((2, 3), (3,), _attrs(), sizes=UNKNOWN)
    yield Case((2, 3), (3,), _attrs(), sizes=NAMED)
    yield Case((2, 2, 3), (2, 3), _attrs(), sizes=NAMED)
    yield Case((2, 2, 3), (3,), _attrs(), sizes=UNKNOWN)
    yield from _drawn(rng, count, lambda r: replace(_node(r, 2), sizes=r.choice((NAMED, UNKNOWN))))


def _refused(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case((2, 3), (3,), (("axis", 2),))
    yield Case((2, 3), (3,), (("axis", -3),))
    yield Case((3,), (3,), (("stash_type", 11),))
    yield Case((3,), (3,), (("stash_type", 10),), dtype="float16", scale_dtype="float16")
    for _ in range(max(count // 6, 2)):
        shape = _shape(rng)
        beyond = rng.randint(0, 3)
        axis = rng.choice((len(shape) + beyond, -len(shape) - 1 - beyond))
        yield Case(shape, shape[-1:], (("axis", axis),))


def _smaller(case: Case) -> Iterator[Case]:
    """Yield nodes with fewer axes, smaller extents, and without what does not matter."""
    for at in range(case.rank - len(case.scale)):
        axis = case.axis % case.rank
        if "axis" in dict(case.attrs) and (at >= axis or case.axis >= case.rank or case.axis < -case.rank):
            continue
        attrs = tuple(
            (key, axis - 1 if value >= 0 else value) if key == "axis" else (key, value)
            for key, value in case.attrs
        )
        yield replace(case, shape=case.shape[:at] + case.shape[at + 1 :], attrs=attrs)
    if case.sizes != STATIC:
        yield replace(case, sizes=STATIC)
    if not case.weight:
        yield replace(case, weight=True)
    for old, new in ((4, 3), (3, 2)):
        shape = tuple(new if n == old else n for n in case.shape)
        if shape != case.shape:
            yield replace(case, shape=shape, scale=tuple(new if n == old else n for n in case.scale))
    if case.magnitude != 1.0:
        yield replace(case, magnitude=1.0)
    if case.seed:
        yield replace(case, seed=0)


def _property(
    name: str,
    says: str,
    cases: Callable[[random.Random, int], Iterable[Case]],
    judge: Callable[[Anything, Case], Failure | None] = _judge,
    smaller: Callable[[Case], Iterable[Case]] = _smaller,
) -> Property:
    def test(answer: Anything, rng: random.Random, count: int) -> Failure | None:
        search: Search[Case] = Search(lambda case: judge(answer, case), smaller)
        return search(cases(rng, count))

    return Property(name, says, test)


EXERCISE = {
    "": Exercise(
        f"The converter of {OPERATOR}",
        "convert(node, inputs)",
        (
            _property("defaults", "attributes that the file does not give have ONNX's defaults", _defaults),
            _property("axes", "the mean is over all axes from `axis` on, which may be negative", _axes),
            _property("epsilon", "`epsilon` is added to the mean of the squares", _epsilons),
            _property("scale", "`scale` is a constant or a parameter, and may be broadcast", _scales),
            _property(
                "types", "the first stage is in float32, and the result in the type of `scale`", _types
            ),
            _property("sizes", "dimensions that are known only at run time are kept", _sizes),
            _property(
                "refuses",
                "a node that it cannot convert is an error",
                _refused,
                _judge_refusal,
                lambda case: (),
            ),
        ),
    )
}
