"""Activation functions."""

from __future__ import annotations

import math
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from .context import Aten
from .dtypes import is_float
from .registry import aten, tensor_call
from .values import Int, Value


def _like(ctx: Aten, value: float, x: Expr) -> Expr:
    return const(value, ctx.dtype(x))


@aten("relu")
def relu(ctx: Aten, x: Expr) -> Value:
    return relay.nn.relu(x)


@aten("relu6")
def relu6(ctx: Aten, x: Expr) -> Value:
    return hardtanh(ctx, x, 0, 6)


@aten("hardtanh")
def hardtanh(ctx: Aten, x: Expr, low: float = -1, high: float = 1) -> Value:
    return tensor_call(ctx, "clamp", x, low, high)


@aten("leaky_relu")
def leaky_relu(ctx: Aten, x: Expr, slope: float = 0.01) -> Value:
    return relay.nn.leaky_relu(x, ctx.number(slope, "the slope"))


@aten("rrelu")
def rrelu(
    ctx: Aten,
    x: Expr,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: object = None,
) -> Value:
    if training:
        raise RelayError(
            "rrelu in training mode is random, so it cannot be imported",
            help=["call model.eval() before exporting or tracing it"],
        )
    return relay.nn.leaky_relu(x, (lower + upper) / 2)


@aten("prelu", "_prelu_kernel")
def prelu(ctx: Aten, x: Expr, weight: Expr) -> Value:
    """Multiply negative elements by a slope: one for all, or one per channel (axis 1)."""
    rank = ctx.rank(x)
    shape = ctx.static_shape(weight)
    if math.prod(shape) == 1:
        slope: Expr = relay.reshape(weight, ())
    elif len(shape) > 1:
        slope = weight
    else:
        slope = relay.reshape(weight, (1, shape[0], *[1] * (rank - 2))) if rank > 1 else weight
    return relay.where(relay.greater(x, _like(ctx, 0, x)), x, relay.multiply(x, slope))


