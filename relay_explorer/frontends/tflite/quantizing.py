"""Converters of QUANTIZE and DEQUANTIZE, and of activation functions that restrict the range."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ...ops.numeric import np
from .operation import Operation, activation, converter
from .quantization import RANGES, centered, scale_of, zero_of
from .reference_kernels import ACTIVATIONS


@converter("DEQUANTIZE")
def _dequantize(op: Operation) -> Expr:
    if op.tensor(0).quantization is None and "int" in op.dtype(0):
        raise RelayError(f"`{op.tensor(0).name}` has no scale, so it cannot be dequantized")
    return relay.cast(op[0], "float32") if op.context.dtype(op[0]) != "float32" else op[0]


@converter("QUANTIZE", mode="own")
def _quantize(op: Operation) -> Expr:
    """Quantize real values, or integers anew with another scale.

    The default kernel for integers of 8 bits multiplies by the quotient of the scales as a multiple of 1/256.
    Signed integers become unsigned ones, and vice versa, by one multiplication: the quotient is often 1.
    """
    before, after = op.tensor(0).quantization, op.result().quantization
    if after is None:
        raise RelayError(f"`{op.result().name}` has no scale, so it cannot be quantized")
    whole = before is not None and op.dtype(0) in RANGES
    if before is None or not whole or before.per_channel or after.per_channel:
        op.mode = "real"  # the importer quantizes the result
        return op[0]
    dtype = op.result().dtype
    if before == after and op.dtype(0) == dtype:
        return op[0]
    factor = np.float32(before.scale[0]) / np.float32(after.scale[0])
    if op.dtype(0) == dtype and dtype in ("int8", "uint8") and 2.0**-8 <= factor <= 2.0**7:
        steps = int(np.rint(factor * np.float32(256)))
        x: Expr = relay.multiply(centered(op.context, op[0], before, "int32"), const(steps, "int32"))
        x = relay.right_shift(relay.add(x, const(128, "int32")), const(8, "int32"))
        if after.zero_point[0]:
            x = relay.add(x, const(after.zero_point[0], "int32"))
        return relay.cast(relay.clip(x, *RANGES[dtype]), dtype)
    return relay.qnn.requantize(
        op[0], scale_of(before), zero_of(before), scale_of(after), zero_of(after), rounding="UPWARD",
        compute_dtype="float32", out_dtype=dtype,
    )  # fmt: skip


@converter(*ACTIVATIONS)
def _activated(op: Operation) -> Expr:
    return activation(op[0], ACTIVATIONS[op.name])


@converter("DENSIFY", mode="own")
def _densify(op: Operation) -> Expr:
    """Return the operand: sparse constants are expanded when the file is read."""
    return op[0]
