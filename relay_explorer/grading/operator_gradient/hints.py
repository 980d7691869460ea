"""Which mistake explains a wrong gradient: what came of a rule is compared with what one with that mistake
gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Call, Expr
from ...ir.types import TensorType, Type
from . import ARGUMENTS, Case

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Anything, Anything]

Rule = Callable[[Call, Expr], Sequence[Expr | None]]

AXES = (
    "`grad` has the shape of the mean. Without `keepdims` the folded axes are missing in it: put them back "
    "with `relay.expand_dims` before you stretch it."
)
SUMS = "Sums that meet the elements again need `keepdims=True`."


def type_hint(case: Case, error: RelayError) -> str:
    """Why what a rule makes is not well typed."""
    text = str(error)
    if "float32" in text and "float64" in text:
        return (
            "A constant has an element type, too, and `relay.const(1.0)` is float32. Take that of an "
            "argument, `call.args[0].checked_type.dtype`, or write `relay.ones_like(…)`."
        )
    if case.part == "mean":
        return AXES
    if case.part == "softmax":
        return SUMS
    return "The shapes of what you combine do not fit: what is the shape of `grad`, and of each argument?"


def explained(
    case: Case, types: Sequence[Type], result: Sequence[Array] = (), right: Sequence[Array] = ()
) -> str:
    """Explain the result of a case by a usual mistake; "" where none is known."""
    if not result:
        return _of_another_type(case, types)
    from .checks import derivatives, quotients, same

    if same(list(result), quotients(case, ones=True)):
        return (
            "This is the slope of the operator alone. The rule of a chain multiplies: `grad`, the derivative "
            "by the operator's value, belongs into every derivative."
        )
    for rule, hint in MISTAKES[case.part]:
        try:
            if same(derivatives(case, rule)[1], list(result)):
                return hint
        except RelayError:  # such a mistake is not possible here
            continue
    for name, by, expected in zip(ARGUMENTS[case.part], result, right, strict=True):
        if same([by], [expected]):
            continue
        if not by.any():
            return f"The derivative by {name} is zero. None, or zeros, says that y does not move with {name}."
        if same([by], [-expected]):
            return f"The derivative by {name} has the wrong sign."
        if len(result) > 1:
            return f"Only the derivative by {name} is asked here: does y rise or fall with it, and how fast?"
    return ""


def _of_another_type(case: Case, types: Sequence[Type]) -> str:
    for name, shape, type_ in zip(ARGUMENTS[case.part], case.shapes, types, strict=True):
        if not isinstance(type_, TensorType):
            return f"The derivative by {name} must be a tensor."
        if type_.dtype != case.dtype:
            return (
                f"The derivative by {name} must have its element type, {case.dtype}. A constant has one, "
                "too: `relay.const(1.0, dtype)`."
            )
        if type_.shape == shape:
            continue
        if case.part == "multiply":
            return (
                f"{name} was stretched from {shape} to {tuple(type_.shape)}: each of its numbers was used "
                "several times. What comes back from these uses is added: `relay.collapse_sum_like(…, "
                f"{name})`."
            )
        if case.part == "mean":
            return (
                "Every element of x got a share of the mean, and gets one of `grad` back: bring it to the "
                "shape of x, `relay.broadcast_to_like(…, x)`."
            )
        return SUMS if case.part == "softmax" else f"The derivative by {name} must have its shape."
    return ""


# -- mistakes, as the rules that make them


def _one(like: Expr) -> Expr:
    from ...ops.create import ones_like

    return ones_like(like)


def _sum_along(value: Expr, axis: int) -> Expr:
    from ...ops.reduce.folding import sum as sum_of

    return sum_of(value, axis=[axis], keepdims=True)


def _argument_for_value(call: Call, grad: Expr) -> list[Expr]:
    (x,) = call.args
    return [grad * x * (_one(x) - x)]


def _without_value(call: Call, grad: Expr) -> list[Expr]:
    return [grad * (_one(call) - call)]


def _value_only(call: Call, grad: Expr) -> list[Expr]:
    return [grad * call]


def _exchanged(call: Call, grad: Expr) -> list[Expr]:
    from ...ops.broadcast import collapse_sum_like

    a, b = call.args
    return [collapse_sum_like(grad * a, a), collapse_sum_like(grad * b, b)]


def _share(divisor: Callable[[Call], int]) -> Rule:
    """Give each element an equal share of the mean's gradient, divided by a number other than that of the
    elements.
    """

    def rule(call: Call, grad: Expr) -> list[Expr]:
        from ...ir.expr import const
        from ...ops.broadcast import broadcast_to_like
        from ...ops.reduce.declaring import unfolded

        (x,) = call.args
        count = const(float(divisor(call)), x.checked_type.dtype)  # type: ignore[attr-defined]  # a tensor
        return [broadcast_to_like(unfolded(grad, call) / count, x)]

    return rule


def _not_put_back(call: Call, grad: Expr) -> list[Expr]:
    from ...ir.expr import const
    from ...ops.broadcast import broadcast_to_like

    (x,) = call.args
    count = const(_elements(x) / _elements(call), x.checked_type.dtype)  # type: ignore[attr-defined]  # a tensor
    return [broadcast_to_like(grad / count, x)]


def _elements(expr: Expr) -> int:
    from math import prod

    return prod(expr.checked_type.concrete_shape)  # type: ignore[attr-defined]  # a tensor


def _alone(call: Call, grad: Expr) -> list[Expr]:
    return [grad * call * (_one(call) - call)]


def _unweighted(call: Call, grad: Expr) -> list[Expr]:
    assert call.attrs is not None
    return [(grad - _sum_along(grad, call.attrs["axis"])) * call]


def _unscaled(call: Call, grad: Expr) -> list[Expr]:
    assert call.attrs is not None
    return [grad - _sum_along(grad * call, call.attrs["axis"])]


def _always_last(call: Call, grad: Expr) -> list[Expr]:
    return [(grad - _sum_along(grad * call, -1)) * call]


def _weights_exchanged(call: Call, grad: Expr) -> list[Expr]:
    a, b, t = call.args
    return [grad * t, grad * (_one(t) - t), grad * (b - a)]


def _without_rest(call: Call, grad: Expr) -> list[Expr]:
    a, b, t = call.args
    return [grad, grad * t, grad * (b - a)]


MISTAKES: dict[str, tuple[tuple[Rule, str], ...]] = {
    "sigmoid": (
        (
            _argument_for_value,
            "The formula y · (1 − y) is about the *value* of sigmoid, and `call.args[0]` is what went in. "
            "As an expression, `call` is the value.",
        ),
        (_without_value, "1 − y is one factor of the slope; y is the other."),
        (_value_only, "exp is its own slope. Of sigmoid the slope is y · (1 − y)."),
    ),
    "multiply": (
        (_exchanged, "The derivatives are exchanged: if a moves, y moves by b times as much."),
    ),
    "mean": (
        (_share(lambda call: 1), "The mean divides by the number of elements, and so must its gradient."),
        (
            _share(lambda call: _elements(call.args[0])),
            "Each mean is of the elements along the axes that it folds: divide by how many these are, not "
            "by how many x has.",
        ),
        (
            _share(lambda call: _elements(call)),
            "Divide by how many elements each mean is of, not by how many means there are.",
        ),
        (_not_put_back, AXES),
    ),
    "softmax": (
        (
            _alone,
            "Each number of a softmax depends on all along the axis, since they are divided by their sum. "
            "So what came to the others goes back to each, too.",
        ),
        (_unweighted, "In the sum along the axis each `grad` is weighted by its y."),
        (_unscaled, "At the end all is multiplied by y."),
        (_always_last, "The axis is an attribute: `call.attrs.axis`."),
    ),
    "blend": (
        (_weights_exchanged, "t is how much of b there is, and 1 − t how much of a."),
        (_without_rest, "y = a + t · (b − a) has a in two places, and both count."),
    ),
}  # fmt: skip
