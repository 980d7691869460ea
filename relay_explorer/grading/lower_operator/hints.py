"""The common mistakes in lowering `smooth`: the results that each would compute, and the hints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything

from . import Case, around, mean_over, numbers, smoothed

_ALL = "There are fewer neighbors near the boundaries: divide by their actual number, not by 2 · radius + 1."
_EDGE = (
    "Indices outside the axis do not count. Yours read the boundary element instead, once per outside index."
)
_ROUND = "Indices outside the axis do not count. Yours wrap around to the other end."
_OUTSIDE = (
    "The formula reads before the first or after the last element, where memory may contain "
    "anything. Test whether the index is inside: `te.if_then_else(te.all(j >= 0, j < n), …, "
    "…)`."
)
_ITSELF = "This is x, unchanged. Each element should become the mean of its neighbors."
_SHORT = (
    "The last neighbor to the right is missing: from −radius to +radius there are 2 · radius + 1 indices."
)
_LEFT = "All indices that you read are on one side. Subtract the radius from the index."
_SUM = "This is the sum of the neighbors. For the mean, divide it by their number."
_ZERO = (
    "The formula reads an element outside the neighborhood and multiplies it by zero, but "
    "infinity times zero is NaN. Select instead of multiplying: te.if_then_else(inside, …, "
    "…)."
)
_NARROW = (
    "A float16 has 11 significant bits: from 2048 on, adding 1 changes nothing. Accumulate "
    "in float32, and convert the mean."
)
_SINGLE = "The result is right to seven digits, so something is computed in float32. Use the type of x."


def _clamped(radius: int) -> Callable[[int, int], list[int]]:
    return lambda at, n: [min(max(j, 0), n - 1) for j in range(at - radius, at + radius + 1)]


def _mistakes(radius: int) -> list[tuple[Callable[[Anything], Anything], str]]:
    """Return the results of answers with common mistakes, with their hints."""
    full = 2 * radius + 1

    def inside(first: int, last: int) -> Callable[[int, int], list[int]]:
        return lambda at, n: [j for j in range(at + first, at + last + 1) if 0 <= j < n]

    return [
        (lambda x: x, _ITSELF),
        (lambda x: mean_over(x, inside(-radius, radius), full), _ALL),
        (lambda x: mean_over(x, _clamped(radius)), _EDGE),
        (lambda x: mean_over(x, lambda at, n: [j % n for j in range(at - radius, at + radius + 1)]), _ROUND),
        (lambda x: mean_over(x, inside(-radius, radius - 1)), _SHORT),
        (lambda x: mean_over(x, inside(-radius, radius - 1), full), _SHORT),
        (lambda x: mean_over(x, inside(0, 2 * radius)), _LEFT),
        (lambda x: mean_over(x, inside(0, 2 * radius), full), _LEFT),
        (lambda x: mean_over(x, inside(-radius, radius), 1), _SUM),
    ]


def lowering_hint(case: Case, result: Anything, close: Callable[[Anything, Anything], bool]) -> str:
    """Explain the result of a lowering by a common mistake, if there is one."""
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


# A part of the error's message, and what to do.
_AXES = (
    "x may have any number of axes: `lambda *i: …` receives all indices, and `*row, at = i` takes the last."
)
_PYTHON = (
    "An index is a symbol, not a number: use te.if_then_else, tirx.min and tirx.max instead of Python's."
)
_ALONE = "A sum must be the whole formula of its te.compute. Divide in a second one, which reads the first."
_OWN = "Read call.inputs[0]: within a kernel it is the result of the preceding operator, not a placeholder."
_REFUSALS = (
    ("produces nothing", "Return a list of tensors: [te.compute(…)]."),
    (
        "the lowering of `smooth` produces",
        "The result of te.compute must have the shape of x, with all its axes, and its element type.",
    ),
    ("object is not iterable", "A lowering returns a list of tensors: [te.compute(…)]."),
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
        "TVM cannot convert a condition to a number here. Use te.if_then_else(inside, …, …).",
    ),
    (
        "dtype",
        "Two values of different types meet. `.astype(…)` converts one, and te.const(0, "
        "dtype) creates a constant of a type.",
    ),
    (
        "cannot compile the kernel",
        "TVM could not compile it. Is every tensor that you read call.inputs[0], or computed from it?",
    ),
)


def slow_hint(case: Case) -> str:
    """Advise on a lowering that takes too long to compile, if the reason is known."""
    if case.radius < 100:
        return ""
    return (
        f"One term per neighbor makes {2 * case.radius + 1:,} terms, all of which are "
        "compiled. A sum over te.reduce_axis is a single term, however long the axis is."
    )


NAMES = ("ELEMWISE", "BROADCAST", "INJECTIVE")


def refused_hint(message: str) -> str:
    """Advise on an error; an empty string if its message suffices."""
    return next((hint for part, hint in _REFUSALS if part in message), "")


def pattern_hint(inputs: int, steps: Sequence[str]) -> str:
    """Explain what a pattern promises that `smooth` does not satisfy, or which fusion it misses."""
    if inputs == 8:
        return (
            "OPAQUE is never fused. But an element-wise operator that follows can run in the "
            "same loops, as soon as an element of the result is computed."
        )
    if inputs == 3:
        return (
            "COMM_REDUCE fuses with the operator before it, which is then recomputed for "
            "each of the 5 elements that read it. It does not fuse with the operators that "
            "follow a reduction."
        )
    if steps[0] == "smooth" and steps[-1] in ("sum", "smooth"):
        return (
            f"{NAMES[inputs]} says that an element of the result is cheap to compute where it "
            "is needed. Here it is a sum with a loop of its own: a consumer that reads it "
            "several times recomputes it each time."
        )
    return (
        f"{NAMES[inputs]} says that each element of x is read once. Here it is read for 5 "
        "elements of the result, so an operator fused before it would be computed 5 times."
    )
