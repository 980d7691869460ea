"""Converters of `keras.ops` in functional models: arithmetic, comparisons and element-wise functions.

An operation's result has the element type that Keras infers; numbers among the operands take it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from .activations import FUNCTIONS
from .call import Call, Results, Value, layer

_FLOATS = ("float16", "bfloat16", "float32", "float64")

_UNARY: dict[str, Callable[[Expr], Expr]] = {
    "Abs": relay.abs, "Absolute": relay.abs, "Negative": relay.negative, "Exp": relay.exp, "Log": relay.log,
    "Log2": relay.log2, "Log10": relay.log10, "Sqrt": relay.sqrt, "Rsqrt": relay.rsqrt, "Sin": relay.sin,
    "Cos": relay.cos, "Tan": relay.tan, "Sinh": relay.sinh, "Cosh": relay.cosh, "Tanh": relay.tanh,
    "Arcsin": relay.asin, "Arccos": relay.acos, "Arctan": relay.atan, "Arcsinh": relay.asinh,
    "Arccosh": relay.acosh, "Arctanh": relay.atanh, "Floor": relay.floor, "Ceil": relay.ceil,
    "Trunc": relay.trunc, "Round": relay.round, "Sign": relay.sign, "Erf": relay.erf,
    "LogicalNot": relay.logical_not, "Isnan": relay.isnan, "Isinf": relay.isinf, "Isfinite": relay.isfinite,
    "Square": lambda x: relay.multiply(x, x), "BitwiseNot": relay.bitwise_not,
    "BitwiseInvert": relay.bitwise_not, "OnesLike": relay.ones_like, "ZerosLike": relay.zeros_like,
    "Copy": lambda x: x, "StopGradient": lambda x: x,
}  # fmt: skip
_BINARY: dict[str, Callable[[Expr, Expr], Expr]] = {
    "Add": relay.add, "Subtract": relay.subtract, "Multiply": relay.multiply, "Divide": relay.divide,
    "TrueDivide": relay.divide, "Maximum": relay.maximum, "Minimum": relay.minimum, "Power": relay.power,
    "FloorDivide": relay.floor_divide, "Mod": relay.floor_mod, "BitwiseAnd": relay.bitwise_and,
    "BitwiseOr": relay.bitwise_or, "BitwiseXor": relay.bitwise_xor,
}  # fmt: skip
_COMPARISONS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "Equal": relay.equal, "NotEqual": relay.not_equal, "Greater": relay.greater, "Less": relay.less,
    "GreaterEqual": relay.greater_equal, "LessEqual": relay.less_equal,
}  # fmt: skip
_LOGICAL: dict[str, Callable[[Expr, Expr], Expr]] = {
    "LogicalAnd": relay.logical_and, "LogicalOr": relay.logical_or, "LogicalXor": relay.logical_xor,
}  # fmt: skip
_ACTIVATIONS = {
    "Relu": "relu", "Relu6": "relu6", "Sigmoid": "sigmoid", "Silu": "silu", "Softplus": "softplus",
    "Softsign": "softsign", "Selu": "selu", "HardSigmoid": "hard_sigmoid", "HardSilu": "hard_silu",
    "HardTanh": "hard_tanh", "LogSigmoid": "log_sigmoid", "TanhShrink": "tanh_shrink",
    "SparsePlus": "sparse_plus", "SparseSigmoid": "sparse_sigmoid",
}  # fmt: skip


def result_dtype(call: Call, index: int = 0) -> str:
    """Return the element type that Keras infers for a result."""
    dtype = call.step.outputs[index].dtype
    return str(getattr(dtype, "name", dtype))


def operand(call: Call, value: Any, dtype: str | None = None) -> Expr:
    """Return a parameter of an operation as an expression, in Keras's order; cast to `dtype` if given."""
    if isinstance(value, Value):
        x = call.last(value)
        return relay.cast(x, dtype) if dtype is not None and call.context.dtype(x) != dtype else x
    import numpy as np

    if hasattr(value, "detach"):
        value = value.detach().cpu()
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if array.dtype.kind not in "biuf":
        raise RelayError(f"`{call.layer.name}` has the operand {value!r}, which is not a tensor")
    if dtype is None:
        dtype = {"f": "float32", "i": "int32"}.get(array.dtype.kind, str(array.dtype))
    return const(array.astype(dtype))


def argument(call: Call, name: str, default: Any = None) -> Any:
    """Return an option of an operation, which is an attribute of it or a parameter of its call."""
    if name in call.arguments:
        return call.arguments[name]
    return getattr(call.layer, name, default)


def first_argument(call: Call) -> Any:
    """Return the first parameter of a call."""
    return next(iter(call.arguments.values()))


def _pair(call: Call) -> tuple[Any, Any]:
    values = list(call.arguments.values())
    if len(values) < 2:
        raise RelayError(f"`{call.layer.name}` requires two operands, but has {len(values)}")
    return values[0], values[1]


def _common(call: Call, *values: Any) -> str:
    """Return the element type in which operands are compared."""
    dtypes = [call.context.dtype(value.expr) for value in values if isinstance(value, Value)]
    if any(isinstance(value, float) for value in values) and not any(kind in _FLOATS for kind in dtypes):
        dtypes.append("float32")
    floats = [kind for kind in dtypes if kind in _FLOATS]
    if floats:
        return max(floats, key=_FLOATS.index)
    import numpy as np

    return str(np.result_type(*dtypes))


