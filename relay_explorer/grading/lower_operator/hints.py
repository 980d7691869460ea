"""The usual mistakes in lowering `smooth`: what each would compute, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything

from . import Case, around, meant, numbers, smoothed

_ALL = "There are fewer neighbours at the ends: divide by as many as there are, not by 2 · radius + 1."
_EDGE = "A place outside is left out. You read the last number inside instead, once for each place outside."
_ROUND = "A place outside is left out. You go on at the other end: the axis is no circle."
_OUTSIDE = (
    "Numbers before the first or behind the last are read, where anything may stand. Ask whether a place is "
    "inside: `te.if_then_else(te.all(j >= 0, j < n), …, …)`."
)
_ITSELF = "This is x as it was. Each number is to be the mean of its neighbours."
_SHORT = (
    "One neighbour is missing, the last to the right: from −radius to +radius there are 2 · radius + 1 "
    "places."
)
_LEFT = "All places that you read lie to one side. Subtract the radius from the index."
_SUM = "This is the sum of the neighbours. Their mean is it divided by how many there are."
_ZERO = (
    "Something outside the neighbours is read and multiplied by zero, and infinity times zero is no number. "
    "Choose instead of multiplying: te.if_then_else(inside, …, …)."
)
_NARROW = (
    "A float16 has 11 bits: from 2048 on, adding 1 changes nothing. Sum up in float32, and convert the mean."
)
_SINGLE = "The result is right to the seventh digit: something is computed in float32. Use the type of x."


def _clamped(radius: int) -> Callable[[int, int], list[int]]:
    return lambda at, n: [min(max(j, 0), n - 1) for j in range(at - radius, at + radius + 1)]


def _mistakes(radius: int) -> list[tuple[Callable[[Anything], Anything], str]]:
    """Return what answers with usual mistakes compute, with their hints."""
    full = 2 * radius + 1

    def inside(first: int, last: int) -> Callable[[int, int], list[int]]:
        return lambda at, n: [j for j in range(at + first, at + last + 1) if 0 <= j < n]

    return [
        (lambda x: x, _ITSELF),
        (lambda x: meant(x, inside(-radius, radius), full), _ALL),
        (lambda x: meant(x, _clamped(radius)), _EDGE),
        (lambda x: meant(x, lambda at, n: [j % n for j in range(at - radius, at + radius + 1)]), _ROUND),
        (lambda x: meant(x, inside(-radius, radius - 1)), _SHORT),
        (lambda x: meant(x, inside(-radius, radius - 1), full), _SHORT),
        (lambda x: meant(x, inside(0, 2 * radius)), _LEFT),
        (lambda x: meant(x, inside(0, 2 * radius), full), _LEFT),
        (lambda x: meant(x, inside(-radius, radius), 1), _SUM),
    ]


def lowering_hint(case: Case, result: Anything, close: Callable[[Anything, Anything], bool]) -> str:
    """Explain the result of a lowering by a usual mistake, if one explains it."""
    import numpy as np

    x = numbers(case)
    if case.filling == "ones" and case.dtype == "float16":
        return _NARROW
    inner = np.tanh(x) if case.around else x
    with np.errstate(all="ignore"):
        right = smoothed(inner, case.radius)
        if case.filling == "infinite" and np.isnan(result[~np.isnan(right)]).any():
            return _ZERO
        for computes, hint in _mistakes(case.radius):
            new = computes(inner)
            if close(result, around(x, new) if case.around else new):
                return hint
        if case.filling == "numbers" and np.isnan(result).any():
            return _OUTSIDE
        if case.dtype == "float64" and np.allclose(result, around(x, right) if case.around else right, 1e-5):
            return _SINGLE
    return ""


# A part of what is said of an error, and what to do.
_AXES = "x may have any number of axes: `lambda *i: …` gets all indices, and `*row, at = i` takes the last."
_PYTHON = "An index is no number yet: te.if_then_else, tirx.min and tirx.max choose, Python's cannot."
_ALONE = "A sum stands alone in its te.compute. Divide in a second one, which reads the first."
_OWN = "Read call.inputs[0]: within a kernel it is whatever was computed before, and no placeholder of yours."
_REFUSALS = (
    ("makes nothing", "Return a list of tensors: [te.compute(…)]."),
    (
        "the lowering of `smooth` makes",
        "What te.compute gives must have the shape of x, all its axes, and its element type.",
    ),
    ("object is not iterable", "A lowering returns tensors: [te.compute(…)]."),
    ("does not appear as a function argument", _OWN),
    ("positional argument", _AXES),
    ("dimension mismatch", _AXES),
    ("values to unpack", _AXES),
    ("Cannot use and / or / not", _PYTHON),
    ("symbolic", _PYTHON),
    ("as a bool", _PYTHON),
    ("Reduction is only allowed", _ALONE),
    ("Reductions are only allowed", _ALONE),
    ("Reduce should be", _ALONE),
    (
        "IntImm can only take scalar",
        "TVM turns no condition into a number here. te.if_then_else(inside, …, …) chooses.",
    ),
    (
        "dtype",
        "Two numbers of different types meet. `.astype(…)` converts one, and te.const(0, dtype) makes a "
        "number of a type.",
    ),
    (
        "cannot compile the kernel",
        "TVM made no code of it. Is every tensor that you read call.inputs[0], or computed from it?",
    ),
)


def slow_hint(case: Case) -> str:
    """Advise on a lowering that takes too long to compile, where the reason is known."""
    if case.radius < 100:
        return ""
    return (
        f"A term for each neighbour makes {2 * case.radius + 1:,} of them, and all are compiled. "
        "A sum over te.reduce_axis is one term, however long the axis is."
    )


NAMES = ("ELEMWISE", "BROADCAST", "INJECTIVE")


def refused_hint(message: str) -> str:
    """Advise on an error; an empty string where its message suffices."""
    return next((hint for part, hint in _REFUSALS if part in message), "")


def pattern_hint(inputs: int, steps: Sequence[str]) -> str:
    """Explain what a pattern promises that `smooth` does not satisfy, or what it leaves out."""
    if inputs == 8:
        return (
            "OPAQUE is fused with nothing. What is done to each number of the result can be done in the same "
            "loops, once the number is there."
        )
    if inputs == 3:
        return (
            "COMM_REDUCE takes in what stands before it, which is computed anew for each of the 5 places "
            "that read it; and what is done to a reduction's result is not taken in."
        )
    if steps[0] == "smooth" and steps[-1] in ("sum", "smooth"):
        return (
            f"{NAMES[inputs]} says that a number of the result is cheap to compute where it is needed. Here "
            "it is a sum with a loop of its own: whoever reads it several times adds it up each time."
        )
    return (
        f"{NAMES[inputs]} says that each number of x is needed once. Here 5 places read it, so what is fused "
        "before it would be computed 5 times."
    )
