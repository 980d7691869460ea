"""The arithmetic of TensorFlow Lite's reference kernels for 8-bit integers: scales as fractions of 31 bits.

TensorFlow Lite's default kernels rescale in float32, and so does an imported model. With `reference_kernels`,
it computes what the reference kernels compute, with integers alone: they round a product with the fraction to
an integer, and then divide by a power of two and round again, half away from zero.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ...ops.numeric import Array, np
from ..base.axes import normal_axis
from .operation import Converter, Operation
from .quantization import RANGES, bounds, centered
from .reader import Quantization

_HEADROOM = 20  # bits by which the operands of a sum are shifted before they are rescaled
_BYTES = ("int8", "uint8")


def fractions(factors: Array) -> tuple[Array, Array]:
    """Return the fractions, as multiples of 2⁻³¹, and the powers of two of positive factors."""
    parts, exponents = np.frexp(np.asarray(factors, np.float64))
    whole = np.floor(parts * 2.0**31 + 0.5).astype(np.int64)
    over = whole == 1 << 31
    return np.where(over, whole >> 1, whole), np.where(over, exponents + 1, exponents).astype(np.int64)


def rescaled(x: Expr, factors: Array, axis: int) -> Expr:
    """Multiply int32 by a factor, or by one for each index of `axis`, rounding twice."""
    return multiplied(x, *fractions(factors), axis)


def multiplied(x: Expr, multipliers: Array, exponents: Array, axis: int) -> Expr:
    """Multiply int32 by fractions and powers of two, rounding after each."""
    left, right = np.maximum(exponents, 0), np.maximum(-exponents, 0)
    if (left > 31).any() or (right > 31).any():
        raise RelayError("the factor of a quantized result is too large or too small")
    if multipliers.ndim == 0:
        product = relay.fixed_point_multiply(x, int(multipliers), int(left))
    else:
        product = relay.fixed_point_multiply_per_axis(
            x, const(multipliers, "int32"), const(left, "int32"), const(np.zeros_like(left), "int32"),
            is_lshift_required=bool(left.any()), is_rshift_required=False, axes=[axis],
        )  # fmt: skip
    return divided(product, right)


def divided(x: Expr, exponents: Array) -> Expr:
    """Divide int32 by powers of two, along the last axis, and round half away from zero."""
    if not exponents.any():
        return x
    half = (np.int64(1) << exponents) >> 1
    negative = relay.cast(relay.less(x, const(0, "int32")), "int32")
    below = relay.multiply(negative, const(np.minimum(half, 1), "int32"))
    return relay.right_shift(
        relay.add(x, relay.subtract(const(half, "int32"), below)), const(exponents, "int32")
    )


def layer(op: Operation, sums: Expr, factors: Array, result: Quantization, dtype: str, axis: int) -> Expr:
    """Return the sums of a layer rescaled, with the zero point of the result and its activation function."""
    if op.name == "FULLY_CONNECTED" and factors.ndim == 0:
        multipliers, exponents = fractions(factors)
        whole: Expr = relay.fixed_point_multiply(sums, int(multipliers), int(exponents))
    elif op.name == "FULLY_CONNECTED":
        multipliers, exponents = fractions(factors)
        whole = relay.fixed_point_multiply_per_axis(
            sums, const(multipliers, "int32"), const(np.maximum(exponents, 0), "int32"),
            const(np.maximum(-exponents, 0), "int32"), is_lshift_required=bool((exponents > 0).any()),
            is_rshift_required=bool((exponents < 0).any()), axes=[axis],
        )  # fmt: skip
    else:
        whole = rescaled(sums, factors, axis)
    return finished(op, whole, result, dtype)


def finished(op: Operation, whole: Expr, result: Quantization, dtype: str) -> Expr:
    """Add the zero point, and keep integers between the bounds of the type and of the activation function."""
    kind = int(op.attrs.get("fused_activation_function", 0))
    limits = bounds(result, dtype, kind)
    if limits is None:
        raise RelayError(f"the fused activation function {kind} of {op.name} cannot be imported")
    moved = relay.add(whole, const(result.zero_point[0], "int32")) if result.zero_point[0] else whole
    return relay.cast(relay.clip(moved, *limits), dtype)


# -- operators that have kernels of their own for integers


def _parameters(op: Operation, operands: int) -> tuple[list[Quantization], Quantization] | None:
    """Return the quantizations of the operands and of the result, if all of them have 8 bits."""
    quantizations = []
    for tensor in (*[op.tensor(index) for index in range(operands)], op.result()):
        if tensor.quantization is None or tensor.dtype not in _BYTES or tensor.quantization.per_channel:
            return None
        quantizations.append(tensor.quantization)
    return quantizations[:-1], quantizations[-1]


def _scale(quantization: Quantization) -> float:
    return float(np.float64(np.float32(quantization.scale[0])))


def _centered(op: Operation, index: int, quantization: Quantization) -> Expr:
    return centered(op.context, op.stored(index), quantization, "int32")


def _sum(op: Operation, operands: list[Quantization], result: Quantization) -> Expr:
    scales = [_scale(operand) for operand in operands]
    twice = 2 * max(scales)
    parts = []
    for index, (operand, scale) in enumerate(zip(operands, scales)):
        shifted = relay.left_shift(_centered(op, index, operand), const(_HEADROOM, "int32"))
        parts.append(rescaled(shifted, np.asarray(scale / twice), 0))
    total = relay.subtract(*parts) if op.name == "SUB" else relay.add(*parts)
    factor = np.asarray(twice / ((1 << _HEADROOM) * _scale(result)))
    return finished(op, rescaled(total, factor, 0), result, op.result().dtype)


def _product(op: Operation, operands: list[Quantization], result: Quantization) -> Expr:
    first, second = operands
    whole = relay.multiply(_centered(op, 0, first), _centered(op, 1, second))
    factor = np.asarray(_scale(first) * _scale(second) / _scale(result))
    return finished(op, rescaled(whole, factor, 0), result, op.result().dtype)


def _requantized(op: Operation, operands: list[Quantization], result: Quantization) -> Expr:
    (operand,) = operands
    factor = np.asarray(_scale(operand) / _scale(result))
    return finished(op, rescaled(_centered(op, 0, operand), factor, 0), result, op.result().dtype)


def _leaky_relu(op: Operation, operands: list[Quantization], result: Quantization) -> Expr:
    (operand,) = operands
    x = _centered(op, 0, operand)
    factor = _scale(operand) / _scale(result)
    slope = float(np.float32(op.attr("alpha", 0.0)))
    if slope <= 0:
        raise RelayError(f"LEAKY_RELU with alpha={slope} has no reference kernel for integers")
    above, below = (rescaled(x, np.asarray(value), 0) for value in (factor, factor * slope))
    whole = relay.where(relay.less(x, const(0, "int32")), below, above)
    return finished(op, whole, result, op.result().dtype)


def _mean(op: Operation, operands: list[Quantization], result: Quantization) -> Expr:
    """Divide by the number of elements as part of the multiplication with the scale."""
    (operand,) = operands
    rank = op.rank(0)
    axes = sorted({normal_axis(axis, rank) for axis in op.ints(1, "the axes of a mean")})
    count = int(np.prod(op.extents(0, axes))) if axes else 1
    sums = relay.sum(_centered(op, 0, operand), axes, keepdims=bool(op.attr("keep_dims", False)))
    multiplier, exponent = fractions(np.asarray(_scale(operand) / _scale(result)))
    shift = min(count.bit_length() - 1, 32, 31 + int(exponent))
    divided_ = np.asarray((int(multiplier) << shift) // count)
    whole = multiplied(sums if axes else _centered(op, 0, operand), divided_, exponent - shift, 0)
    return finished(op, whole, result, op.result().dtype)


Kernel = Callable[[Operation, list[Quantization], Quantization], Expr]
_KERNELS: dict[str, tuple[Kernel, int]] = {
    "ADD": (_sum, 2), "SUB": (_sum, 2), "MUL": (_product, 2), "QUANTIZE": (_requantized, 1),
    "LEAKY_RELU": (_leaky_relu, 1), "MEAN": (_mean, 1),
}  # fmt: skip


def reference_kernel(op: Operation) -> Converter | None:
    """Return the converter that computes as the reference kernel of an operator does; None where the usual
    converter does so, or the operator has no operands of 8 bits.
    """
    kernel, operands = _KERNELS.get(op.name, (None, 0))
    if kernel is None or len(op) < operands:
        return None
    parameters = _parameters(op, operands)
    if parameters is None or RANGES.get(op.result().dtype) is None:
        return None
    before, after = parameters
    return lambda op: kernel(op, before, after)
