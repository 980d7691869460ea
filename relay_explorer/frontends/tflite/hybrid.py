"""Layers that have weights of 8 bits and float data: dynamic-range quantization.

Such a layer quantizes its data in every run: one scale and one zero point for each row of a matrix, or for
each image of a convolution; a convolution of single pixels is a product of matrices, except in reference
kernels. The products and their sums are integers. Their scale, that of the data times that of the weights,
turns them into real numbers again.

TensorFlow Lite's default kernels use a zero point in every layer. Its reference kernels and those of
recurrent layers, which have no others, round half away from zero, and obey the option
`asymmetric_quantize_inputs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ...ops.numeric import np
from ..base.products import matmul
from .operation import Operation
from .quantization import dequantized, rounded_away, scale_of
from .reader import Quantization

Product = Callable[[Expr, Expr, str], Expr]
"""The product of data and weights, with elements of the given type."""

_FIRST, _LAST = -128, 127


def is_hybrid(op: Operation, weight: int, data: int) -> bool:
    """Whether operand `weight` is quantized and operand `data` is not. Raise a RelayError if the operator
    cannot compute with such weights.
    """
    if "int" not in op.dtype(weight) or "float" not in op.dtype(data):
        return False
    tensor = op.tensor(weight)
    if op.dtype(weight) != "int8":
        raise RelayError(
            f"{op.name} with float data has weights of {op.dtype(weight)}: only weights of int8 can be "
            "multiplied with data that is quantized in every run",
            help=["convert the model again with a recent version of TensorFlow"],
        )
    if tensor.quantization is None:
        raise RelayError(f"{op.name} has integer operands without quantization parameters")
    if any(tensor.quantization.zero_point):
        raise RelayError(
            f"the weights of {op.name} with float data must have the zero point 0, not "
            f"{max(tensor.quantization.zero_point, key=abs)}"
        )
    return True


def quantized_in_the_run(
    x: Expr, axes: Sequence[int], symmetric: bool, away: bool
) -> tuple[Expr, Expr, Expr | None]:
    """Return float32 data as int8, its scale and its zero point; each has one value for all elements along
    `axes`, which it keeps with the extent 1. The zero point is int32, and None with `symmetric`.

    Numbers are rounded half away from zero, or half to even. Data that is zero has the scale 1/255 or 1/127.
    """
    round_ = rounded_away if away else relay.round
    if symmetric:
        bound: Expr = relay.max(relay.abs(x), axes, keepdims=True)
        bound = relay.where(relay.equal(bound, _float(0)), _float(1), bound)
        whole = relay.clip(round_(relay.multiply(x, relay.divide(_float(_LAST), bound))), -_LAST, _LAST)
        return relay.cast(whole, "int8"), relay.divide(bound, _float(_LAST)), None
    low: Expr = relay.minimum(relay.min(x, axes, keepdims=True), _float(0))
    high = relay.maximum(relay.max(x, axes, keepdims=True), _float(0))
    extent: Expr = relay.subtract(high, low)
    extent = relay.where(relay.equal(extent, _float(0)), _float(1), extent)
    steps = _float(_LAST - _FIRST)
    inverse = relay.divide(steps, extent)
    below, above = relay.multiply(low, inverse), relay.multiply(high, inverse)
    # The zero point that has the smaller rounding error: it is computed from the smaller bound.
    first = relay.less(relay.negative(below), relay.subtract(above, _float(1)))
    zero: Expr = relay.where(
        first, relay.subtract(_float(_FIRST), below), relay.subtract(_float(_LAST), above)
    )
    zero = round_(relay.clip(zero, _FIRST, _LAST))
    whole = relay.clip(relay.add(round_(relay.multiply(x, inverse)), zero), _FIRST, _LAST)
    return relay.cast(whole, "int8"), relay.divide(extent, steps), relay.cast(zero, "int32")


def hybrid_product(
    op: Operation,
    x: Expr,
    weight: int,
    arranged: Expr,
    product: Product,
    axes: Sequence[int],
    summed: Sequence[int] | None,
) -> Expr:
    """Return the real product of float data and the weights `arranged`, which are operand `weight` in the
    order that `product` needs.

    `axes` are those of the data that share a scale. `summed` are the axes of the weights over which the
    product sums for every element of the result; with None, it does not sum over all of them everywhere, so
    that the zero point is subtracted from the data before.
    """
    data = quantized_in_the_run(x, axes, _is_symmetric(op, weight), op.frame.importer.reference)
    return _product(data, arranged, _quantization(op, weight), product, summed)


class Rows:
    """The rows of a float matrix in a recurrent layer: they are quantized once for several products."""

    def __init__(self, op: Operation, x: Expr) -> None:
        self.op = op
        self.x = x
        self._data: tuple[Expr, Expr, Expr | None] | None = None

    def times(self, weight: int) -> Expr:
        """Return the product with the transposed matrix that is operand `weight`, real numbers or int8."""
        op = self.op
        if not is_hybrid(op, weight, 0):
            return relay.nn.dense(self.x, op.stored(weight))
        if self._data is None:
            symmetric = not op.attr("asymmetric_quantize_inputs", False)
            self._data = quantized_in_the_run(self.x, [1], symmetric, away=True)
        return _product(self._data, op.stored(weight), _quantization(op, weight), _dense, [1])


def _dense(data: Expr, weight: Expr, dtype: str) -> Expr:
    return relay.nn.dense(data, weight, out_dtype=dtype)


def _product(
    data: tuple[Expr, Expr, Expr | None],
    weights: Expr,
    quantization: Quantization,
    product: Product,
    summed: Sequence[int] | None,
) -> Expr:
    whole, scale, zero = data
    sums: Expr
    if zero is not None and summed is None:
        centered = relay.subtract(relay.cast(whole, "int32"), zero)
        sums = product(centered, relay.cast(weights, "int32"), "int32")
    else:
        sums = product(whole, weights, "int32")
        if zero is not None:
            total = relay.reshape(relay.sum(relay.cast(weights, "int32"), summed), (-1,))
            sums = relay.subtract(sums, relay.multiply(zero, total))
    return _real(sums, scale, quantization)


def _real(sums: Expr, scale: Expr, quantization: Quantization) -> Expr:
    """Return the real numbers that sums of products represent; `scale` is that of the data."""
    return relay.multiply(relay.cast(sums, "float32"), relay.multiply(scale, scale_of(quantization)))


def _quantization(op: Operation, weight: int) -> Quantization:
    quantization = op.tensor(weight).quantization
    assert quantization is not None  # is_hybrid has checked it
    return quantization


def _is_symmetric(op: Operation, weight: int) -> bool:
    """Whether the data has no zero point: only in reference kernels, on request or with one scale for all
    filters.
    """
    if not op.frame.importer.reference:
        return False
    if "asymmetric_quantize_inputs" in op.attrs:
        return not op.attrs["asymmetric_quantize_inputs"]
    return op.name == "CONV_2D" and len(set(_quantization(op, weight).scale)) == 1


def hybrid_matmul(op: Operation) -> Expr:
    """Convert a BATCH_MATMUL of float data and quantized matrices: each row of the data has a scale."""
    transposed, last = bool(op.attr("adj_x", False)), bool(op.attr("adj_y", False))
    x, y, quantization = op.stored(0), op.stored(1), _quantization(op, 1)
    if quantization.per_channel:
        return matmul(op.context, x, dequantized(op.context, y, quantization), transposed, last)
    if transposed:
        x = _transposed(op, 0, x)
    symmetric = _is_symmetric(op, 1)
    whole, scale, zero = quantized_in_the_run(x, [op.rank(0) - 1], symmetric, op.frame.importer.reference)
    sums = matmul(op.context, whole, y, False, last, "int32")
    if zero is not None:
        total: Expr = relay.sum(relay.cast(y, "int32"), [op.rank(1) - (1 if last else 2)], keepdims=True)
        sums = relay.subtract(sums, relay.multiply(zero, _transposed(op, 1, total) if last else total))
    return _real(sums, scale, quantization)


def _transposed(op: Operation, index: int, x: Expr) -> Expr:
    """Swap the last two axes of operand `index`."""
    rank = op.rank(index)
    return relay.transpose(x, (*range(rank - 2), rank - 1, rank - 2))


def _float(value: float) -> Expr:
    return const(np.float32(value))
