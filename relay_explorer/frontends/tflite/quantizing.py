"""Converters of QUANTIZE and DEQUANTIZE."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from .operation import Operation, converter
from .quantization import RANGES, centered, rounded


@converter("DEQUANTIZE")
def _dequantize(op: Operation) -> Expr:
    if op.tensor(0).quantization is None and "int" in op.dtype(0):
        raise RelayError(f"`{op.tensor(0).name}` has no scale, so it cannot be dequantized")
    return relay.cast(op[0], "float32") if op.context.dtype(op[0]) != "float32" else op[0]


@converter("QUANTIZE", "RELU", mode="own")
def _rescaled(op: Operation) -> Expr:
    """Quantize real values, or integers anew with another scale; RELU may do the latter as well.

    Between integers there is one multiplication, by the quotient of the scales: it is often 0.5, so that half
    of the products lie between two integers, and a second rounding would decide to which of them they go.
    """
    if op.name == "QUANTIZE" and op.result().quantization is None:
        raise RelayError(f"`{op.result().name}` has no scale, so it cannot be quantized")
    before, after = op.tensor(0).quantization, op.result().quantization
    whole = before is not None and op.dtype(0) in RANGES
    if before is None or after is None or not whole or before.per_channel or after.per_channel:
        op.mode = "real"  # the importer quantizes the result
        return relay.nn.relu(op[0]) if op.name == "RELU" else op[0]
    x: Expr = relay.cast(centered(op.context, op[0], before, "int32"), "float32")
    if op.name == "RELU":
        x = relay.nn.relu(x)
    x = relay.multiply(x, const(before.scale[0] / after.scale[0], "float32"))
    return rounded(op.context, x, after, op.result().dtype)


@converter("DENSIFY", mode="own")
def _densify(op: Operation) -> Expr:
    """Return the operand: sparse constants are expanded when the file is read."""
    return op[0]
