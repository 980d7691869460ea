"""Functions of one integer of 8 or 16 bits that TensorFlow Lite computes with integers: tables of results.

TensorFlow Lite's kernels of these operators round more than once, or in a way of their own. A table, computed
when the model is imported, has their results exactly, and a look-up costs less than the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ...ops.numeric import Array, np
from .operation import Converter, Operation
from .quantization import RANGES
from .reader import Quantization
from .reference_kernels import fractions
from .short_integers import exponential, gelu, inverse_root, logarithm, of_reals, sigmoid, softmax

_SHORT = (-(1 << 15), (1 << 15) - 1)


def table_kernel(op: Operation) -> Converter | None:
    """Return a converter that looks the results up; None where an operator needs none."""
    if op.name not in _FUNCTIONS and op.name not in _SHORT_FUNCTIONS and op.name != "SOFTMAX":
        return None
    before, after, dtype = op.tensor(0).quantization, op.result().quantization, op.result().dtype
    if before is None or after is None or op.dtype(0) != dtype or before.per_channel or after.per_channel:
        return None
    function = None
    if dtype in ("int8", "uint8"):
        function = _FUNCTIONS.get(op.name)
    elif dtype == "int16" and not before.zero_point[0] and not after.zero_point[0]:
        if op.name in _UNIT_RESULTS and after.scale[0] != 2.0**-15:
            return None
        if op.name == "SOFTMAX":
            return lambda op: softmax(op, before)
        function = _SHORT_FUNCTIONS.get(op.name)
    if function is None:
        return None
    first, last = RANGES[dtype]
    stored = np.arange(first, last + 1, dtype=np.int64)
    values = function(op, stored - before.zero_point[0], _scale(before), _scale(after))
    table = np.clip(values + after.zero_point[0], first, last).astype(dtype)

    def convert(op: Operation) -> Expr:
        index = relay.cast(op.stored(0), "int32")
        return relay.take(const(table), relay.subtract(index, const(first, "int32")) if first else index, 0)

    return convert


def _scale(quantization: Quantization) -> float:
    return float(np.float32(quantization.scale[0]))


def _square_root(op: Operation, x: Array, before: float, after: float) -> Array:
    """Return the roots, in float32, rounded downwards; that of a negative number is zero."""
    roots = np.sqrt(np.maximum(x, 0).astype(np.float32) * np.float32(before))
    return np.floor(roots / np.float32(after)).astype(np.int64)


def _leaky_relu(op: Operation, x: Array, before: float, after: float) -> Array:
    """Return the values as the default kernel does, whose factors are multiples of 1/256."""
    slope = np.float32(op.attr("alpha", 0.0))
    factor = np.float32(before) / np.float32(after)
    above, below = (np.rint(np.float32(256) * value).astype(np.int64) for value in (factor, factor * slope))
    return (x * np.where(x < 0, below, above) + 128) >> 8


def _hard_swish(op: Operation, x: Array, before: float, after: float) -> Array:
    """Return x · relu6(x + 3) / 6 in numbers of 16 bits, which have 7 bits more than the operand."""
    high, step = x << 7, before / 128
    fraction, exponent = _short(step / after)
    if exponent > 0:
        raise RelayError(
            f"HARD_SWISH of integers requires a result with a scale of at least {step}, not {after}"
        )
    gate_fraction, gate_exponent = _short(step * 32768 / 3)
    gate = _product(_saturated(high << max(gate_exponent - 1, 0)), gate_fraction)
    gate = _quotient(_saturated(gate << min(max(gate_exponent, 0), 1)), max(-gate_exponent, 0))
    product = ((gate + (1 << 15)) >> 1) * _product(high, fraction)
    return _quotient(_saturated(np.sign(product) * (np.abs(product) >> 15)), -exponent)


def _short(factor: float) -> tuple[int, int]:
    """Return a factor as a fraction of 15 bits and a power of two."""
    whole, exponent = (int(part) for part in fractions(np.asarray(factor)))
    return min((whole + (1 << 15)) >> 16, _SHORT[1]), exponent


def _product(x: Array, fraction: int) -> Array:
    """Multiply by a fraction of 15 bits and round half away from zero."""
    product = x * fraction
    return _saturated(np.sign(product) * ((np.abs(product) + (1 << 14)) >> 15))


def _quotient(x: Array, exponent: int) -> Array:
    """Divide by a power of two and round half away from zero."""
    if exponent == 0:
        return x
    return np.sign(x) * ((np.abs(x) + (1 << (exponent - 1))) >> exponent)


def _saturated(x: Array) -> Array:
    return np.clip(x, *_SHORT)


_FUNCTIONS: dict[str, Callable[[Operation, Array, float, float], Array]] = {
    "HARD_SWISH": _hard_swish, "LEAKY_RELU": _leaky_relu, "SQRT": _square_root,
}  # fmt: skip

_UNIT_RESULTS = ("LOGISTIC", "TANH", "SOFTMAX")  # integers of 16 bits, whose scale must be 2⁻¹⁵
_SHORT_FUNCTIONS: dict[str, Callable[[Operation, Array, float, float], Array]] = {
    "EXP": lambda op, x, before, after: of_reals(exponential, before, after),
    "LOG": lambda op, x, before, after: of_reals(logarithm, before, after),
    "RSQRT": lambda op, x, before, after: of_reals(inverse_root, before, after),
    "GELU": lambda op, x, before, after: of_reals(
        lambda real: gelu(real, bool(op.attr("approximate", False))), before, after
    ),
    "LOGISTIC": lambda op, x, before, after: sigmoid(before, False),
    "TANH": lambda op, x, before, after: sigmoid(before, True),
}
