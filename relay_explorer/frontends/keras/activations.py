"""Activation functions, and the layers that apply them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from .call import Call, Results, Value, layer
from .graph import PACKAGES

Function = Callable[[Expr, str], Expr]  # of a value and its element type
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def _number(value: float, dtype: str) -> Expr:
    return const(value, dtype)


def _elu(x: Expr, dtype: str, alpha: float = 1.0) -> Expr:
    one = _number(1.0, dtype)
    low = relay.subtract(relay.exp(relay.minimum(x, _number(0.0, dtype))), one)
    return relay.where(relay.greater(x, _number(0.0, dtype)), x, relay.multiply(_number(alpha, dtype), low))


def softplus(x: Expr, dtype: str) -> Expr:
    """Return log(1 + exp(x)) without overflow."""
    small = relay.exp(relay.negative(relay.abs(x)))
    return relay.add(relay.nn.relu(x), relay.log(relay.add(_number(1.0, dtype), small)))


def gelu(x: Expr, dtype: str, approximate: bool = False) -> Expr:
    """Return x · Φ(x), or its approximation by tanh."""
    if approximate:
        cube = relay.multiply(relay.multiply(x, x), x)
        inner = relay.add(x, relay.multiply(_number(0.044715, dtype), cube))
        bend = relay.tanh(relay.multiply(_number(math.sqrt(2 / math.pi), dtype), inner))
    else:
        bend = relay.erf(relay.multiply(x, _number(math.sqrt(0.5), dtype)))
    half = relay.multiply(_number(0.5, dtype), x)
    return relay.multiply(half, relay.add(_number(1.0, dtype), bend))


def _hard_sigmoid(x: Expr, dtype: str) -> Expr:
    """Return Keras 3's, which is ReLU6(x + 3) / 6."""
    return relay.divide(relay.clip(relay.add(x, _number(3.0, dtype)), 0.0, 6.0), _number(6.0, dtype))


def _old_hard_sigmoid(x: Expr, dtype: str) -> Expr:
    """Return Keras 2's, clip(0.2 · x + 0.5, 0, 1)."""
    line = relay.add(relay.multiply(_number(0.2, dtype), x), _number(0.5, dtype))
    return relay.clip(line, 0.0, 1.0)


def _shrunk(x: Expr, dtype: str, soft: bool, threshold: float = 0.5) -> Expr:
    bound = _number(threshold, dtype)
    inside = relay.less_equal(relay.abs(x), bound)
    outside = relay.subtract(x, relay.multiply(relay.sign(x), bound)) if soft else x
    return relay.where(inside, _number(0.0, dtype), outside)


def _square_plus(x: Expr, dtype: str, b: float = 4.0) -> Expr:
    root = relay.sqrt(relay.add(relay.multiply(x, x), _number(b, dtype)))
    return relay.multiply(_number(0.5, dtype), relay.add(x, root))


def _sparse_plus(x: Expr, dtype: str) -> Expr:
    shifted = relay.add(x, _number(1.0, dtype))
    bend = relay.multiply(_number(0.25, dtype), relay.multiply(shifted, shifted))
    low = relay.where(relay.less(x, _number(-1.0, dtype)), _number(0.0, dtype), bend)
    return relay.where(relay.greater_equal(x, _number(1.0, dtype)), x, low)


FUNCTIONS: dict[str, Function] = {
    "linear": lambda x, dtype: x,
    "relu": lambda x, dtype: relay.nn.relu(x),
    "relu6": lambda x, dtype: relay.clip(x, 0.0, 6.0),
    "sigmoid": lambda x, dtype: relay.sigmoid(x),
    "tanh": lambda x, dtype: relay.tanh(x),
    "exponential": lambda x, dtype: relay.exp(x),
    "elu": _elu,
    "celu": _elu,
    "selu": lambda x, dtype: relay.multiply(_number(_SELU_SCALE, dtype), _elu(x, dtype, _SELU_ALPHA)),
    "gelu": gelu,
    "silu": lambda x, dtype: relay.multiply(x, relay.sigmoid(x)),
    "softplus": softplus,
    "softsign": lambda x, dtype: relay.divide(x, relay.add(_number(1.0, dtype), relay.abs(x))),
    "mish": lambda x, dtype: relay.multiply(x, relay.tanh(softplus(x, dtype))),
    "hard_sigmoid": _hard_sigmoid,
    "hard_silu": lambda x, dtype: relay.multiply(x, _hard_sigmoid(x, dtype)),
    "hard_tanh": lambda x, dtype: relay.clip(x, -1.0, 1.0),
    "log_sigmoid": lambda x, dtype: relay.negative(softplus(relay.negative(x), dtype)),
    "tanh_shrink": lambda x, dtype: relay.subtract(x, relay.tanh(x)),
    "soft_shrink": lambda x, dtype: _shrunk(x, dtype, True),
    "hard_shrink": lambda x, dtype: _shrunk(x, dtype, False),
    "leaky_relu": lambda x, dtype: relay.nn.leaky_relu(x, 0.2),
    "squareplus": _square_plus,
    "sparse_plus": _sparse_plus,
    "sparse_sigmoid": lambda x, dtype: relay.clip(
        relay.multiply(_number(0.5, dtype), relay.add(x, _number(1.0, dtype))), 0.0, 1.0
    ),
}  # fmt: skip
FUNCTIONS |= {
    "swish": FUNCTIONS["silu"], "hard_swish": FUNCTIONS["hard_silu"],
}  # fmt: skip


