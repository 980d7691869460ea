"""The gradients of sums, means, extremes and of running sums."""

from __future__ import annotations

from math import prod as product

from ...ir.expr import Call, Expr
from ...ir.typed import tensor_type
from .. import logical
from ..broadcast import broadcast_to_like
from ..calls import relay
from ..create import ones_like, zeros_like
from ..gradient_tools import axis_count, extents, is_static, number
from ..reduce import _reduced_axes
from ..reduce import prod as prod_of
from ..reduce import sum as sum_of
from ..reshape import ndarray_size
from ..transform import cast, expand_dims


def axes_of(call: Call) -> list[int]:
    """The axes that a reduction folds, in order."""
    return sorted(_reduced_axes(call.attrs, axis_count(call.args[0])))


def unfolded(value: Expr, call: Call) -> Expr:
    """`value`, of the shape of the reduction `call`, with an axis of 1 for each that it folded."""
    assert call.attrs is not None
    if not call.attrs["keepdims"]:
        for axis in axes_of(call):
            value = expand_dims(value, axis)
    return value


def _count(call: Call) -> Expr:
    """How many elements each result is of, as a number of the data's type."""
    (x, *_) = call.args
    if is_static(tensor_type(x)):
        return number(product(extents(x)[axis] for axis in axes_of(call)), x)
    dtype = tensor_type(x).dtype
    return cast(ndarray_size(x), dtype) / cast(ndarray_size(call), dtype)


def sum(call: Call, grad: Expr) -> list[Expr]:
    return [broadcast_to_like(unfolded(grad, call), call.args[0])]


def mean(call: Call, grad: Expr) -> list[Expr]:
    (x,) = call.args
    return [broadcast_to_like(unfolded(grad, call) / _count(call), x)]


def variance(call: Call, grad: Expr) -> list[Expr]:
    """The operator is given the mean, which has its own gradient: the mean of (x - m)² over the count."""
    x, mean = call.args
    assert call.attrs is not None
    count = _count(call)
    if call.attrs["unbiased"]:
        count = count - number(1, x)
    share = number(2, x) / count
    by_data = unfolded(grad, call) * share * (x - mean)
    by_mean = relay.negative(sum_of(by_data, axes_of(call), keepdims=True))
    return [by_data, by_mean]


def extreme(call: Call, grad: Expr) -> list[Expr]:
    """Of max and min: equal extremes share it evenly, as in the reference."""
    (x,) = call.args
    chosen = cast(logical.equal(x, unfolded(call, call)), tensor_type(x).dtype)
    return [unfolded(grad, call) * chosen / sum_of(chosen, axes_of(call), keepdims=True)]


def prod(call: Call, grad: Expr) -> list[Expr]:
    """The product of all other elements: where one is 0, only its own derivative may be another number."""
    (x,) = call.args
    axes = axes_of(call)
    zero = logical.equal(x, number(0, x))
    zeros = sum_of(cast(zero, tensor_type(x).dtype), axes, keepdims=True)
    others = logical.where(zero, ones_like(x), x)
    whole = prod_of(others, axes, keepdims=True)
    without_zero = logical.where(logical.equal(zeros, number(0, x)), whole, zeros_like(whole))
    one_zero = logical.where(logical.equal(zeros, number(1, x)), whole, zeros_like(whole))
    return [unfolded(grad, call) * logical.where(zero, broadcast_to_like(one_zero, x), without_zero / others)]
