"""Counts of the floating-point operations that calls perform."""

from __future__ import annotations

from ..ir.op import Flops, flops_per_input, flops_per_output, no_flops, size_of

__all__ = ["flops_per_input", "flops_per_output", "no_flops", "operations_per_input", "size_of"]


def operations_per_input(count: int) -> Flops:
    """Count a fixed number of operations for each element of the first operand."""
    return lambda attrs, inputs, output: count * size_of(inputs[0])
