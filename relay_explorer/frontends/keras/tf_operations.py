"""Converters of TensorFlow's operations in functional models of tf-keras, such as `x + 1` and `x[:, 0]`.

Each becomes the operation of `keras.ops` that computes the same; its parameters are renamed.
"""

from __future__ import annotations

from typing import Any

from ...ir.errors import RelayError
from .call import CONVERTERS, Call, Results, Value, layer

_PAIR = ("x", "y")
_REDUCED = ("input_tensor", "axis", "keepdims")

# The operation of keras.ops, the parameters of TensorFlow's function in order, and their names in Keras.
_OPERATIONS: dict[str, tuple[str, tuple[str, ...], dict[str, str]]] = {
    "cast": ("Cast", ("x", "dtype"), {}),
    "concat": ("Concatenate", ("values", "axis"), {}),
    "stack": ("Stack", ("values", "axis"), {}),
    "reshape": ("Reshape", ("tensor", "shape"), {"shape": "newshape"}),
    "expand_dims": ("ExpandDims", ("input", "axis"), {}),
    "compat.v1.squeeze": ("Squeeze", ("input", "axis"), {}),
    "compat.v1.transpose": ("Transpose", ("a", "perm"), {"perm": "axes"}),
    "nn.softmax": ("Softmax", ("logits", "axis"), {}),
    "nn.relu": ("Relu", ("features",), {}),
    "nn.relu6": ("Relu6", ("features",), {}),
    "nn.gelu": ("Gelu", ("features", "approximate"), {}),
    "nn.silu": ("Silu", ("features",), {}),
    "math.square": ("Square", ("x",), {}),
    "clip_by_value": ("Clip", ("t", "x_min", "x_max"), {"clip_value_min": "x_min",
    "clip_value_max": "x_max"}),
    "tile": ("Tile", ("input", "repeats"), {"multiples": "repeats"}),
}  # fmt: skip
_BINARY = {
    "add": "Add", "subtract": "Subtract", "multiply": "Multiply", "truediv": "TrueDivide", "divide": "Divide",
    "pow": "Power", "maximum": "Maximum", "minimum": "Minimum", "floordiv": "FloorDivide", "floormod": "Mod",
    "greater": "Greater", "greater_equal": "GreaterEqual", "less": "Less", "less_equal": "LessEqual",
    "equal": "Equal", "not_equal": "NotEqual", "logical_and": "LogicalAnd", "logical_or": "LogicalOr",
}  # fmt: skip
_UNARY = {
    "negative": "Negative", "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "rsqrt": "Rsqrt", "abs": "Abs",
    "sin": "Sin", "cos": "Cos", "tanh": "Tanh", "sigmoid": "Sigmoid", "floor": "Floor", "ceil": "Ceil",
    "sign": "Sign", "erf": "Erf", "softplus": "Softplus", "logical_not": "LogicalNot",
}  # fmt: skip
_REDUCTIONS = {
    "reduce_mean": "Mean", "reduce_sum": "Sum", "reduce_max": "Max", "reduce_min": "Min",
    "reduce_prod": "Prod",
    "reduce_variance": "Var", "reduce_std": "Std", "reduce_logsumexp": "Logsumexp", "reduce_any": "Any",
    "reduce_all": "All",
}  # fmt: skip
_OPERATIONS |= {f"math.{name}": (kind, _PAIR, {}) for name, kind in _BINARY.items()}
_OPERATIONS |= {f"__operators__.{name}": (kind, _PAIR, {}) for name, kind in _BINARY.items()}
_OPERATIONS |= {f"math.{name}": (kind, ("x",), {}) for name, kind in _UNARY.items()}
_OPERATIONS |= {f"math.{name}": (kind, _REDUCED, {}) for name, kind in _REDUCTIONS.items()}
_IGNORED = ("name", "conjugate", "output_type")


def _arguments(call: Call, names: tuple[str, ...], renamed: dict[str, str]) -> dict[str, Any]:
    """Return the arguments of a call by their names in Keras, in the order of the parameters."""
    parameters = call.arguments
    positional = parameters.get("args", ())
    result: dict[str, Any] = dict(zip(names, positional))
    for name, value in parameters.items():
        if name != "args" and name not in _IGNORED and value is not None:
            result[name] = value
    ordered = {name: result.pop(name) for name in names if name in result}
    return {renamed.get(name, name): value for name, value in (ordered | result).items()}


def _delegated(call: Call, kind: str, arguments: dict[str, Any]) -> Results:
    inner = Call(call.importer, call.step, call.inputs, arguments)
    inner.kind = f"ops.{kind}"
    return CONVERTERS[inner.kind](inner)


@layer(*[f"tf.{symbol}" for symbol in _OPERATIONS])
def _operation(call: Call) -> Results:
    kind, names, renamed = _OPERATIONS[call.kind.removeprefix("tf.")]
    return _delegated(call, kind, _arguments(call, names, renamed))


@layer("tf.linalg.matmul")
def _matmul(call: Call) -> Results:
    from ..base.products import matmul
    from .operations import operand, result_dtype

    arguments = _arguments(call, ("a", "b", "transpose_a", "transpose_b"), {})
    if set(arguments) - {"a", "b", "transpose_a", "transpose_b"}:
        raise RelayError(f"tf.matmul with {', '.join(arguments)} cannot be imported")
    a, b = (operand(call, arguments[name], result_dtype(call)) for name in ("a", "b"))
    first, second = bool(arguments.get("transpose_a")), bool(arguments.get("transpose_b"))
    return matmul(call.context, a, b, first, second)


@layer("tf.__operators__.getitem")
def _get_item(call: Call) -> Results:
    """Convert an index, whose slices tf-keras keeps as dicts."""
    arguments = _arguments(call, ("x", "key"), {"slice_spec": "key", "tensor": "x"})

    def decoded(part: Any) -> Any:
        if isinstance(part, dict):
            return slice(part["start"], part["stop"], part["step"])
        if isinstance(part, Value):
            raise RelayError("an index that the model computes cannot be imported")
        return part

    key = arguments["key"]
    parts = tuple([decoded(part) for part in key]) if isinstance(key, (list, tuple)) else decoded(key)
    return _delegated(call, "GetItem", {"x": arguments["x"], "key": parts})
