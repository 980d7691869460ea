"""Converters of element-wise operators and activation functions."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from .operation import Operation, converter

_UNARY: dict[str, Callable[[Expr], Expr]] = {
    "ABS": relay.abs, "CEIL": relay.ceil, "COS": relay.cos, "EXP": relay.exp, "FLOOR": relay.floor,
    "LOG": relay.log, "LOGICAL_NOT": relay.logical_not, "LOGISTIC": relay.sigmoid, "NEG": relay.negative,
    "ROUND": relay.round, "RSQRT": relay.rsqrt, "SIGN": relay.sign, "SIN": relay.sin,
    "SQRT": relay.sqrt, "TANH": relay.tanh,
    "SQUARE": lambda x: relay.multiply(x, x),
    "RELU_0_TO_1": lambda x: relay.clip(x, 0.0, 1.0),
    "ZEROS_LIKE": relay.zeros_like,
    "ELU": lambda x: relay.where(_positive(x), x, relay.subtract(relay.exp(x), _like(1.0, x))),
    "HARD_SWISH": lambda x: relay.divide(
        relay.multiply(x, relay.clip(relay.add(x, _like(3.0, x)), 0.0, 6.0)), _like(6.0, x)
    ),
}  # fmt: skip

_BINARY: dict[str, Callable[[Expr, Expr], Expr]] = {
    "ADD": relay.add, "SUB": relay.subtract, "MUL": relay.multiply, "MAXIMUM": relay.maximum,
    "MINIMUM": relay.minimum, "POW": relay.power, "FLOOR_MOD": relay.floor_mod, "EQUAL": relay.equal,
    "NOT_EQUAL": relay.not_equal, "GREATER": relay.greater, "GREATER_EQUAL": relay.greater_equal,
    "LESS": relay.less, "LESS_EQUAL": relay.less_equal, "LOGICAL_AND": relay.logical_and,
    "LOGICAL_OR": relay.logical_or, "BITWISE_XOR": relay.bitwise_xor, "RIGHT_SHIFT": relay.right_shift,
}  # fmt: skip


def _like(value: float, x: Expr) -> Expr:
    """Return a constant of the element type of `x`, whose type is inferred already."""
    return const(value, x.checked_type.dtype)  # type: ignore[attr-defined]  # a tensor


def _positive(x: Expr) -> Expr:
    return relay.greater(x, _like(0.0, x))


def _unary(op: Operation) -> Expr:
    x = op[0]
    op.context.type(x)
    return _UNARY[op.name](x)


def _binary(op: Operation) -> Expr:
    return op.activated(_BINARY[op.name](op[0], op[1]))


converter(*_UNARY)(_unary)
converter(*_BINARY)(_binary)


@converter("DIV", "FLOOR_DIV")
def _division(op: Operation) -> Expr:
    whole = "int" in op.context.dtype(op[0])
    if op.name == "FLOOR_DIV":
        return relay.floor_divide(op[0], op[1])
    if whole and op.result().quantization is None:
        return op.activated(relay.trunc_divide(op[0], op[1]))
    x, y = op[0], op[1]
    if op.result().quantization is not None:
        # Integers have no NaN: 0 / 0 is the greatest number, as every positive number divided by zero.
        zero = const(0.0, "float32")
        both = relay.logical_and(relay.equal(x, zero), relay.equal(y, zero))
        x = relay.where(both, const(1.0, "float32"), x)
    return op.activated(relay.divide(x, y))


@converter("SQUARED_DIFFERENCE")
def _squared_difference(op: Operation) -> Expr:
    difference = relay.subtract(op[0], op[1])
    return relay.multiply(difference, difference)


@converter("ADD_N")
def _add_n(op: Operation) -> Expr:
    first, *others = op.all()
    for other in others:
        first = relay.add(first, other)
    return first


@converter("ATAN2")
def _atan2(op: Operation) -> Expr:
    y, x = op[0], op[1]
    dtype = op.context.dtype(y)

    def number(value: float) -> Expr:
        return const(value, dtype)

    principal = relay.atan(relay.divide(y, x))
    negative_y = relay.less(y, number(0.0))
    left = relay.add(principal, relay.where(negative_y, number(-math.pi), number(math.pi)))
    upright = relay.where(negative_y, number(-math.pi / 2), number(math.pi / 2))
    upright = relay.where(relay.equal(y, number(0.0)), number(0.0), upright)
    result = relay.where(relay.less(x, number(0.0)), left, principal)
    return relay.where(relay.equal(x, number(0.0)), upright, result)


@converter("CAST", mode="stored")
def _cast(op: Operation) -> Expr:
    return relay.cast(op[0], op.result().dtype)


@converter("BITCAST", mode="own")
def _bitcast(op: Operation) -> Expr:
    return relay.reinterpret(op[0], op.result().dtype)


@converter("LEAKY_RELU")
def _leaky_relu(op: Operation) -> Expr:
    return relay.nn.leaky_relu(op[0], float(op.attr("alpha", 0.0)))


@converter("PRELU")
def _prelu(op: Operation) -> Expr:
    x = op[0]
    zero = const(0.0, op.context.dtype(x))
    return relay.where(relay.less(x, zero), relay.multiply(x, op[1]), x)


@converter("GELU")
def _gelu(op: Operation) -> Expr:
    x = op[0]
    dtype = op.context.dtype(x)
    half, one = const(0.5, dtype), const(1.0, dtype)
    if op.attr("approximate", False):
        cube = relay.multiply(relay.multiply(x, x), x)
        inner = relay.add(x, relay.multiply(const(0.044715, dtype), cube))
        bend = relay.tanh(relay.multiply(const(math.sqrt(2 / math.pi), dtype), inner))
    else:
        bend = relay.erf(relay.multiply(x, const(math.sqrt(0.5), dtype)))
    return relay.multiply(relay.multiply(half, x), relay.add(one, bend))


@converter("SOFTMAX")
def _softmax(op: Operation) -> Expr:
    x, beta = op[0], float(op.attr("beta", 1.0))
    if beta != 1.0:
        x = relay.multiply(x, const(beta, op.context.dtype(x)))
    return relay.nn.softmax(x, -1)


@converter("LOG_SOFTMAX")
def _log_softmax(op: Operation) -> Expr:
    return relay.nn.log_softmax(op[0], -1)


@converter("SELECT", "SELECT_V2", mode="own")
def _select(op: Operation) -> Expr:
    condition = op.stored(0)
    chosen = op.result()
    if op.tensor(1).quantization != chosen.quantization or op.tensor(2).quantization != chosen.quantization:
        op.mode = "real"
    x, y = op[1], op[2]
    missing = op.context.rank(x) - op.rank(0)
    if op.name == "SELECT" and op.rank(0) == 1 and missing > 0:  # a vector selects rows
        condition = relay.reshape(condition, (-1,) + (1,) * missing)
    return relay.where(condition, x, y)


@converter("FAKE_QUANT")
def _fake_quant(op: Operation) -> Expr:
    low, high = float(op.attr("min", 0.0)), float(op.attr("max", 0.0))
    bits = int(op.attr("num_bits", 8))
    first = 1 if op.attr("narrow_range", False) else 0
    last = 2**bits - 1
    if not low <= 0 <= high or low == high or not 2 <= bits <= 16:
        raise RelayError(
            f"FAKE_QUANT requires min ≤ 0 ≤ max, min < max and 2 to 16 num_bits, not {low}, {high} and {bits}"
        )
    scale = (high - low) / (last - first)
    zero = min(max(first - low / scale, first), last)
    zero = math.floor(zero + 0.5)
    low, high = (first - zero) * scale, (last - zero) * scale
    clipped = relay.clip(op[0], low, high)
    steps = relay.floor(
        relay.add(
            relay.divide(relay.subtract(clipped, const(low, "float32")), const(scale, "float32")),
            const(0.5, "float32"),
        )
    )
    return relay.add(relay.multiply(steps, const(scale, "float32")), const(low, "float32"))
