"""Functions of quantized tensors that are computed by a table with an entry for each 8-bit integer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any as Anything
from typing import ParamSpec, TypeVar

from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Call, Expr, const
from ...ir.op import OpPattern, RelationError
from ..arguments import Operand
from ..calls import relay
from ..cost import flops_per_output
from ..examples import t
from ..layouts.same import elementwise_layout
from ..numeric import Array, np, quiet
from ..operator import operator
from .activations import byte_relation
from .arithmetic import dequantized, quantized
from .documents import INTEGERS
from .layouts import beside
from .plain import centered, number, operand_type, problem, spread
from .quantize import check_scale, quantized_expr

__all__ = ["abs", "erf", "exp", "hardswish", "log", "rsqrt", "sigmoid", "sqrt", "tanh"]

P = ParamSpec("P")
R = TypeVar("R")

_INPUTS = ("x", "scale", "zero_point", "output_scale", "output_zero_point")


def quantized_table(
    function: Callable[[Array], Array], parameters: Sequence[float], in_dtype: str, out_dtype: str
) -> Array:
    """Return the quantized values of a function for all integers of a type, in the order of their bits.

    `function` maps an array of float32. `parameters` are scale and zero point of its argument, and those of
    its result. Entries beyond the range of `out_dtype` saturate; NaN becomes the zero point.
    """
    every = np.arange(256 if in_dtype in ("int8", "uint8") else 65536)
    integers = every.astype(in_dtype.replace("int", "uint").replace("uu", "u")).view(in_dtype)
    return _values(function, integers, [np.asarray(value) for value in parameters], out_dtype)


def _values(
    function: Callable[[Array], Array], x: Array, parameters: Sequence[Array], out_dtype: str
) -> Array:
    scale, zero_point, out_scale, out_zero = (parameter.reshape(()) for parameter in parameters)
    real = dequantized(x, scale.astype("float32"), zero_point.astype("int64"))
    with quiet():
        values = np.asarray(function(real)).astype("float32")
        return quantized(values, out_scale.astype("float32"), out_zero.astype("int64"), out_dtype)


def _by_table(
    name: str,
    description: str,
    formula: str,
    function: Callable[[Array], Array],
    build: Callable[[Expr], Expr],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a function of quantized numbers, which `function` computes in float64, and `build` from real
    numbers in Relay.
    """

    def wide(x: Array) -> Array:
        return function(x.astype("float64"))

    def reference(attrs: Anything, x: Array, *parameters: Array) -> Array:
        return _values(wide, x, parameters, str(x.dtype))

    def canonical(call: Call, operands: Sequence[Expr]) -> Expr:
        types = [operand_type(call, operand) for operand in range(5)]
        x, scale, zero_point, out_scale, out_zero = operands
        dtype, rank = types[0].dtype, len(types[0].shape)
        values = [number(operand) for operand in operands[1:]]
        known = [value for value in values if value is not None]
        try:
            check_scale(out_scale)
            if len(known) == 4:
                table = const(quantized_table(wide, known, dtype, dtype))
                index = x if dtype == "uint8" else relay.reinterpret(x, "uint8")
                return relay.take(table, index, axis=0, mode="fast")
            whole = relay.cast(centered(x, dtype, spread(zero_point, types[2], 0, 0)), "float32")
            real = build(relay.multiply(whole, spread(scale, types[1], 0, 0)))
            return quantized_expr(real, out_scale, out_zero, dtype, (types[3], types[4]), -1, rank)
        except RelationError as error:
            raise problem(call, error) from None

    return operator(
        name,
        description=description,
        formula=formula,
        family="quantization",
        level=11,
        relation=byte_relation(name),
        pattern=OpPattern.ELEMENTWISE,
        flops=flops_per_output,
        reference=reference,
        gradient=NotApplicable(INTEGERS),
        canonical=canonical,
        layout=beside(elementwise_layout),
        precision=Precision.UNLISTED,
        inputs=_INPUTS,
        example=lambda build: build(t(2, 6, dtype="uint8"), const(0.05), const(10), const(0.02), const(100)),
    )


def _formula(function: str) -> str:
    return rf"s_y (y - z_y) \approx {function}\bigl(s_x (x - z_x)\bigr)"


def _erf(x: Array) -> Array:
    return np.vectorize(math.erf, otypes=["float64"])(x)


