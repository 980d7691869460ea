"""The gradients of operators that work on each element by itself, or on two that stand at one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

from ...ir.declaration import GradientRule
from ...ir.expr import Call, Expr
from ...ir.typed import tensor_type
from .. import binary, logical
from ..broadcast import broadcast_to_like, collapse_sum_like
from ..calls import relay
from ..create import zeros_like
from ..gradient_tools import number
from ..transform import cast as converted


def none(call: Call, grad: Expr) -> list[Expr | None]:
    """The value is constant between its jumps, or depends on no number: all derivatives are zero."""
    return [None] * len(call.args)


def same(call: Call, grad: Expr) -> list[Expr]:
    """The value is the argument."""
    return [grad]


def _where(condition: Expr, grad: Expr) -> Expr:
    """`grad` where the condition holds, else zero."""
    return logical.where(condition, grad, zeros_like(grad))


def cast(call: Call, grad: Expr) -> list[Expr | None]:
    """Only floating-point numbers move smoothly."""
    x = call.args[0]
    by_data = converted(grad, tensor_type(x).dtype) if "float" in tensor_type(x).dtype else None
    return [by_data, *[None] * (len(call.args) - 1)]


# -- two tensors, which are broadcast to one shape


def _back(grad: Expr, call: Call, number: int) -> Expr:
    """`grad`, of the shape of the result, summed to the shape of an argument."""
    argument = call.args[number]
    if tensor_type(argument).shape == tensor_type(call).shape:
        return grad
    return collapse_sum_like(grad, argument)


def add(call: Call, grad: Expr) -> list[Expr]:
    return [_back(grad, call, 0), _back(grad, call, 1)]


def subtract(call: Call, grad: Expr) -> list[Expr]:
    return [_back(grad, call, 0), _back(relay.negative(grad), call, 1)]


def multiply(call: Call, grad: Expr) -> list[Expr]:
    x, y = call.args
    return [_back(grad * y, call, 0), _back(grad * x, call, 1)]


def divide(call: Call, grad: Expr) -> list[Expr]:
    _, y = call.args
    return [_back(grad / y, call, 0), _back(relay.negative(grad * call / y), call, 1)]


def power(call: Call, grad: Expr) -> list[Expr]:
    """By the exponent it is y · ln x, and 0 where x is 0: there 0 to the power of anything positive is 0."""
    x, y = call.args
    by_base = grad * y * binary.power(x, y - number(1, y))
    positive = logical.greater(x, number(0, x))
    logarithm = relay.log(logical.where(positive, x, broadcast_to_like(number(1, x), x)))
    return [_back(by_base, call, 0), _back(grad * call * logarithm, call, 1)]


def _chosen(first: Callable[[Expr, Expr], Expr]) -> GradientRule:
    """The gradient goes to the element that is chosen; of equal ones, to the first tensor's."""

    def rule(call: Call, grad: Expr) -> list[Expr]:
        takes_first = first(*call.args)
        rest = logical.where(takes_first, zeros_like(grad), grad)
        return [_back(_where(takes_first, grad), call, 0), _back(rest, call, 1)]

    return rule


maximum = _chosen(logical.greater_equal)
minimum = _chosen(logical.less_equal)


def floor_mod(call: Call, grad: Expr) -> list[Expr]:
    """x - y ⌊x / y⌋, whose ⌊x / y⌋ is constant between its jumps."""
    x, y = call.args
    return [_back(grad, call, 0), _back(relay.negative(grad * binary.floor_divide(x, y)), call, 1)]


def trunc_mod(call: Call, grad: Expr) -> list[Expr]:
    x, y = call.args
    return [_back(grad, call, 0), _back(relay.negative(grad * binary.trunc_divide(x, y)), call, 1)]


def where(call: Call, grad: Expr) -> list[Expr | None]:
    condition = call.args[0]
    rest = logical.where(condition, zeros_like(grad), grad)
    return [None, _back(logical.where(condition, grad, zeros_like(grad)), call, 1), _back(rest, call, 2)]


def _attrs(call: Call) -> Anything:
    return call.attrs
