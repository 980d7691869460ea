"""Descriptions that the attributes of several quantized operators share."""

from __future__ import annotations

AXIS = "The channels' axis, along which scales and zero points that are vectors lie."
OUT_DTYPE = "The element type of the result."
ACCUMULATOR = "The element type of the result, and of the sums."
ROUNDING = (
    'The direction of ties: "UPWARD", "TONEAREST" (away from zero), "TOEVEN", or "None" for the default of '
    "`requantize_config`."
)
COMPUTE_DTYPE = (
    'The arithmetic: "int64" for fixed point, "float32", "float64", or "None" for the default of '
    "`requantize_config`."
)
INTEGERS = "it computes with integers, which have no derivatives"
