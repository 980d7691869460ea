"""Activation functions of quantized tensors whose elements are computed by integer arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any as Anything

from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Call, Constant, Expr, const
from ...ir.ndarray import NDArray
from ...ir.op import Op, OpPattern, Relation, RelationError, Reporter
from ...ir.types import Dim, Type
from ..arguments import Operand
from ..calls import relay
from ..cost import operations_per_input
from ..examples import t
from ..layouts.layout import NO_LAYOUT_RULE
from ..layouts.same import elementwise_layout
from ..nn import activation as _plain_activation  # noqa: F401  # declares nn.leaky_relu, whose attributes are used
from ..nn.softmax import SoftmaxAttrs
from ..numeric import Array, np
from ..operator import operator
from ..relation import normal_axis
from .arithmetic import centered as centered_array
from .arithmetic import chosen, quantized, ratios, saturated
from .arithmetic import rescaled as rescaled_array
from .documents import INTEGERS
from .fixed_point import LARGEST_RATIO
from .layouts import beside
from .parameters import BYTES, are_known, check_parameters, elements
from .plain import cast, centered, number, operand_type, problem, spread
from .quantize import quantized_expr
from .scaling import Ratio, Result, rescaled

__all__ = ["leaky_relu", "softmax"]

_PARAMETERS = ("input_scale", "input_zero_point", "output_scale", "output_zero_point")


def byte_relation(name: str, axis: bool = False) -> Relation:
    """Build the relation of an operator of one tensor of 8-bit integers, whose result is like it."""

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        if not are_known(types, 5):
            return False
        data = elements(types[0], 0, "data", BYTES)
        check_parameters(types, 1, _PARAMETERS)
        if axis:
            normal_axis(attrs.axis, len(data.shape), "qnn.softmax")
        reporter.assign(types[5], data)
        return True

    return Relation(name, rule, "{out} = {0}")


# -- leaky_relu


def _check_slope(alpha: float) -> float:
    if not abs(alpha) < LARGEST_RATIO:
        raise RelationError(
            f"alpha={alpha:g} must be finite, and less than {LARGEST_RATIO:.3g}",
            "it is the slope below zero, such as 0.1",
        )
    return abs(alpha)


def _leaky(attrs: Anything, x: Array, *parameters: Array) -> Array:
    scale, zero_point, out_scale, out_zero = (parameter.reshape(()) for parameter in parameters)
    how, ratio = chosen("None", "None"), ratios(scale, out_scale)
    whole = centered_array(x, zero_point)
    below = rescaled_array(-whole if attrs.alpha < 0 else whole, ratio * _check_slope(attrs.alpha), *how)
    units = np.where(whole < 0, below, rescaled_array(whole, ratio, *how))
    return saturated(units + out_zero, str(x.dtype))


def _leaky_canonical(call: Call, operands: Sequence[Expr]) -> Expr:
    """Rescale the elements above and below zero by different factors; the kernel computes both."""
    attrs = call.attrs
    assert attrs is not None
    types = [operand_type(call, operand) for operand in range(5)]
    x, scale, zero_point, out_scale, out_zero = operands
    dtype, rank, alpha = types[0].dtype, len(types[0].shape), attrs["alpha"]
    result = Result(out_zero, types[4], dtype)
    whole = centered(x, dtype, spread(zero_point, types[2], 0, 0))
    how = chosen("None", "None")
    try:
        above, below = (
            Ratio(scale, types[1], out_scale, types[3], -1, rank, factor)
            for factor in (1.0, _check_slope(alpha))
        )
    except RelationError as error:
        raise problem(call, error) from None
    negative = relay.negative(whole) if alpha < 0 else whole
    units = relay.where(
        relay.less(whole, const(0, "int32")),
        rescaled(negative, below, result.bounds, *how, dtype),
        rescaled(whole, above, result.bounds, *how, dtype),
    )
    return result.of(units)


@operator(
    "qnn.leaky_relu",
    description="Multiplies negative elements of a quantized tensor by a constant slope.",
    formula=(
        r"s_y (y - z_y) \approx \begin{cases} s_x (x - z_x) & x \ge z_x \\ "
        r"\alpha s_x (x - z_x) & \text{otherwise} \end{cases}"
    ),
    family="quantization",
    level=11,
    relation=byte_relation("QLeakyRelu"),
    pattern=OpPattern.ELEMENTWISE,
    flops=operations_per_input(4),  # a difference, a comparison, a product, a sum
    reference=_leaky,
    gradient=NotApplicable(INTEGERS),
    canonical=_leaky_canonical,
    layout=beside(elementwise_layout),
    precision=Precision.UNLISTED,
    attrs=Op.get("nn.leaky_relu").attrs_class,
    example=lambda build: build(t(2, 6, dtype="int8"), 0.1, const(0.1), const(3), const(0.2), const(0)),
)
def leaky_relu(
    x: Operand,
    alpha: float,
    input_scale: Operand,
    input_zero_point: Operand,
    output_scale: Operand,
    output_zero_point: Operand,
) -> Call:
    """Multiply the elements of `x` below its zero point by `alpha`, and rescale all of them, rounded once."""


# -- softmax


_STEPS = 256  # differences between two 8-bit integers, from 0


def _bits(length: Dim) -> int:
    """Return the bits after the point of the exponentials, such that their sum fits int32."""
    summands = length if isinstance(length, int) else 2**14
    return max(0, min(24, 30 - math.ceil(math.log2(max(1, summands)))))


def _exponentials(scale: float, bits: int) -> Array:
    """Return the table of exp(−scale · d) for each difference d, as fixed-point numbers in int32."""
    powers = np.exp(-np.float64(scale) * np.arange(_STEPS))
    return np.rint(powers * 2.0**bits).astype("int32")


def _softmax(attrs: Anything, x: Array, *parameters: Array) -> Array:
    scale, _, out_scale, out_zero = (parameter.reshape(()) for parameter in parameters)
    if not np.isfinite(scale) or scale < 0:
        raise RelationError(f"the scale of the data is {scale:g}, but must be finite and not negative")
    table = _exponentials(float(scale), _bits(x.shape[attrs.axis]))
    whole = x.astype("int64")
    if not x.size:
        return x
    powers = table[whole.max(attrs.axis, keepdims=True) - whole]
    sums = powers.sum(attrs.axis, keepdims=True, dtype="int32")
    return quantized(powers.astype("float32") / sums.astype("float32"), out_scale, out_zero, str(x.dtype))


def _softmax_canonical(call: Call, operands: Sequence[Expr]) -> Expr:
    """Look exponentials up in a table, and add them as integers, so that their order does not matter."""
    attrs = call.attrs
    assert attrs is not None
    types = [operand_type(call, operand) for operand in range(5)]
    x, scale, _, out_scale, out_zero = operands
    axis, dtype, rank = attrs["axis"], types[0].dtype, len(types[0].shape)
    bits, value = _bits(types[0].shape[axis]), number(scale)
    greatest = relay.max(x, axis=axis, keepdims=True)
    steps = relay.subtract(cast(greatest, dtype, "int32"), cast(x, dtype, "int32"))
    try:
        if value is not None and not 0 <= value < math.inf:
            raise RelationError(f"the scale of the data is {value:g}, but must be finite and not negative")
        table = (
            _computed_table(spread(scale, types[1], 0, 0), bits)
            if value is None
            else const(_exponentials(value, bits))
        )
        powers = relay.take(table, relay.cast(steps, "uint8"), axis=0, mode="fast")
        sums = relay.sum(powers, axis=axis, keepdims=True)
        shares = relay.divide(relay.cast(powers, "float32"), relay.cast(sums, "float32"))
        return quantized_expr(shares, out_scale, out_zero, dtype, (types[3], types[4]), -1, rank)
    except RelationError as error:
        raise problem(call, error) from None


def _computed_table(scale: Expr, bits: int) -> Expr:
    """Build the table of exponentials in the program, where the scale is not a constant."""
    steps = Constant(NDArray.from_list([-float(step) for step in range(_STEPS)], (_STEPS,), "float32"))
    powers = relay.exp(relay.multiply(scale, steps))
    return relay.cast(relay.round(relay.multiply(powers, const(2.0**bits, "float32"))), "int32")


@operator(
    "qnn.softmax",
    description="Computes the softmax of a quantized tensor along an axis.",
    formula=r"s_y (y_i - z_y) \approx \frac{e^{s_x x_i}}{\sum_j e^{s_x x_j}}",
    family="quantization",
    level=11,
    relation=byte_relation("QSoftmax", axis=True),
    pattern=OpPattern.OPAQUE,
    flops=operations_per_input(5),  # a maximum, a difference, a sum, two quotients
    reference=_softmax,
    gradient=NotApplicable(INTEGERS),
    canonical=_softmax_canonical,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    attrs=SoftmaxAttrs,
    inputs=("x", "scale", "zero_point", "output_scale", "output_zero_point"),
    example=lambda build: build(t(2, 6, dtype="int8"), const(0.1), const(3), const(1 / 256), const(-128)),
)
def softmax(
    x: Operand,
    scale: Operand,
    zero_point: Operand,
    output_scale: Operand,
    output_zero_point: Operand,
    axis: int = -1,
) -> Call:
    """Compute the softmax of `x` along `axis`. Exponentials come from a table of fixed-point numbers, and the
    zero point of `x` has no influence.
    """