def hardswish_values(x: Array) -> Array:
    """Compute x · min(max(x + 3, 0), 6) / 6."""
    return x * np.clip(x + 3, 0, 6) / 6


def _hardswish(x: Expr) -> Expr:
    moved = relay.clip(relay.add(x, const(3.0, "float32")), 0, 6)
    return relay.divide(relay.multiply(x, moved), const(6.0, "float32"))


@_by_table(
    "qnn.abs",
    "Computes the absolute value of each quantized element.",
    _formula(r"\operatorname{abs}"),
    lambda x: np.abs(x),
    lambda x: relay.abs(x),
)
def abs(
    x: Operand, scale: Operand, zero_point: Operand, output_scale: Operand, output_zero_point: Operand
) -> Call:
    """Compute the absolute value of each element; the result is rounded to its scale, and saturated."""


@_by_table(
    "qnn.exp",
    "Computes the exponential of each quantized element.",
    _formula(r"\exp"),
    lambda x: np.exp(x),
    lambda x: relay.exp(x),
)
def exp(
    x: Operand, scale: Operand, zero_point: Operand, output_scale: Operand, output_zero_point: Operand
) -> Call:
    """Compute the exponential of each element; the result is rounded to its scale, and saturated."""


@_by_table(
    "qnn.log",
    "Computes the natural logarithm of each quantized element.",
    _formula(r"\ln"),
    lambda x: np.log(x),
    lambda x: relay.log(x),
)
def log(
    x: Operand, scale: Operand, zero_point: Operand, output_scale: Operand, output_zero_point: Operand
) -> Call:
    """Compute the natural logarithm of each element; the result is rounded to its scale, and saturated."""


@_by_table(
    "qnn.sqrt",
    "Computes the square root of each quantized element.",
    _formula(r"\operatorname{sqrt}"),
    lambda x: np.sqrt(x),
    lambda x: relay.sqrt(x),
)
def sqrt(
    x: Operand, scale: Operand, zero_point: Operand, output_scale: Operand, output_zero_point: Operand
) -> Call:
    """Compute the square root of each element; the result is rounded to its scale, and saturated."""


@_by_table(
    "qnn.rsqrt",
    "Computes the reciprocal of the square root of each quantized element.",
    _formula(r"\operatorname{rsqrt}"),
    lambda x: 1 / np.sqrt(x),
    lambda x: relay.rsqrt(x),
)
def rsqrt(
    x: Operand, scale: Operand, zero_point: Operand, output_scale: Operand, output_zero_point: Operand
) -> Call:
    """Compute the reciprocal of the square root of each element, rounded to its scale and saturated."""


@_by_table(
    "qnn.erf",
    "Computes the error function of each quantized element.",
    _formula(r"\operatorname{erf}"),
    _erf,
    lambda x: relay.erf(x),
)
def erf(
    x: Operand, scale: Operand, zero_point: Operand, output_scale: Operand, output_zero_point: Operand
) -> Call:
    """Compute the error function of each element; the result is rounded to its scale, and saturated."""


@_by_table(
    "qnn.sigmoid",
    "Computes the logistic function of each quantized element.",
    _formula(r"\sigma"),
    lambda x: 1 / (1 + np.exp(-x)),
    lambda x: relay.sigmoid(x),
)
def sigmoid(
    x: Operand, scale: Operand, zero_point: Operand, output_scale: Operand, output_zero_point: Operand
) -> Call:
    """Compute the logistic function of each element; the result is rounded to its scale, and saturated."""


@_by_table(
    "qnn.tanh",
    "Computes the hyperbolic tangent of each quantized element.",
    _formula(r"\tanh"),
    lambda x: np.tanh(x),
    lambda x: relay.tanh(x),
)
def tanh(
    x: Operand, scale: Operand, zero_point: Operand, output_scale: Operand, output_zero_point: Operand
) -> Call:
    """Compute the hyperbolic tangent of each element; the result is rounded to its scale, and saturated."""


@_by_table(
    "qnn.hardswish",
    "Computes x · min(max(x + 3, 0), 6) / 6 of each quantized element.",
    _formula(r"\operatorname{hardswish}"),
    hardswish_values,
    _hardswish,
)
def hardswish(
    x: Operand, scale: Operand, zero_point: Operand, output_scale: Operand, output_zero_point: Operand
) -> Call:
    """Compute the hard swish of each element, x · min(max(x + 3, 0), 6) / 6, rounded to its scale."""
