"""Converters of operators that work element by element."""

from __future__ import annotations

from collections.abc import Callable

from ....ir.errors import RelayError
from ....ir.expr import Expr, const
from ....ops import namespaces as relay
from ...base.context import Results
from ...base.source import Node
from ..importer import Importer
from ..registry import RULES, converts

_Unary = Callable[[Expr], Expr]
_Binary = Callable[[Expr, Expr], Expr]

_UNARY: dict[str, _Unary] = {
    "Abs": relay.abs, "Acos": relay.acos, "Acosh": relay.acosh, "Asin": relay.asin, "Asinh": relay.asinh,
    "Atan": relay.atan, "Atanh": relay.atanh, "Ceil": relay.ceil, "Cos": relay.cos, "Cosh": relay.cosh,
    "Erf": relay.erf, "Exp": relay.exp, "Floor": relay.floor, "IsFinite": relay.isfinite,
    "IsInf": relay.isinf, "IsNan": relay.isnan, "Log": relay.log, "LogicalNot": relay.logical_not,
    "Neg": relay.negative, "Relu": relay.nn.relu, "Rsqrt": relay.rsqrt, "Sigmoid": relay.sigmoid,
    "Sign": relay.sign, "Sin": relay.sin, "Sinh": relay.sinh, "Sqrt": relay.sqrt, "Tan": relay.tan,
    "Tanh": relay.tanh, "Invert": relay.bitwise_not,
}  # fmt: skip

_BINARY: dict[str, _Binary] = {
    "Add": relay.add, "AddV2": relay.add, "Sub": relay.subtract, "Mul": relay.multiply,
    "RealDiv": relay.divide, "FloorDiv": relay.floor_divide, "Mod": relay.trunc_mod,
    "FloorMod": relay.floor_mod, "TruncateMod": relay.trunc_mod, "TruncateDiv": relay.trunc_divide,
    "Maximum": relay.maximum, "Minimum": relay.minimum, "Pow": relay.power, "Equal": relay.equal,
    "NotEqual": relay.not_equal, "Greater": relay.greater, "GreaterEqual": relay.greater_equal,
    "Less": relay.less, "LessEqual": relay.less_equal, "LogicalAnd": relay.logical_and,
    "LogicalOr": relay.logical_or, "BitwiseAnd": relay.bitwise_and, "BitwiseOr": relay.bitwise_or,
    "BitwiseXor": relay.bitwise_xor,
}  # fmt: skip


