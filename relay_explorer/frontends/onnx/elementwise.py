"""Convert ONNX's arithmetic, logic and mathematical functions of single elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, const
from ...ops import namespaces as relay
from ..base.errors import ModelFileError
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, OnnxConverter, converter
from .tools import is_float, normal_axis, number, operand, operands, optional

Binary = Callable[[Anything, Anything], Call]
Unary = Callable[[Anything], Call]


def aligned(g: Graph, node: Node, x: Expr, y: Expr) -> tuple[Expr, Expr]:
    """Return the operands of a binary operator, ready to be broadcast as NumPy does.

    Before opset 7 `axis` said which axis of the first the second's first axis is aligned with.
    """
    axis = g.attr(node, "axis")
    if axis is None or g.opset >= 7 or not g.attr(node, "broadcast", 0):
        return x, y
    rank, own = g.context.rank(x), g.context.rank(y)
    trailing = rank - own - normal_axis(axis, rank)
    if trailing < 0:
        raise ModelFileError(
            f"the {own} axes of the second operand, aligned from axis={axis} on, exceed the {rank} axes of "
            "the first"
        )
    return x, relay.expand_dims(y, own, trailing) if trailing else y


def _binary(build: Binary) -> OnnxConverter:
    def convert(g: Graph, node: Node, inputs: list[Expr | None]) -> Expr:
        x, y = aligned(g, node, *operands(node, inputs, 2))
        return build(x, y)

    return convert


for _name, _build in {
    "Add": relay.add, "Sub": relay.subtract, "Mul": relay.multiply, "Div": relay.divide,
    "And": relay.logical_and, "Or": relay.logical_or, "Xor": relay.logical_xor,
    "Equal": relay.equal, "Less": relay.less, "Greater": relay.greater,
    "LessOrEqual": relay.less_equal, "GreaterOrEqual": relay.greater_equal,
    "BitwiseAnd": relay.bitwise_and, "BitwiseOr": relay.bitwise_or, "BitwiseXor": relay.bitwise_xor,
}.items():  # fmt: skip
    converter(_name)(_binary(_build))


@converter("Pow")
def _pow(g: Graph, node: Node, inputs: Inputs) -> Expr:
    base, exponent = aligned(g, node, *operands(node, inputs, 2))
    value = g.context.constant(exponent)
    if (
        value is not None
        and value.size == 1
        and float(value.reshape(-1)[0]) == 2.0
        and value.ndim <= g.context.rank(base)
    ):
        return relay.multiply(base, base)
    dtype, other = g.context.dtype(base), g.context.dtype(exponent)
    if dtype == other:
        return relay.power(base, exponent)
    if is_float(dtype):
        return relay.power(base, relay.cast(exponent, dtype))
    if not is_float(other):
        return relay.power(base, relay.cast(exponent, dtype))
    wide = "float64" if dtype in ("int64", "uint64", "int32", "uint32") else other
    power = relay.power(relay.cast(base, wide), relay.cast(exponent, wide))
    return relay.cast(power, dtype)


@converter("Mod")
def _mod(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, y = operands(node, inputs, 2)
    if g.attr(node, "fmod", 0):
        return relay.mod(x, y)
    dtype = g.context.dtype(x)
    if is_float(dtype) and g.opset < 28:
        raise RelayError("Mod of floating-point numbers requires fmod=1, but the node has fmod=0")
    if is_float(dtype):  # floor_mod would give NaN for an infinite divisor
        rest, zero = relay.mod(x, y), const(0, dtype)
        crosses = relay.not_equal(relay.less(rest, zero), relay.less(y, zero))
        return relay.where(relay.logical_and(relay.not_equal(rest, zero), crosses), relay.add(rest, y), rest)
    return relay.floor_mod(x, y)


def _variadic(build: Binary) -> OnnxConverter:
    def convert(g: Graph, node: Node, inputs: list[Expr | None]) -> Expr:
        first, *others = operands(node, inputs, max(len(inputs), 1))
        return reduce(build, others, first)

    return convert


converter("Sum")(_variadic(relay.add))
converter("Max")(_variadic(relay.maximum))
converter("Min")(_variadic(relay.minimum))


@converter("Mean")
def _mean(g: Graph, node: Node, inputs: Inputs) -> Expr:
    parts = operands(node, inputs, max(len(inputs), 1))
    total = reduce(relay.add, parts)
    return relay.divide(total, number(g, len(parts), parts[0])) if len(parts) > 1 else total


def _unary(build: Unary) -> OnnxConverter:
    def convert(g: Graph, node: Node, inputs: list[Expr | None]) -> Expr:
        return build(operand(node, inputs))

    return convert


for _name, _function in {
    "Neg": relay.negative, "Abs": relay.abs, "Ceil": relay.ceil, "Floor": relay.floor, "Round": relay.round,
    "Exp": relay.exp, "Log": relay.log, "Sqrt": relay.sqrt, "Erf": relay.erf, "Sign": relay.sign,
    "Sin": relay.sin, "Cos": relay.cos, "Tan": relay.tan, "Asin": relay.asin, "Acos": relay.acos,
    "Atan": relay.atan, "Sinh": relay.sinh, "Cosh": relay.cosh, "Asinh": relay.asinh, "Acosh": relay.acosh,
    "Atanh": relay.atanh, "Tanh": relay.tanh, "Sigmoid": relay.sigmoid, "Not": relay.logical_not,
    "BitwiseNot": relay.bitwise_not, "IsNaN": relay.isnan,
}.items():  # fmt: skip
    converter(_name)(_unary(_function))


@converter("Reciprocal")
def _reciprocal(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    return relay.divide(number(g, 1, x), x)


@converter("IsInf")
def _is_inf(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    positive, negative = g.attr(node, "detect_positive", 1), g.attr(node, "detect_negative", 1)
    if positive and negative:
        return relay.isinf(x)
    if positive or negative:
        return relay.equal(x, number(g, float("inf") if positive else float("-inf"), x))
    return relay.zeros_like(relay.isinf(x))


@converter("Identity")
def _identity(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return operand(node, inputs)


@converter("Dropout", since=1)
def _dropout(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    """Dropout in a trained model does nothing; in training mode it would be random."""
    x = operand(node, inputs)
    training = optional(inputs, 2)
    if training is not None:
        flag = g.context.constant(training)
        ratio = optional(inputs, 1)
        share = 0.5 if ratio is None else g.context.constant(ratio)
        if (flag is None or bool(flag)) and (share is None or float(share) != 0.0):
            raise RelayError(
                "Dropout in training mode cannot be imported: its result is random",
                help=["export the model in evaluation mode (model.eval())"],
            )
    if len(node.outputs) < 2:
        return [x]
    dtype = "bool" if g.opset >= 10 else g.context.dtype(x)
    return [x, relay.ones_like(relay.cast(x, dtype))]


@converter("Clip", since=1)
def _clip_by_attributes(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    low, high = g.attr(node, "min"), g.attr(node, "max")
    return _limited(g, x, low, high)


@converter("Clip", since=11)
def _clip(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    bounds: list[Anything] = []
    for index in (1, 2):
        bound = optional(inputs, index)
        value = None if bound is None else g.context.constant(bound)
        bounds.append(bound if value is None or value.size != 1 else value.reshape(-1)[0].item())
    return _limited(g, x, bounds[0], bounds[1])


def _limited(g: Graph, x: Expr, low: Anything, high: Anything) -> Expr:
    """Limit `x` to bounds, each a number, a scalar that the program computes, or None."""
    dtype = g.context.dtype(x)
    numbers = all(isinstance(bound, (int, float)) for bound in (low, high))
    if numbers and is_float(dtype) and low <= high:
        return relay.clip(x, float(low), float(high))
    if low is not None:
        x = relay.maximum(x, low if isinstance(low, Expr) else const(low, dtype))
    if high is not None:
        x = relay.minimum(x, high if isinstance(high, Expr) else const(high, dtype))
    return x
