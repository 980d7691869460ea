"""The mistakes that explain a wrong result of a converter: the result is compared with what each gives."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any as Anything

from ...ir.size import Size
from ...ir.types import Any, TensorType
from . import COMPUTES, EPSILON, Case, numbers

DEFAULTS = (
    "`node.attrs` has only the attributes that the file gives; for the others ONNX defines defaults: "
    '`node.attrs.get("axis", -1)`.'
)
STAGES = (
    'The first stage is computed in float32, whatever the type of x: `relay.cast(x, "float32")`. Its result '
    "is converted to the type of x, and then to that of scale."
)
SIZES = (
    "A dimension may be a name or `?`, which is known only when the model runs. Use operators that need no "
    "number: `relay.mean` divides by the count itself, and `keepdims=True` replaces a reshape."
)


def error_hint(case: Case, error: BaseException, text: str) -> str:
    """Explain an error of the converter, or of the types of what it built."""
    if isinstance(error, KeyError) and error.args and error.args[0] in ("axis", "epsilon", "stash_type"):
        return DEFAULTS
    dynamic = any(isinstance(dim, (Any, Size)) for dim in case.type_of_x().shape)
    if dynamic and (isinstance(error, (TypeError, ValueError, AttributeError)) or "integers" in text):
        return SIZES
    if isinstance(error, TypeError) and "ufunc" in text:
        return COMPUTES
    if isinstance(error, AttributeError) and "data" in text:
        return (
            "The operands are expressions. Even a weight may be a parameter, so there is no value to read "
            "here: build expressions with the functions of `relay`."
        )
    if isinstance(error, AttributeError) and "attrs" not in text and "checked_type" in text:
        return (
            "The operands have types, `inputs[0].checked_type`; an expression that you have just built has "
            "none yet. Derive what you need from the types of the operands."
        )
    floats = [name for name in ("float16", "float32", "float64") if name in text]
    if len(floats) > 1:
        return (
            "Both operands of an operator need the same element type. A constant has one, too, "
            f'`relay.const(…, "float32")`. {STAGES}'
        )
    if "axis" in text or "axes" in text or "broadcast" in text or "shape" in text:
        return (
            "With `keepdims=True` the mean keeps its axes, with extent 1, so that it can be broadcast "
            "against x. The axes run from `axis` to the last; count a negative `axis` from the end first."
        )
    return ""


def type_hint(case: Case, got: TensorType) -> str:
    """Explain a result of the wrong type."""
    right = case.type_of_x()
    if got.dtype != case.scale_dtype:
        return (
            f"The result has the type of scale, {case.scale_dtype}. {STAGES}"
            if case.dtype != case.scale_dtype
            else STAGES
        )
    if len(got.shape) != len(right.shape):
        return "y has the shape of x: the mean, with `keepdims=True`, is broadcast against x."
    if any(isinstance(dim, (Any, Size)) for dim in [*got.shape, *right.shape]):
        return (
            "The sizes of x are lost. y has the shape of x, names and `?` included: do not reshape, or "
            "reshape back with `relay.reshape_like(…, x)`."
        )
    return "y has the shape of x."


def value_hint(case: Case, got: Anything, same: Callable[[Anything, Anything], bool]) -> str:
    """Explain wrong values by a common mistake; "" if none is known."""
    for compute, hint in MISTAKES:
        with contextlib.suppress(ValueError):  # this mistake is not possible here: shapes that do not fit
            if same(got, _computed(case, compute)):
                return hint
    return ""


def _computed(case: Case, stage_one: Anything) -> Anything:
    import numpy as np

    x, scale = numbers(case)
    with np.errstate(all="ignore"):
        normalized = stage_one(case, x.astype("float32"), np)
        if isinstance(normalized, tuple):  # stage one, and what takes the place of the scale
            normalized, scale = normalized[0], normalized[1](scale)
        return normalized.astype(case.dtype).astype(case.scale_dtype) * scale


def _axes(case: Case) -> tuple[int, ...]:
    return tuple(range(case.axis % case.rank, case.rank))


def _square(x: Anything, axes: tuple[int, ...] | None, np: Anything) -> Anything:
    return np.mean(x * x, axis=axes, keepdims=True)


def _over(axes: Callable[[Case], tuple[int, ...] | None]) -> Anything:
    """Compute stage one over other axes."""
    return lambda case, x, np: x / np.sqrt(_square(x, axes(case), np) + case.epsilon)


def _with_epsilon(epsilon: Callable[[Case], float]) -> Anything:
    """Compute stage one with another epsilon."""
    return lambda case, x, np: x / np.sqrt(_square(x, _axes(case), np) + epsilon(case))


def _layer_norm(case: Case, x: Anything, np: Anything) -> Anything:
    centred = x - np.mean(x, axis=_axes(case), keepdims=True)
    return centred / np.sqrt(_square(centred, _axes(case), np) + case.epsilon)


def _without_axes(case: Case, x: Anything, np: Anything) -> Anything:
    return x / np.sqrt(np.mean(x * x, axis=_axes(case)) + case.epsilon)


def _deviation(case: Case, x: Anything, np: Anything) -> Anything:
    return x / np.sqrt(np.var(x, axis=_axes(case), keepdims=True) + case.epsilon)


def _sum(case: Case, x: Anything, np: Anything) -> Anything:
    return x / np.sqrt(np.sum(x * x, axis=_axes(case), keepdims=True) + case.epsilon)


def _no_root(case: Case, x: Anything, np: Anything) -> Anything:
    return x / (_square(x, _axes(case), np) + case.epsilon)


def _outside(case: Case, x: Anything, np: Anything) -> Anything:
    return x / (np.sqrt(_square(x, _axes(case), np)) + case.epsilon)


def _of_magnitudes(case: Case, x: Anything, np: Anything) -> Anything:
    return x / (np.mean(np.abs(x), axis=_axes(case), keepdims=True) + case.epsilon)


def _multiplied(case: Case, x: Anything, np: Anything) -> Anything:
    return x * np.sqrt(_square(x, _axes(case), np) + case.epsilon)


def _unscaled(case: Case, x: Anything, np: Anything) -> Anything:
    return _with_epsilon(lambda c: c.epsilon)(case, x, np), np.ones_like


def _scaled_first(case: Case, x: Anything, np: Anything) -> Anything:
    scaled = x * numbers(case)[1].astype("float32")
    return _with_epsilon(lambda c: c.epsilon)(case, scaled, np), np.ones_like


def _one_more(case: Case, x: Anything, np: Anything) -> Anything:
    return _with_epsilon(lambda c: c.epsilon)(case, x, np), lambda scale: scale + 1


def _in_own_type(case: Case, x: Anything, np: Anything) -> Anything:
    narrow = x.astype(case.dtype)
    square = np.mean(narrow * narrow, axis=_axes(case), keepdims=True, dtype=narrow.dtype)
    return narrow / np.sqrt(square + narrow.dtype.type(case.epsilon))


MISTAKES: tuple[tuple[Anything, str], ...] = (
    (
        _in_own_type,
        "The largest float16 is 65,504, so the square of 256 is infinite in float16. " + STAGES,
    ),
    (
        _without_axes,
        "Without `keepdims=True`, the mean is broadcast against the wrong axes of x.",
    ),
    (
        _over(lambda case: (case.axis % case.rank,)),
        "The mean is taken over all axes from `axis` to the last, not over `axis` alone.",
    ),
    (_over(lambda case: (case.rank - 1,)), "This is the mean over the last axis alone: read `axis`."),
    (
        _over(lambda case: None),
        "This is the mean over all elements of x. It is taken over the axes from `axis` to the last only.",
    ),
    (
        _over(lambda case: tuple(range(case.axis % case.rank + 1))),
        "The mean is taken over the axes from `axis` to the last, not over those up to `axis`.",
    ),
    (
        _over(lambda case: tuple(range(abs(case.axis) % case.rank, case.rank))),
        "A negative `axis` counts from the end: −1 is the last axis, so add the rank of x to it.",
    ),
    (
        _with_epsilon(lambda case: EPSILON),
        "Epsilon is an attribute, and 1e-5 only its default: `node.attrs.get(\"epsilon\", 1e-5)`.",
    ),
    (_with_epsilon(lambda case: 0.0), "Epsilon is missing: without it, a row of zeros becomes NaN."),
    (_with_epsilon(lambda case: 1e-6), f"ONNX's default of epsilon is 1e-5. {DEFAULTS}"),
    (_outside, "Epsilon is added to the mean of the squares, under the root, not to the root."),
    (_layer_norm, "This is layer normalization. RMSNormalization does not subtract the mean."),
    (
        _deviation,
        "This divides by the standard deviation, for which the mean is subtracted first. Here it is not.",
    ),
    (_sum, "This divides by the root of the *sum* of the squares. It is the root of their *mean*."),
    (_no_root, "The root is missing: divide by the square root of the mean of the squares."),
    (_of_magnitudes, "These are magnitudes, not squares: take the root of the mean of the squares."),
    (_multiplied, "Divide x by the root mean square; this is the product."),
    (_unscaled, "The second stage is missing: multiply by scale, `inputs[1]`."),
    (_scaled_first, "Multiply by scale at the end: here it changes the root mean square, too."),
    (_one_more, "The second stage multiplies by scale itself, not by one more."),
)  # fmt: skip
