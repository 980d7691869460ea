"""The mistakes that explain a wrong gradient: the result of a rule is compared with that of a rule with
each mistake.
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
    "`grad` has the shape of the mean. Without `keepdims` the reduced axes are missing: "
    "insert them with `relay.expand_dims` before you broadcast."
)
SUMS = "Sums that are combined with the elements again need `keepdims=True`."


def type_hint(case: Case, error: RelayError) -> str:
    """Explain why the expressions of a rule are ill-typed."""
    text = str(error)
    if "float32" in text and "float64" in text:
        return (
            "A constant has an element type, too, and `relay.const(1.0)` is float32. Use the "
            "type of an argument, `call.args[0].checked_type.dtype`, or write "
            "`relay.ones_like(…)`."
        )
    if case.part == "mean":
        return AXES
    if case.part == "softmax":
        return SUMS
    return "The shapes that you combine do not match: what is the shape of `grad`, and of each argument?"


def explained(
    case: Case, types: Sequence[Type], result: Sequence[Array] = (), right: Sequence[Array] = ()
) -> str:
    """Explain the result of a case by a common mistake; "" if none is known."""
    if not result:
        return _of_another_type(case, types)
    from .checks import derivatives, quotients, same

    if same(list(result), quotients(case, ones=True)):
        return (
            "This is the derivative of the operator alone. By the chain rule, every "
            "derivative is multiplied by `grad`, the derivative with respect to the "
            "operator's value."
        )
    for rule, hint in MISTAKES[case.part]:
        try:
            if same(derivatives(case, rule)[1], list(result)):
                return hint
        except RelayError:  # this mistake is not possible here
            continue
    for name, by, expected in zip(ARGUMENTS[case.part], result, right, strict=True):
        if same([by], [expected]):
            continue
        if not by.any():
            return (
                f"The derivative with respect to {name} is zero. None, or zeros, means that y "
                f"does not depend on {name}."
            )
        if same([by], [-expected]):
            return f"The derivative with respect to {name} has the wrong sign."
        if len(result) > 1:
            return (
                f"Consider only the derivative with respect to {name}: does y rise or fall with "
                "it, and how fast?"
            )
    return ""


def _of_another_type(case: Case, types: Sequence[Type]) -> str:
    for name, shape, type_ in zip(ARGUMENTS[case.part], case.shapes, types, strict=True):
        if not isinstance(type_, TensorType):
            return f"The derivative with respect to {name} must be a tensor."
        if type_.dtype != case.dtype:
            return (
                f"The derivative with respect to {name} must have its element type, "
                f"{case.dtype}. A constant has one, too: `relay.const(1.0, dtype)`."
            )
        if type_.shape == shape:
            continue
        if case.part == "multiply":
            return (
                f"{name} was broadcast from {shape} to {tuple(type_.shape)}, so each of its "
                "elements was used several times. The derivatives of these uses are summed: "
                f"`relay.collapse_sum_like(…, {name})`."
            )
        if case.part == "mean":
            return (
                "Every element of x contributes to a mean, so each receives its share of "
                "`grad`: broadcast to the shape of x with `relay.broadcast_to_like(…, x)`."
            )
        return (
            SUMS if case.part == "softmax" else f"The derivative with respect to {name} must have its shape."
        )
    return ""


# -- rules with one mistake each


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
    """Give each element an equal share of the mean's gradient, divided by a number other than the number of
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
            "In the formula y · (1 − y), y is the *value* of sigmoid, while `call.args[0]` "
            "is its input. Used as an expression, `call` is the value.",
        ),
        (_without_value, "1 − y is one factor of the derivative; y is the other."),
        (_value_only, "exp is its own derivative. The derivative of sigmoid is y · (1 − y)."),
    ),
    "multiply": (
        (_exchanged, "The derivatives are swapped: if a changes, y changes b times as much."),
    ),
    "mean": (
        (_share(lambda call: 1), "The mean divides by the number of elements, and so must its gradient."),
        (
            _share(lambda call: _elements(call.args[0])),
            "Each mean is taken over the elements along the reduced axes: divide by their "
            "number, not by the number of elements of x.",
        ),
        (
            _share(lambda call: _elements(call)),
            "Divide by the number of elements in each mean, not by the number of means.",
        ),
        (_not_put_back, AXES),
    ),
    "softmax": (
        (
            _alone,
            "Each element of a softmax depends on all elements along the axis, because they "
            "are divided by their sum. Each element's derivative therefore includes the "
            "`grad` of the others, too.",
        ),
        (_unweighted, "In the sum along the axis, each `grad` is weighted by its y."),
        (_unscaled, "At the end, everything is multiplied by y."),
        (_always_last, "The axis is an attribute: `call.attrs.axis`."),
    ),
    "blend": (
        (_weights_exchanged, "t is the weight of b, and 1 − t the weight of a."),
        (_without_rest, "In y = a + t · (b − a), a occurs twice, and both occurrences count."),
    ),
}  # fmt: skip
