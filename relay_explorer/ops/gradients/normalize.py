"""The gradients of normalizations, and of softmax and its relatives."""

from __future__ import annotations

from typing import Any as Anything

from ...ir.expr import Call, Expr, Tuple, const
from ...ir.typed import tensor_type
from ..binary import maximum, power
from ..calls import relay
from ..gradient_tools import along, axis_count, composed, extents, field_of, number
from ..nn.pad import pad
from ..reduce import mean as mean_of
from ..reduce import sum as sum_of
from ..reshape import reshape
from ..transform import transpose
from ..windows import sliding_window


def dropout(call: Call, grad: Expr) -> list[Expr | None]:
    """As in inference, where nothing is dropped: the data's derivative is that of the first field."""
    return [field_of(grad, 0)]


def _affine(attrs: Anything, value: Expr, gamma: Expr, beta: Expr, rank: int, axis: int) -> Expr:
    if attrs.scale:
        value = value * along(gamma, rank, axis)
    return value + along(beta, rank, axis) if attrs.center else value


def _normal(x: Expr, axes: list[int], epsilon: float, like: Expr) -> Expr:
    centred = x - mean_of(x, axes, keepdims=True)
    variance = mean_of(centred * centred, axes, keepdims=True)
    return centred * relay.rsqrt(variance + number(epsilon, like))


def _batch_norm(attrs: Anything, x: Expr, gamma: Expr, beta: Expr, mean: Expr, variance: Expr) -> Expr:
    rank = axis_count(x)
    deviation = relay.rsqrt(variance + number(attrs.epsilon, variance))
    value = (x - along(mean, rank, attrs.axis)) * along(deviation, rank, attrs.axis)
    return Tuple([_affine(attrs, value, gamma, beta, rank, attrs.axis), mean, variance])


def _layer_norm(attrs: Anything, x: Expr, gamma: Expr, beta: Expr) -> Expr:
    return _affine(attrs, _normal(x, [attrs.axis], attrs.epsilon, x), gamma, beta, axis_count(x), attrs.axis)


def _instance_norm(attrs: Anything, x: Expr, gamma: Expr, beta: Expr) -> Expr:
    rank = axis_count(x)
    axes = [axis for axis in range(1, rank) if axis != attrs.axis % rank]
    return _affine(attrs, _normal(x, axes, attrs.epsilon, x), gamma, beta, rank, attrs.axis)


def _group_norm(attrs: Anything, x: Expr, gamma: Expr, beta: Expr) -> Expr:
    shape = extents(x)
    rank, axis, groups = len(shape), attrs.axis % len(shape), attrs.num_groups
    apart = [*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :]]
    axes = [a for a in range(1, rank + 1) if a != axis]
    value = reshape(_normal(reshape(x, apart), axes, attrs.epsilon, x), shape)
    return _affine(attrs, value, gamma, beta, rank, axis)


def _l2_normalize(attrs: Anything, x: Expr) -> Expr:
    return x / relay.sqrt(maximum(sum_of(x * x, attrs.axis, keepdims=True), number(attrs.eps, x)))


def _lrn(attrs: Anything, x: Expr) -> Expr:
    """The squares over neighbouring channels: a window that slides along the channels, moved to the end."""
    rank, axis = axis_count(x), attrs.axis % axis_count(x)
    order = [a for a in range(rank) if a != axis] + [axis]
    last = transpose(x, order)
    before = attrs.size // 2
    widths = [(0, 0)] * (rank - 1) + [(before, attrs.size - 1 - before)]
    squares = pad(last * last, widths, const(0, tensor_type(x).dtype))
    sums = sum_of(sliding_window(squares, rank - 1, (attrs.size,), (1,)), [-1])
    sums = transpose(sums, sorted(range(rank), key=order.__getitem__))
    base = number(attrs.bias, x) + number(attrs.alpha / attrs.size, x) * sums
    return x * power(base, number(-attrs.beta, x))


batch_norm = composed(_batch_norm)
layer_norm = composed(_layer_norm)
instance_norm = composed(_instance_norm)
group_norm = composed(_group_norm)
l2_normalize = composed(_l2_normalize)
lrn = composed(_lrn)
