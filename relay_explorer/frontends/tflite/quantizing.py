"""Converters of QUANTIZE and DEQUANTIZE."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from .operation import Operation, activation, converter
from .quantization import RANGES, bounds, limited, scale_of, zero_of


@converter("DEQUANTIZE")
def _dequantize(op: Operation) -> Expr:
    if op.tensor(0).quantization is None and "int" in op.dtype(0):
        raise RelayError(f"`{op.tensor(0).name}` has no scale, so it cannot be dequantized")
    return relay.cast(op[0], "float32") if op.context.dtype(op[0]) != "float32" else op[0]


@converter("QUANTIZE", "RELU", "RELU6", "RELU_N1_TO_1", mode="own")
def _rescaled(op: Operation) -> Expr:
    """Quantize real values, or integers anew with another scale; activation functions may do the latter as
    well.

    Between integers there is one multiplication, by the quotient of the scales: it is often 0.5, so that half
    of the products lie between two integers, and a second rounding would decide to which of them they go.
    """
    if op.name == "QUANTIZE" and op.result().quantization is None:
        raise RelayError(f"`{op.result().name}` has no scale, so it cannot be quantized")
    before, after = op.tensor(0).quantization, op.result().quantization
    whole = before is not None and op.dtype(0) in RANGES
    if before is None or after is None or not whole or before.per_channel or after.per_channel:
        op.mode = "real"  # the importer quantizes the result
        return _function(op)
    dtype = op.result().dtype
    x = op[0]
    if before != after or op.dtype(0) != dtype:
        x = relay.qnn.requantize(
            x, scale_of(before), zero_of(before), scale_of(after), zero_of(after), rounding="UPWARD",
            compute_dtype="float32", out_dtype=dtype,
        )  # fmt: skip
    if op.name == "QUANTIZE":
        return x
    limits = bounds(after, dtype, _ACTIVATIONS[op.name])
    assert limits is not None
    return limited(x, dtype, limits)


_ACTIVATIONS = {"RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3}


def _function(op: Operation) -> Expr:
    return op[0] if op.name == "QUANTIZE" else activation(op[0], _ACTIVATIONS[op.name])


@converter("DENSIFY", mode="own")
def _densify(op: Operation) -> Expr:
    """Return the operand: sparse constants are expanded when the file is read."""
    return op[0]