@layer(*[f"ops.{name}" for name in _UNARY])
def _unary(call: Call) -> Results:
    value = first_argument(call)
    if not isinstance(value, Value):
        return _UNARY[call.kind[4:]](operand(call, value))
    x, dtype = value.expr, result_dtype(call)
    if dtype in _FLOATS and call.context.dtype(x) != dtype:
        x = relay.cast(x, dtype)
    return Value(_UNARY[call.kind[4:]](x), value.first)


@layer(*[f"ops.{name}" for name in _BINARY])
def _binary(call: Call) -> Results:
    return _combined(call, *_pair(call), result_dtype(call), _BINARY[call.kind[4:]])


@layer(*[f"ops.{name}" for name in _COMPARISONS])
def _comparison(call: Call) -> Results:
    a, b = _pair(call)
    return _combined(call, a, b, _common(call, a, b), _COMPARISONS[call.kind[4:]])


@layer(*[f"ops.{name}" for name in _LOGICAL])
def _logical(call: Call) -> Results:
    return _combined(call, *_pair(call), "bool", _LOGICAL[call.kind[4:]])


def _combined(call: Call, a: Any, b: Any, dtype: str, build: Callable[[Expr, Expr], Expr]) -> Value:
    """Combine two operands; images keep their order if both are, or one is a number."""
    values = [value for value in (a, b) if isinstance(value, Value)]
    ranks = {call.context.rank(value.expr) for value in values}
    scalars = all(isinstance(value, (Value, bool, int, float)) for value in (a, b))
    if any(value.first for value in values) and len(ranks) == 1 and scalars:
        x, y = (
            operand(call, Value(call.first(value)) if isinstance(value, Value) else value, dtype)
            for value in (a, b)
        )
        return Value(build(x, y), True)
    return Value(build(operand(call, a, dtype), operand(call, b, dtype)))


@layer(*[f"ops.{name}" for name in _ACTIVATIONS])
def _activation(call: Call) -> Results:
    value = first_argument(call)
    dtype = result_dtype(call)
    x = value.expr if call.context.dtype(value.expr) == dtype else relay.cast(value.expr, dtype)
    return Value(FUNCTIONS[_ACTIVATIONS[call.kind[4:]]](x, dtype), value.first)


def _elementwise(call: Call, build: Callable[[Expr, str], Expr]) -> Value:
    value = first_argument(call)
    dtype = result_dtype(call)
    x = value.expr if call.context.dtype(value.expr) == dtype else relay.cast(value.expr, dtype)
    return Value(build(x, dtype), value.first)


@layer("ops.Gelu")
def _gelu(call: Call) -> Results:
    from .activations import gelu

    return _elementwise(call, lambda x, dtype: gelu(x, dtype, bool(argument(call, "approximate", True))))


@layer("ops.LeakyRelu")
def _leaky_relu(call: Call) -> Results:
    return _elementwise(
        call, lambda x, dtype: relay.nn.leaky_relu(x, float(argument(call, "negative_slope")))
    )


@layer("ops.Elu", "ops.Celu")
def _elu(call: Call) -> Results:
    alpha = float(argument(call, "alpha", 1.0))
    if alpha != 1.0:
        raise RelayError(f"{call.kind} with alpha={alpha} cannot be imported", help=["use the layer ELU"])
    return _elementwise(call, FUNCTIONS["elu"])


@layer("ops.Clip")
def _clip(call: Call) -> Results:
    low, high = argument(call, "x_min"), argument(call, "x_max")
    if isinstance(low, (int, float)) and isinstance(high, (int, float)):
        return _elementwise(call, lambda x, dtype: relay.clip(x, float(low), float(high)))
    dtype = result_dtype(call)
    x = operand(call, first_argument(call), dtype)
    return relay.minimum(relay.maximum(x, operand(call, low, dtype)), operand(call, high, dtype))


@layer("ops.Reciprocal")
def _reciprocal(call: Call) -> Results:
    return _elementwise(call, lambda x, dtype: relay.divide(const(1.0, dtype), x))


@layer("ops.Expm1", "ops.Log1p")
def _shifted(call: Call) -> Results:
    if call.kind == "ops.Expm1":
        return _elementwise(call, lambda x, dtype: relay.subtract(relay.exp(x), const(1.0, dtype)))
    return _elementwise(call, lambda x, dtype: relay.log(relay.add(const(1.0, dtype), x)))


@layer("ops.Deg2rad", "ops.Rad2deg")
def _angle(call: Call) -> Results:
    factor = math.pi / 180 if call.kind == "ops.Deg2rad" else 180 / math.pi
    return _elementwise(call, lambda x, dtype: relay.multiply(x, const(factor, dtype)))


@layer("ops.Cast")
def _cast(call: Call) -> Results:
    value = first_argument(call)
    return Value(relay.cast(value.expr, result_dtype(call)), value.first)


@layer("ops.Where")
def _where(call: Call) -> Results:
    dtype = result_dtype(call)
    condition, x, y = (argument(call, name) for name in ("condition", "x1", "x2"))
    if x is None or y is None:
        raise RelayError("keras.ops.where with the condition alone cannot be imported")
    chosen = relay.cast(operand(call, condition), "bool")
    return relay.where(chosen, operand(call, x, dtype), operand(call, y, dtype))