def _declare_unary(op: str, build: _Unary) -> None:
    @converts(op)
    def convert(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
        return build(inputs[0])


def _declare_binary(op: str, build: _Binary) -> None:
    @converts(op)
    def convert(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
        return build(inputs[0], inputs[1])


for _op, _unary in _UNARY.items():
    _declare_unary(_op, _unary)
for _op, _binary in _BINARY.items():
    _declare_binary(_op, _binary)
assert "Add" in RULES


def like(tf: Importer, value: float, operand: Expr) -> Expr:
    """Return a scalar of the operand's element type."""
    return const(value, tf.context.dtype(operand))


@converts(
    "Identity", "RefIdentity", "StopGradient", "PreventGradient", "Snapshot", "CheckNumerics", "EnsureShape",
    "ReadVariableOp", "DebugGradientIdentity", "DeepCopy",
)  # fmt: skip
def _same(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return inputs[0]


@converts("IdentityN")
def _same_all(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return inputs


@converts("Cast", "Bitcast")
def _cast(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    (operand,) = inputs
    dtype = str(node.attrs["DstT" if node.op == "Cast" else "type"])
    if node.op == "Bitcast":
        return relay.reinterpret(operand, dtype)
    if dtype == "bool":
        return relay.not_equal(operand, like(tf, 0, operand))
    return relay.cast(operand, dtype)


@converts("Div")
def _divide(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    whole = tf.context.dtype(inputs[0]).startswith(("int", "uint"))
    return relay.trunc_divide(*inputs) if whole else relay.divide(*inputs)


@converts("DivNoNan", "MulNoNan", "Xdivy", "Xlogy")
def _guarded(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Convert operations that are zero where one operand is zero, whatever the other is."""
    x, y = inputs
    zero, one = like(tf, 0, x), like(tf, 1, x)
    deciding = y if node.op in ("DivNoNan", "MulNoNan") else x
    is_zero = relay.equal(deciding, zero)
    if node.op == "MulNoNan":
        value = relay.multiply(x, y)
    elif node.op == "Xlogy":
        value = relay.multiply(x, relay.log(relay.where(is_zero, one, y)))
    else:
        value = relay.divide(x, relay.where(is_zero, one, y))
    return relay.where(is_zero, relay.zeros_like(value), value)


@converts("AddN", "AccumulateNV2")
def _sum_of_all(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    result = inputs[0]
    for operand in inputs[1:]:
        result = relay.add(result, operand)
    return result


@converts("Square")
def _square(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.multiply(inputs[0], inputs[0])


@converts("SquaredDifference")
def _squared_difference(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    difference = relay.subtract(*inputs)
    return relay.multiply(difference, difference)


@converts("Reciprocal", "Inv")
def _reciprocal(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.divide(like(tf, 1, inputs[0]), inputs[0])


@converts("Erfc")
def _erfc(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.subtract(like(tf, 1, inputs[0]), relay.erf(inputs[0]))


@converts("Expm1")
def _expm1(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.subtract(relay.exp(inputs[0]), like(tf, 1, inputs[0]))


@converts("Log1p")
def _log1p(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.log(relay.add(inputs[0], like(tf, 1, inputs[0])))


@converts("Atan2")
def _atan2(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Convert the angle of a point. The arc tangent of y/x is right for x > 0; the other quadrants are
    offset by pi.
    """
    y, x = inputs
    zero, pi = like(tf, 0, x), like(tf, 3.141592653589793, x)
    steep = relay.equal(x, zero)
    angle = relay.atan(relay.divide(y, relay.where(steep, like(tf, 1, x), x)))
    turned = relay.where(relay.less(y, zero), relay.subtract(angle, pi), relay.add(angle, pi))
    general = relay.where(relay.less(x, zero), turned, angle)
    upright = relay.multiply(relay.sign(y), like(tf, 1.5707963267948966, x))
    return relay.where(steep, upright, general)


@converts("Round", "Rint")
def _round(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Round to the nearest integer, and to the even one where two are equally near."""
    (x,) = inputs
    if not tf.context.dtype(x).startswith(("float", "bfloat")):
        return x
    half, two = like(tf, 0.5, x), like(tf, 2, x)
    below = relay.floor(x)
    fraction = relay.subtract(x, below)
    odd = relay.subtract(below, relay.multiply(two, relay.floor(relay.divide(below, two))))
    tie = relay.add(below, odd)
    nearest = relay.where(relay.less(fraction, half), below, relay.ceil(x))
    return relay.where(relay.equal(fraction, half), tie, nearest)


@converts("LeftShift", "RightShift")
def _shift(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    build = relay.left_shift if node.op == "LeftShift" else relay.right_shift
    return build(*inputs)


@converts("Relu6")
def _relu6(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.clip(inputs[0], 0.0, 6.0)


@converts("LeakyRelu")
def _leaky_relu(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.nn.leaky_relu(inputs[0], alpha=float(node.attrs.get("alpha", 0.2)))


@converts("Elu", "Selu")
def _elu(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    (x,) = inputs
    alpha, scale = (1.0, 1.0) if node.op == "Elu" else (1.6732632423543772, 1.0507009873554805)
    zero = like(tf, 0, x)
    below = relay.subtract(relay.exp(relay.minimum(x, zero)), like(tf, 1, x))
    value = relay.add(relay.maximum(x, zero), relay.multiply(like(tf, alpha, x), below))
    return value if scale == 1.0 else relay.multiply(like(tf, scale, x), value)


@converts("Softplus")
def _softplus(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Convert log(1 + exp(x)), written so that large x do not overflow."""
    (x,) = inputs
    decay = relay.exp(relay.negative(relay.abs(x)))
    return relay.add(relay.nn.relu(x), relay.log(relay.add(decay, like(tf, 1, x))))


@converts("Softsign")
def _softsign(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    (x,) = inputs
    return relay.divide(x, relay.add(relay.abs(x), like(tf, 1, x)))


@converts("ClipByValue")
def _clip(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.minimum(relay.maximum(inputs[0], inputs[1]), inputs[2])


@converts("ApproximateEqual")
def _approximately_equal(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    tolerance = like(tf, float(node.attrs.get("tolerance", 1e-5)), inputs[0])
    return relay.less(relay.abs(relay.subtract(*inputs)), tolerance)


@converts("BiasAdd", "BiasAddV1")
def _bias_add(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    channels_first = str(node.attrs.get("data_format", "NHWC")).startswith("NC")
    if not channels_first:
        return relay.add(inputs[0], inputs[1])
    return relay.nn.bias_add(inputs[0], inputs[1], axis=1)


@converts("Select", "SelectV2")
def _select(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    condition, x, y = inputs
    ranks = [tf.context.rank(operand) for operand in inputs]
    if node.op == "Select" and ranks[0] == 1 and ranks[1] > 1:  # the condition selects rows
        condition = relay.expand_dims(condition, 1, ranks[1] - 1)
    return relay.where(condition, x, y)


@converts("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs")
def _fake_quantize(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Convert rounding to the grid of a quantized tensor, whose range is adjusted to contain zero exactly."""
    if node.op == "FakeQuantWithMinMaxVars":
        low, high = (float(tf.need(bound, "the range").reshape(())) for bound in inputs[1:3])
    else:
        low, high = float(node.attrs.get("min", -6.0)), float(node.attrs.get("max", 6.0))
    least = 1.0 if node.attrs.get("narrow_range") else 0.0
    most = float(2 ** int(node.attrs.get("num_bits", 8)) - 1)
    if not low < high or low > 0 or high < 0:
        raise RelayError(f"the range of values, {low} to {high}, must contain zero")
    scale = (high - low) / (most - least)
    zero = min(max(round(least - low / scale), least), most)
    x = inputs[0]
    low, high = (least - zero) * scale, (most - zero) * scale
    steps = relay.divide(relay.subtract(relay.clip(x, low, high), like(tf, low, x)), like(tf, scale, x))
    rounded = relay.floor(relay.add(steps, like(tf, 0.5, x)))
    return relay.add(relay.multiply(rounded, like(tf, scale, x)), like(tf, low, x))
