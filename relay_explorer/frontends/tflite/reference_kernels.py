"""The arithmetic of TensorFlow Lite's reference kernels for integers: scales as fractions of 31 bits.

TensorFlow Lite's default kernels for 8 bits rescale in float32, and so does an imported model. With
`reference_kernels`, it computes what the reference kernels compute, with integers alone: they round a product
with the fraction to an integer, and then divide by a power of two and round again, half away from zero. For
some operators, and for 16 bits, these are the only kernels.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ...ops.numeric import Array, np
from ..base.axes import normal_axis
from ..base.products import matmul
from .operation import Converter, Operation
from .quantization import RANGES, bounds, centered, limited, rescaled_to_16_bits
from .reader import Quantization

_HEADROOM = {"int8": 20, "uint8": 20, "int16": 15}  # bits that a sum's operands get before they are rescaled
ACTIVATIONS = {"RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3}  # operators, and their numbers as fused functions
_DIFFERENCE_HEADROOM, _COMPARISON_HEADROOM = 7, 8


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


def _parameters(op: Operation, operands: int) -> list[Quantization] | None:
    """Return the quantizations of the operands and of the result, unless that has none; None if not all
    tensors have 8 bits or all have 16, or the operator converts integers of 16 bits to 8.
    """
    tensors = [op.tensor(index) for index in range(operands)]
    if op.name not in _COMPARISONS:
        tensors.append(op.result())
    quantizations = []
    for tensor in tensors:
        if tensor.quantization is None or tensor.quantization.per_channel:
            return None
        quantizations.append(tensor.quantization)
    kinds = {tensor.dtype for tensor in tensors}
    narrows = op.name == "QUANTIZE" and op.dtype(0) == "int16" and kinds <= {"int8", "uint8", "int16"}
    return quantizations if kinds <= {"int8", "uint8"} or kinds == {"int16"} or narrows else None


def _scale(quantization: Quantization) -> float:
    return float(np.float64(np.float32(quantization.scale[0])))


def _centered(op: Operation, index: int, quantization: Quantization) -> Expr:
    return centered(op.context, op.stored(index), quantization, "int32")


def _parts(op: Operation, operands: list[Quantization], factors: list[float], headroom: int) -> list[Expr]:
    """Return the operands, shifted by some bits, times a factor each."""
    shifted = [
        relay.left_shift(_centered(op, index, operand), const(headroom, "int32"))
        for index, operand in enumerate(operands)
    ]
    return [rescaled(x, np.asarray(factor), 0) for x, factor in zip(shifted, factors)]


def _sum(op: Operation, operands: list[Quantization], result: Quantization) -> Expr:
    scales = [_scale(operand) for operand in operands]
    twice, headroom = 2 * max(scales), _HEADROOM[op.result().dtype]
    parts = _parts(op, operands, [scale / twice for scale in scales], headroom)
    total = relay.subtract(*parts) if op.name == "SUB" else relay.add(*parts)
    factor = np.asarray(twice / ((1 << headroom) * _scale(result)))
    return finished(op, rescaled(total, factor, 0), result, op.result().dtype)


def _product(op: Operation, operands: list[Quantization], result: Quantization) -> Expr:
    first, second = operands
    whole = relay.multiply(_centered(op, 0, first), _centered(op, 1, second))
    scales = [np.float32(quantization.scale[0]) for quantization in (first, second, result)]
    factor = np.asarray(scales[0] * scales[1] / scales[2], np.float64)  # computed in float32
    return finished(op, rescaled(whole, factor, 0), result, op.result().dtype)


def _requantized(op: Operation, operands: list[Quantization], result: Quantization) -> Expr:
    (operand,) = operands
    factor = np.asarray(_scale(operand) / _scale(result))
    return finished(op, rescaled(_centered(op, 0, operand), factor, 0), result, op.result().dtype)


def _matmul(op: Operation, operands: list[Quantization], result: Quantization) -> Expr:
    """Multiply matrices of 8 bits with sums of 32, or matrices of 16 bits with sums of 64."""
    dtype = op.result().dtype
    wide = "int64" if dtype == "int16" else "int32"
    left, right = (
        centered(op.context, op.stored(index), operand, wide) for index, operand in enumerate(operands)
    )
    sums = matmul(op.context, left, right, bool(op.attr("adj_x", False)), bool(op.attr("adj_y", False)))
    factor = np.asarray(_scale(operands[0]) * _scale(operands[1]) / _scale(result))
    if wide == "int64":
        whole = rescaled_to_16_bits(sums, factor, short=True)
        return relay.cast(relay.clip(whole, *RANGES["int16"]), "int16")
    return finished(op, rescaled(sums, factor, 0), result, dtype)


def _activation(op: Operation, operands: list[Quantization], result: Quantization) -> Expr:
    (operand,), dtype = operands, op.result().dtype
    limits = bounds(result, dtype, ACTIVATIONS[op.name])
    assert limits is not None
    if operand == result and op.dtype(0) == dtype:
        return limited(op.stored(0), dtype, limits)
    factor = np.asarray(_scale(operand) / _scale(result))
    whole = rescaled(_centered(op, 0, operand), factor, 0)
    return relay.cast(relay.clip(relay.add(whole, const(result.zero_point[0], "int32")), *limits), dtype)


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


def _squared_difference(op: Operation, operands: list[Quantization], result: Quantization) -> Expr:
    scales = [_scale(operand) for operand in operands]
    twice = 2 * max(scales)
    difference = relay.subtract(
        *_parts(op, operands, [scale / twice for scale in scales], _DIFFERENCE_HEADROOM)
    )
    factor = np.asarray(twice**2 / ((1 << 2 * _DIFFERENCE_HEADROOM) * _scale(result)))
    whole = rescaled(relay.multiply(difference, difference), factor, 0)
    return finished(op, whole, result, op.result().dtype)


def _comparison(op: Operation, operands: list[Quantization], result: Quantization) -> Expr:
    """Compare integers whose step is 1/256, or the stored ones where the operands are quantized alike."""
    if operands[0] == operands[1]:
        return _COMPARISONS[op.name](op.stored(0), op.stored(1))
    scales = [_scale(operand) for operand in operands]
    return _COMPARISONS[op.name](*_parts(op, operands, scales, _COMPARISON_HEADROOM))


_COMPARISONS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "EQUAL": relay.equal, "NOT_EQUAL": relay.not_equal, "GREATER": relay.greater,
    "GREATER_EQUAL": relay.greater_equal, "LESS": relay.less, "LESS_EQUAL": relay.less_equal,
}  # fmt: skip

Kernel = Callable[[Operation, list[Quantization], Quantization], Expr]
_KERNELS: dict[str, tuple[Kernel, int]] = {
    "ADD": (_sum, 2), "SUB": (_sum, 2), "MUL": (_product, 2), "QUANTIZE": (_requantized, 1),
    "LEAKY_RELU": (_leaky_relu, 1), "MEAN": (_mean, 1), "SQUARED_DIFFERENCE": (_squared_difference, 2),
    "BATCH_MATMUL": (_matmul, 2), **dict.fromkeys(ACTIVATIONS, (_activation, 1)),
    **dict.fromkeys(_COMPARISONS, (_comparison, 2)),
}  # fmt: skip


_ONLY = {"SQUARED_DIFFERENCE", "BATCH_MATMUL", *ACTIVATIONS, *_COMPARISONS}


def reference_kernel(op: Operation) -> Converter | None:
    """Return the converter that computes as the reference kernel of an operator does; None where the usual
    converter does so, or the model is to compute what another kernel does.

    For integers of 16 bits and some operators, TensorFlow Lite has no other kernels.
    """
    kernel, operands = _KERNELS.get(op.name, (None, 0))
    if kernel is None or len(op) < operands:
        return None
    is_short = op.result().dtype == "int16" or (op.name == "QUANTIZE" and op.dtype(0) == "int16")
    if not (is_short or op.name in _ONLY or op.frame.importer.reference):
        return None
    if is_short and op.attrs.get("pot_scale_int16", False):  # scales that are powers of two
        return None
    parameters = _parameters(op, operands)
    if parameters is None:
        return None
    return lambda op: kernel(op, parameters[:operands], parameters[-1])
