"""Converters of normalization layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from .call import Call, Results, Value, layer

if TYPE_CHECKING:
    from numpy import ndarray as Array


def _weight_or(call: Call, name: str, like: str, value: float) -> Expr:
    """Return a weight, or a constant of the shape of another if the layer has none."""
    if call.has(name):
        return call.weight(name)
    import numpy as np

    return call.constant(np.full(call.array(call.attr(like)).shape, value, np.float32))


@layer("BatchNormalization")
def _batch_normalization(call: Call) -> Results:
    axes = call.attr("axis")
    axis = call.axis(int(axes[0] if isinstance(axes, (list, tuple)) else axes))
    if isinstance(axes, (list, tuple)) and len(axes) != 1:
        raise RelayError("BatchNormalization over several axes cannot be imported")
    value = call.value(0)
    x = call.cast(value.expr)
    gamma = _weight_or(call, "gamma", "moving_mean", 1.0)
    beta = _weight_or(call, "beta", "moving_mean", 0.0)
    result = relay.nn.batch_norm(
        x, gamma, beta, call.weight("moving_mean"), call.weight("moving_variance"),
        axis=call.moved_axis(axis, call.context.rank(x), value.first), epsilon=float(call.attr("epsilon")),
        center=call.has("beta"), scale=call.has("gamma"),
    )  # fmt: skip
    return Value(result[0], value.first)


def _axes(call: Call) -> list[int]:
    axes = call.attr("axis")
    axes = axes if isinstance(axes, (list, tuple)) else [axes]
    return sorted([call.axis(int(axis)) for axis in axes])


def _broadcast(call: Call, name: str, axes: list[int], rank: int) -> Expr:
    """Return a weight whose axes are `axes` in a shape that broadcasts to `rank` axes."""

    def change(values: Array) -> Array:
        if values.ndim != len(axes):
            return values
        shape = [1] * rank
        for place, axis in enumerate(axes):
            shape[axis] = values.shape[place]
        return values.reshape(shape)

    if axes == list(range(rank - len(axes), rank)):
        return call.weight(name)
    return call.weight(name, change, f"axes{''.join(map(str, axes))}")


@layer("LayerNormalization")
def _layer_normalization(call: Call) -> Results:
    x, axes = call[0], _axes(call)
    rank = call.context.rank(x)
    epsilon = float(call.attr("epsilon"))
    if call.attr("rms_scaling", False):
        return _rms(call, x, axes, "gamma", epsilon)
    if axes == [rank - 1] and call.has("gamma") and call.has("beta"):
        return relay.nn.layer_norm(x, call.weight("gamma"), call.weight("beta"), rank - 1, epsilon)
    mean = relay.mean(x, axes, keepdims=True)
    centered = relay.subtract(x, mean)
    variance = relay.mean(relay.multiply(centered, centered), axes, keepdims=True)
    result: Expr = relay.divide(centered, relay.sqrt(relay.add(variance, call.number(epsilon))))
    if call.has("gamma"):
        result = relay.multiply(result, _broadcast(call, "gamma", axes, rank))
    if call.has("beta"):
        result = relay.add(result, _broadcast(call, "beta", axes, rank))
    return result


def _rms(call: Call, x: Expr, axes: list[int], scale: str, epsilon: float) -> Expr:
    square = relay.mean(relay.multiply(x, x), axes, keepdims=True)
    result: Expr = relay.multiply(x, relay.rsqrt(relay.add(square, call.number(epsilon))))
    if call.has(scale):
        result = relay.multiply(result, _broadcast(call, scale, axes, call.context.rank(x)))
    return result


@layer("RMSNormalization")
def _rms_normalization(call: Call) -> Results:
    return _rms(call, call[0], _axes(call), "scale", float(call.attr("epsilon")))


@layer("GroupNormalization")
def _group_normalization(call: Call) -> Results:
    x = call[0]
    rank = call.context.rank(x)
    axis = call.axis(int(call.attr("axis")))
    extent = call.context.shape(x)[axis]
    if not isinstance(extent, int):
        raise DynamicShapeError("the number of channels must be known at compile time")
    groups = int(call.attr("groups"))
    groups = extent if groups == -1 else groups
    order = (0, axis, *[other for other in range(1, rank) if other != axis])
    back = [order.index(place) for place in range(rank)]
    gamma = (
        _weight_or(call, "gamma", "beta", 1.0)
        if call.has("gamma") or call.has("beta")
        else _flat(call, extent, 1.0)
    )
    beta = (
        _weight_or(call, "beta", "gamma", 0.0)
        if call.has("gamma") or call.has("beta")
        else _flat(call, extent, 0.0)
    )
    result: Expr = relay.nn.group_norm(
        relay.transpose(x, order), gamma, beta, groups, 1, float(call.attr("epsilon")),
        center=call.has("beta"), scale=call.has("gamma"),
    )  # fmt: skip
    return relay.transpose(result, back)


def _flat(call: Call, extent: int, value: float) -> Expr:
    import numpy as np

    return call.constant(np.full((extent,), value, np.float32))


@layer("UnitNormalization")
def _unit_normalization(call: Call) -> Results:
    """Divide by the Euclidean norm, which Keras bounds by 1e-12 from below."""
    x, axes = call[0], _axes(call)
    norm = relay.sqrt(relay.sum(relay.multiply(x, x), axes, keepdims=True))
    return relay.divide(x, relay.maximum(norm, call.number(1e-12)))