@aten("elu")
def elu(ctx: Aten, x: Expr, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Value:
    zero = _like(ctx, 0, x)
    # exp of the negative part only, so that it cannot overflow.
    negative = relay.minimum(x, zero)
    exponent = negative if input_scale == 1 else relay.multiply(negative, _like(ctx, input_scale, x))
    below = relay.multiply(
        _like(ctx, alpha * scale, x), relay.subtract(relay.exp(exponent), _like(ctx, 1, x))
    )
    above = relay.nn.relu(x) if scale == 1 else relay.multiply(relay.nn.relu(x), _like(ctx, scale, x))
    return relay.add(above, below)


@aten("selu")
def selu(ctx: Aten, x: Expr) -> Value:
    return elu(ctx, x, 1.6732632423543772, 1.0507009873554805, 1)


@aten("celu")
def celu(ctx: Aten, x: Expr, alpha: float = 1.0) -> Value:
    return elu(ctx, x, alpha, 1, 1 / alpha)


@aten("gelu")
def gelu(ctx: Aten, x: Expr, approximate: str = "none") -> Value:
    half, one = _like(ctx, 0.5, x), _like(ctx, 1, x)
    if approximate == "tanh":
        cube = relay.multiply(relay.multiply(x, x), x)
        inner = relay.add(x, relay.multiply(_like(ctx, 0.044715, x), cube))
        bell = relay.tanh(relay.multiply(_like(ctx, math.sqrt(2 / math.pi), x), inner))
    else:
        bell = relay.erf(relay.multiply(x, _like(ctx, math.sqrt(0.5), x)))
    return relay.multiply(relay.multiply(x, half), relay.add(one, bell))


@aten("silu")
def silu(ctx: Aten, x: Expr) -> Value:
    return relay.multiply(x, relay.sigmoid(x))


@aten("mish")
def mish(ctx: Aten, x: Expr) -> Value:
    return relay.multiply(x, relay.tanh(cast(Expr, softplus(ctx, x))))


@aten("softplus")
def softplus(ctx: Aten, x: Expr, beta: float = 1, threshold: float = 20) -> Value:
    """Return log(1 + exp(βx)) / β, and x itself where βx exceeds the threshold."""
    scaled = x if beta == 1 else relay.multiply(x, _like(ctx, beta, x))
    bounded = relay.minimum(scaled, _like(ctx, threshold, x))
    soft = relay.log(relay.add(_like(ctx, 1, x), relay.exp(bounded)))
    soft = soft if beta == 1 else relay.divide(soft, _like(ctx, beta, x))
    return relay.where(relay.greater(scaled, _like(ctx, threshold, x)), x, soft)


@aten("softsign")
def softsign(ctx: Aten, x: Expr) -> Value:
    return relay.divide(x, relay.add(_like(ctx, 1, x), relay.abs(x)))


@aten("log_sigmoid")
def log_sigmoid(ctx: Aten, x: Expr) -> Value:
    """Return min(x, 0) - log(1 + exp(-|x|)), which neither overflows nor loses small values."""
    small = relay.exp(relay.negative(relay.abs(x)))
    one = _like(ctx, 1, x)
    return relay.subtract(relay.minimum(x, _like(ctx, 0, x)), relay.log(relay.add(one, small)))


@aten("hardsigmoid")
def hardsigmoid(ctx: Aten, x: Expr) -> Value:
    shifted = relay.clip(relay.add(x, _like(ctx, 3, x)), 0.0, 6.0)
    return relay.divide(shifted, _like(ctx, 6, x))


@aten("hardswish")
def hardswish(ctx: Aten, x: Expr) -> Value:
    return relay.multiply(x, cast(Expr, hardsigmoid(ctx, x)))


@aten("hardshrink")
def hardshrink(ctx: Aten, x: Expr, lambd: float = 0.5) -> Value:
    inside = relay.less_equal(relay.abs(x), _like(ctx, lambd, x))
    return relay.where(inside, relay.zeros_like(x), x)


@aten("softshrink")
def softshrink(ctx: Aten, x: Expr, lambd: float = 0.5) -> Value:
    bound = _like(ctx, lambd, x)
    above = relay.nn.relu(relay.subtract(x, bound))
    return relay.subtract(above, relay.nn.relu(relay.subtract(relay.negative(x), bound)))


@aten("tanhshrink")
def tanhshrink(ctx: Aten, x: Expr) -> Value:
    return relay.subtract(x, relay.tanh(x))


@aten("threshold")
def threshold(ctx: Aten, x: Expr, bound: float, value: float) -> Value:
    keep = relay.greater(x, _like(ctx, bound, x))
    return relay.where(keep, x, relay.full_like(x, _like(ctx, value, x)))


@aten("glu")
def glu(ctx: Aten, x: Expr, dim: int = -1) -> Value:
    axis = ctx.axis(dim, ctx.rank(x))
    left, right = relay.split(x, 2, axis)
    return relay.multiply(left, relay.sigmoid(right))


def _for_softmax(ctx: Aten, x: Expr, dtype: str | None) -> Expr:
    if dtype is not None:
        return ctx.cast(x, dtype)
    if not is_float(ctx.dtype(x)):
        raise RelayError(f"softmax of a tensor of type {ctx.dtype(x)} requires a floating-point dtype")
    return x


@aten("softmax", "special_softmax")
def softmax(ctx: Aten, x: Expr, dim: Int, dtype: str | None = None) -> Value:
    x = _for_softmax(ctx, x, dtype)
    if not ctx.rank(x):
        return relay.ones_like(x)
    return relay.nn.softmax(x, ctx.axis(ctx.integer(dim, "the axis"), ctx.rank(x)))


@aten("log_softmax", "special_log_softmax")
def log_softmax(ctx: Aten, x: Expr, dim: Int, dtype: str | None = None) -> Value:
    x = _for_softmax(ctx, x, dtype)
    if not ctx.rank(x):
        return relay.zeros_like(x)
    return relay.nn.log_softmax(x, ctx.axis(ctx.integer(dim, "the axis"), ctx.rank(x)))


@aten("_softmax")
def softmax_half(ctx: Aten, x: Expr, dim: int, half_to_float: bool = False) -> Value:
    return softmax(ctx, x, dim, "float32" if half_to_float else None)


@aten("_safe_softmax")
def safe_softmax(ctx: Aten, x: Expr, dim: int, dtype: str | None = None) -> Value:
    """Return the softmax, and zeros where all elements along the axis are -inf."""
    result = cast(Expr, softmax(ctx, x, dim, dtype))
    masked = relay.equal(x, const(-math.inf, ctx.dtype(x)))
    axis = ctx.axis(dim, ctx.rank(x))
    return relay.where(relay.all(masked, axis=axis, keepdims=True), relay.zeros_like(result), result)


@aten("_log_softmax")
def log_softmax_half(ctx: Aten, x: Expr, dim: int, half_to_float: bool = False) -> Value:
    return log_softmax(ctx, x, dim, "float32" if half_to_float else None)


@aten("softmin")
def softmin(ctx: Aten, x: Expr, dim: int, dtype: str | None = None) -> Value:
    return softmax(ctx, relay.negative(x), dim, dtype)