def activate(call: Call, function: Any, x: Expr, axis: int = -1) -> Expr:
    """Apply an activation function that a layer holds, a function of Keras or a layer without weights."""
    if function is None:
        return x
    name = getattr(function, "__name__", "")
    package = str(getattr(function, "__module__", "")).partition(".")[0]
    if not name and hasattr(function, "get_config") and hasattr(function, "call"):
        return _applied_layer(call, function, x)
    if package not in PACKAGES:
        raise RelayError(
            f"the activation function `{name or function!r}` of `{call.layer.name}` is not a Keras function, "
            "and the importer cannot see inside Python code",
            help=["use a function of keras.activations, or give a converter of the layer in convert_map"],
        )
    if name in ("softmax", "log_softmax"):
        return relay.nn.softmax(x, axis) if name == "softmax" else relay.nn.log_softmax(x, axis)
    if name == "hard_sigmoid" and package == "tf_keras":
        return _old_hard_sigmoid(x, call.context.dtype(x))
    converter = FUNCTIONS.get(name)
    if converter is None:
        raise RelayError(
            f"the activation function `{name}` of the layer `{call.layer.name}` cannot be imported",
            help=["give a converter of the layer in convert_map"],
        )
    return converter(x, call.context.dtype(x))


def _applied_layer(call: Call, function: Any, x: Expr) -> Expr:
    from .graph import Step

    (result,) = call.importer.apply(Step(function, (), {}, []), [Value(x)], {})
    return result.expr


@layer("Activation")
def _activation(call: Call) -> Results:
    name = getattr(call.attr("activation"), "__name__", "")
    if name in ("softmax", "log_softmax") or not name:
        value = call.value(0)
        axis = call.moved_axis(call.axis(-1), call.context.rank(value.expr), value.first)
        return Value(call.activated(call.cast(value.expr), axis), value.first)
    return elementwise(call, call.activated)


def elementwise(call: Call, function: Callable[[Expr], Expr]) -> Value:
    """Apply an element-wise function, for which the order of the axes does not matter."""
    value = call.value(0)
    return Value(function(call.cast(value.expr)), value.first)


@layer("ReLU")
def _relu(call: Call) -> Results:
    most, slope = call.attr("max_value"), float(call.attr("negative_slope") or 0.0)
    threshold = float(call.attr("threshold") or 0.0)

    def function(x: Expr) -> Expr:
        if threshold == 0.0 and slope == 0.0:
            return relay.nn.relu(x) if most is None else relay.clip(x, 0.0, float(most))
        bound = call.number(threshold)
        low = relay.multiply(call.number(slope), relay.subtract(x, bound))
        high = x if most is None else relay.minimum(x, call.number(float(most)))
        return relay.where(relay.greater_equal(x, bound), high, low)

    return elementwise(call, function)


@layer("LeakyReLU")
def _leaky_relu(call: Call) -> Results:
    slope = call.attr("negative_slope", call.attr("alpha"))
    return elementwise(call, lambda x: relay.nn.leaky_relu(x, float(slope)))


@layer("ELU")
def _elu_layer(call: Call) -> Results:
    return elementwise(call, lambda x: _elu(x, call.context.dtype(x), float(call.attr("alpha", 1.0))))


@layer("ThresholdedReLU")
def _thresholded_relu(call: Call) -> Results:
    def function(x: Expr) -> Expr:
        return relay.where(relay.greater(x, call.number(float(call.attr("theta")))), x, call.number(0.0))

    return elementwise(call, function)


@layer("PReLU")
def _prelu(call: Call) -> Results:
    value = call.value(0)
    x = call.cast(value.expr)
    if value.first:  # the slopes have the shape of one example
        alpha = call.weight("alpha", lambda a: a.transpose((a.ndim - 1, *range(a.ndim - 1))), "first")
    else:
        alpha = call.weight("alpha")
    low = relay.multiply(alpha, x)
    return Value(relay.where(relay.greater(x, call.number(0.0)), x, low), value.first)


@layer("Softmax", uses_mask=True)
def _softmax(call: Call) -> Results:
    value = call.value(0)
    axes = call.attr("axis")
    axes = list(axes) if isinstance(axes, (list, tuple)) else [axes]
    x = call.cast(value.expr)
    mask = call.argument("mask") or (Value(value.mask) if value.mask is not None else None)
    if isinstance(mask, Value):
        x = call.last(Value(x, value.first))
        most = -3.0e4 if call.dtype == "float16" else -1.0e9
        off = relay.subtract(call.number(1.0), relay.cast(mask.expr, call.dtype))
        x, value = relay.add(x, relay.multiply(off, call.number(most))), Value(x)
    rank = call.context.rank(x)
    axes = [call.moved_axis(axis % rank, rank, value.first) for axis in axes]
    if len(axes) == 1:
        return Value(relay.nn.softmax(x, axes[0]), value.first, value.mask)
    shifted = relay.exp(relay.subtract(x, relay.max(x, axes, keepdims=True)))
    return Value(relay.divide(shifted, relay.sum(shifted, axes, keepdims=True)), value.first)
