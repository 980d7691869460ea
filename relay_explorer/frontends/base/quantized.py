"""Quantized operators as every importer builds them.

Frameworks define the rescaling of sums as float32 arithmetic with rounding half to even. `requantize` gets
this arithmetic explicitly, because its default depends on the target.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr, const
from ...ops import namespaces as relay
from ...ops.numeric import Array, np

RANGES = {
    "int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535),
    "int32": (-(2**31), 2**31 - 1),
}  # fmt: skip
"""The smallest and the greatest value of each quantized element type."""


Parameters = tuple[Expr, Expr, Expr, Expr]
"""The parameters of a product's operands: the zero points of the data and the weight, and their scales."""


def quantized(real: Expr, scale: Expr, zero: Expr, dtype: str, axis: int = -1) -> Expr:
    """Return `saturate(round(real / scale) + zero)`, rounded half to even. `scale` and `zero` (int32) have no
    axes, or one value for each index of `axis`.
    """
    return relay.qnn.quantize(real, scale, zero, axis=axis, out_dtype=dtype)


def dequantized(whole: Expr, scale: Expr, zero: Expr, axis: int = -1) -> Expr:
    """Return `(whole - zero) * scale` in float32."""
    return relay.qnn.dequantize(whole, scale, zero, axis=axis)


def requantized(
    whole: Expr,
    scale: Expr,
    zero: Expr,
    result_scale: Expr,
    result_zero: Expr,
    dtype: str,
    axis: int = -1,
) -> Expr:
    """Return integers that have a scale with that of the result: the difference to the zero point is
    multiplied in float32 by the quotient of the scales, and rounded half to even.
    """
    return relay.qnn.requantize(
        whole, scale, zero, result_scale, result_zero, axis=axis, rounding="TOEVEN",
        compute_dtype="float32", out_dtype=dtype,
    )  # fmt: skip


def check_scale(scale: Expr) -> None:
    """Raise a RelayError if a scale by which values are divided is known and not positive and finite."""
    if not isinstance(scale, Constant):
        return
    values = scale.data.numpy().reshape(-1)
    wrong = values[~(np.isfinite(values) & (values > 0))]
    if wrong.size:
        raise RelayError(
            f"a scale must be a positive, finite number, but the model has {float(wrong[0])}",
            help=["quantize the model again, with data for calibration that its operators have seen"],
        )


def int32(value: int) -> Expr:
    """Return a zero point."""
    return const(value, "int32")


def float32(values: float | Sequence[float] | Array) -> Expr:
    """Return a scale, or one for each channel."""
    return const(np.asarray(values, np.float32))
