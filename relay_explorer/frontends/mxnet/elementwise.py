"""Element-wise operators."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.context import Results
from .registry import Converter, Operation, converts

Unary = Callable[[Expr], Expr]
Binary = Callable[[Expr, Expr], Expr]


def number(op: Operation, value: float, like: int = 0) -> Expr:
    """Return a scalar of the element type of an input."""
    dtype = op.dtype(like)
    if "int" in dtype or dtype == "bool":
        if not math.isfinite(value) or int(value) != value:
            raise RelayError(f"the scalar {value} cannot be represented as {dtype}")
        return const(int(value), dtype)
    return const(value, dtype)


def _unary(function: Unary) -> Converter:
    return lambda op: function(op[0])


def _to_float(op: Operation) -> Expr:
    return op[0] if "float" in op.dtype() else relay.cast(op[0], "float32")


def _scaled(factor: float) -> Converter:
    return lambda op: relay.multiply(op[0], number(op, factor))


def _reciprocal(x: Expr) -> Expr:
    return relay.divide(relay.ones_like(x), x)


def _cube_root(op: Operation) -> Expr:
    x = op[0]
    return relay.multiply(relay.sign(x), relay.power(relay.abs(x), number(op, 1 / 3)))


def softrelu(op: Operation) -> Expr:
    """Return log(1 + exp(x)), without overflow."""
    x = op[0]
    tail = relay.log(relay.add(number(op, 1), relay.exp(relay.negative(relay.abs(x)))))
    return relay.add(relay.nn.relu(x), tail)


def softsign(op: Operation) -> Expr:
    return relay.divide(op[0], relay.add(number(op, 1), relay.abs(op[0])))


def _nearest(op: Operation, ties_up: bool) -> Expr:
    """Round |x| (ties up), or x (ties down)."""
    x = relay.abs(op[0]) if ties_up else op[0]
    below = relay.floor(x)
    rest = relay.subtract(x, below)
    half, one = number(op, 0.5), number(op, 1)
    up = relay.greater_equal(rest, half) if ties_up else relay.greater(rest, half)
    rounded = relay.where(up, relay.add(below, one), below)
    return relay.multiply(relay.sign(op[0]), rounded) if ties_up else rounded


def _equals_zero(op: Operation) -> Expr:
    return relay.equal(op[0], number(op, 0))


_UNARY: dict[str, Converter] = {
    "abs": _unary(relay.abs), "relu": _unary(relay.nn.relu), "sigmoid": _unary(relay.sigmoid),
    "exp": _unary(relay.exp), "log": _unary(relay.log), "log2": _unary(relay.log2),
    "log10": _unary(relay.log10), "sqrt": _unary(relay.sqrt), "rsqrt": _unary(relay.rsqrt),
    "negative": _unary(relay.negative), "sign": _unary(relay.sign), "floor": _unary(relay.floor),
    "ceil": _unary(relay.ceil), "trunc": _unary(relay.trunc), "fix": _unary(relay.trunc),
    "sin": _unary(relay.sin), "cos": _unary(relay.cos), "tan": _unary(relay.tan),
    "arcsin": _unary(relay.asin), "arccos": _unary(relay.acos), "arctan": _unary(relay.atan),
    "sinh": _unary(relay.sinh), "cosh": _unary(relay.cosh), "tanh": _unary(relay.tanh),
    "arcsinh": _unary(relay.asinh), "arccosh": _unary(relay.acosh), "arctanh": _unary(relay.atanh),
    "erf": _unary(relay.erf), "square": _unary(lambda x: relay.multiply(x, x)),
    "reciprocal": _unary(_reciprocal), "rcbrt": lambda op: _reciprocal(_cube_root(op)), "cbrt": _cube_root,
    "expm1": lambda op: relay.subtract(relay.exp(op[0]), number(op, 1)),
    "log1p": lambda op: relay.log(relay.add(op[0], number(op, 1))),
    "degrees": _scaled(180 / math.pi), "radians": _scaled(math.pi / 180),
    "softsign": softsign, "softrelu": softrelu,
    "round": lambda op: _nearest(op, True), "rint": lambda op: _nearest(op, False),
}  # fmt: skip
for _name, _convert in _UNARY.items():
    converts(_name, f"_npi_{_name}", f"_np_{_name}")(_convert)

for _names in (
    "_copy", "identity", "BlockGrad", "stop_gradient", "make_loss", "MakeLoss", "LinearRegressionOutput",
    "MAERegressionOutput", "_np_copy", "_identity_with_attr_like_rhs", "IdentityAttachKLSparseReg",
    "_npi_copy", "Dropout", "_npx_dropout",
):  # fmt: skip
    converts(_names)(lambda op: op[0])

converts("LogisticRegressionOutput", "_npx_sigmoid")(_unary(relay.sigmoid))
converts("_npx_relu")(_unary(relay.nn.relu))
converts("zeros_like", "_np_zeros_like")(_unary(relay.zeros_like))
converts("ones_like", "_np_ones_like")(_unary(relay.ones_like))


@converts("Cast", "cast", "amp_cast", "_npx_cast")
def cast(op: Operation) -> Results:
    return relay.cast(op[0], op.attrs.dtype())


@converts("amp_multicast")
def multicast(op: Operation) -> Results:
    """Convert inputs to the widest of their types, or the narrowest."""
    dtypes = [op.dtype(index) for index in range(len(op))]
    order = sorted(dtypes, key=lambda dtype: int(dtype.removeprefix("bfloat").removeprefix("float")))
    target = order[0] if op.attrs.bool("cast_narrow", False) else order[-1]
    return [relay.cast(value, target) for value in op.inputs]


@converts("hard_sigmoid")
def hard_sigmoid(op: Operation) -> Results:
    slope, offset = op.attrs.float("alpha", 0.2), op.attrs.float("beta", 0.5)
    return relay.clip(relay.add(relay.multiply(op[0], number(op, slope)), number(op, offset)), 0.0, 1.0)


@converts("clip", "_npi_clip")
def clip(op: Operation) -> Results:
    low, high = op.attrs.float("a_min", -math.inf), op.attrs.float("a_max", math.inf)
    return relay.clip(op[0], low, high)


@converts("smooth_l1")
def smooth_l1(op: Operation) -> Results:
    """x² σ² / 2 near zero, and |x| - 1 / (2 σ²) elsewhere."""
    square = op.attrs.float("scalar", 1.0) ** 2
    x = op[0]
    size = relay.abs(x)
    near = relay.multiply(number(op, square / 2), relay.multiply(x, x))
    far = relay.subtract(size, number(op, 0.5 / square))
    return relay.where(relay.less(size, number(op, 1 / square)), near, far)


@converts("logical_not", "_np_logical_not")
def logical_not(op: Operation) -> Results:
    return relay.cast(_equals_zero(op), op.dtype())


@converts("_npi_logical_not")
def numpy_logical_not(op: Operation) -> Results:
    return _equals_zero(op)


def _hypot(x: Expr, y: Expr) -> Expr:
    return relay.sqrt(relay.add(relay.multiply(x, x), relay.multiply(y, y)))


_ARITHMETIC: dict[str, Binary] = {
    "add": relay.add, "sub": relay.subtract, "mul": relay.multiply, "div": relay.divide,
    "power": relay.power, "maximum": relay.maximum, "minimum": relay.minimum, "mod": relay.floor_mod,
    "hypot": _hypot,
}  # fmt: skip
_COMPARISONS: dict[str, Binary] = {
    "equal": relay.equal, "not_equal": relay.not_equal, "greater": relay.greater,
    "greater_equal": relay.greater_equal, "lesser": relay.less, "lesser_equal": relay.less_equal,
}  # fmt: skip
_LOGICAL: dict[str, Binary] = {
    "logical_and": relay.logical_and, "logical_or": relay.logical_or, "logical_xor": relay.logical_xor,
}  # fmt: skip
# Other names of the operators on two tensors.
_NAMES: dict[str, tuple[str, ...]] = {
    "add": (
        "elemwise_add",
        "_plus",
        "_Plus",
        "_add",
        "broadcast_add",
        "broadcast_plus",
        "_npi_add",
        "_grad_add",
    ),
    "sub": ("elemwise_sub", "_minus", "_Minus", "_sub", "broadcast_sub", "broadcast_minus", "_npi_subtract"),
    "mul": ("elemwise_mul", "_mul", "_Mul", "broadcast_mul", "_npi_multiply"),
    "div": ("elemwise_div", "_div", "_Div", "broadcast_div"),
    "power": ("_power", "_Power", "broadcast_power", "_npi_power"),
    "maximum": ("_maximum", "_Maximum", "broadcast_maximum", "_npi_maximum"),
    "minimum": ("_minimum", "_Minimum", "broadcast_minimum", "_npi_minimum"),
    "mod": ("_mod", "_Mod", "broadcast_mod", "_npi_mod"),
    "hypot": ("_hypot", "broadcast_hypot", "_npi_hypot"),
}
_NUMPY = {"lesser": "less", "lesser_equal": "less_equal"}  # NumPy's names of comparisons


def _binary(function: Binary) -> Converter:
    return lambda op: function(op[0], op[1])


def _compare(function: Binary) -> Converter:
    """Return a converter of a comparison, whose result has the type of the operands."""
    return lambda op: relay.cast(function(op[0], op[1]), op.dtype())


def _truth(op: Operation, index: int) -> Expr:
    return relay.not_equal(op[index], number(op, 0, index))


def _scalar(function: Binary, swapped: bool = False, compares: bool = False) -> Converter:
    def convert(op: Operation) -> Results:
        value = number(op, op.attrs.float("scalar"))
        result = function(value, op[0]) if swapped else function(op[0], value)
        return relay.cast(result, op.dtype()) if compares else result

    return convert


def _logical_scalar(function: Binary) -> Converter:
    def convert(op: Operation) -> Results:
        value = const(op.attrs.float("scalar") != 0, "bool")
        return relay.cast(function(_truth(op, 0), value), op.dtype())

    return convert


def _logical(function: Binary, numpy: bool) -> Converter:
    def convert(op: Operation) -> Results:
        result = function(_truth(op, 0), _truth(op, 1))
        return result if numpy else relay.cast(result, op.dtype())

    return convert


for _name, _function in _ARITHMETIC.items():
    converts(*_NAMES[_name])(_binary(_function))
    _title = {"add": "plus", "sub": "minus"}.get(_name, _name)
    converts(f"_{_title}_scalar", f"_{_title.capitalize()}Scalar")(_scalar(_function))
    if _name in ("sub", "div", "power", "mod"):
        converts(f"_r{_title}_scalar", f"_R{_title.capitalize()}Scalar")(_scalar(_function, swapped=True))
for _name, _function in _COMPARISONS.items():
    converts(f"_{_name}", f"broadcast_{_name}", f"_{_name.title()}")(_compare(_function))
    converts(f"_{_name}_scalar")(_scalar(_function, compares=True))
    _numpy = _NUMPY.get(_name, _name)
    converts(f"_npi_{_numpy}")(_binary(_function))
    converts(f"_npi_{_numpy}_scalar")(_scalar(_function))
for _name, _function in _LOGICAL.items():
    converts(f"_{_name}", f"broadcast_{_name}")(_logical(_function, False))
    converts(f"_{_name}_scalar")(_logical_scalar(_function))
    converts(f"_npi_{_name}")(_logical(_function, True))


def _numpy_scalar(function: Binary, swapped: bool = False) -> Converter:
    """With an integer tensor and a scalar that is a float, NumPy computes with floats."""

    def convert(op: Operation) -> Results:
        value = op.attrs.float("scalar")
        whole = op.attrs.bool("is_int", value.is_integer())
        x = op[0] if whole and function is not relay.divide else _to_float(op)
        scalar = const(int(value) if "int" in op.context.dtype(x) else value, op.context.dtype(x))
        return function(scalar, x) if swapped else function(x, scalar)

    return convert


_NUMPY_ARITHMETIC = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "true_divide", "power": "power", "mod": "mod",
    "maximum": "maximum", "minimum": "minimum",
}  # fmt: skip
for _name, _numpy in _NUMPY_ARITHMETIC.items():
    converts(f"_npi_{_numpy}_scalar")(_numpy_scalar(_ARITHMETIC[_name]))
    if _name in ("sub", "div", "power", "mod"):
        converts(f"_npi_r{_numpy}_scalar")(_numpy_scalar(_ARITHMETIC[_name], swapped=True))


@converts("_npi_true_divide")
def true_divide(op: Operation) -> Results:
    floats = [x if "float" in op.dtype(i) else relay.cast(x, "float32") for i, x in enumerate(op.inputs)]
    return relay.divide(floats[0], floats[1])


@converts("add_n", "ElementWiseSum", "_sum")
def add_n(op: Operation) -> Results:
    result = op[0]
    for value in op.inputs[1:]:
        result = relay.add(result, value)
    return result
