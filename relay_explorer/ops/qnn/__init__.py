"""The dialect `qnn`: operators on quantized tensors, which are integers with a scale and a zero point.

The integer q stands for the real number scale · (q − zero_point). Each operator takes the scales and zero
points of its tensors as operands, and computes integers from integers. Its declaration has two definitions
that agree bit for bit: the reference implementation in NumPy, and the canonical form, an expression of plain
Relay operators that the compiler uses (`relay_explorer.ops.canonical`). `arithmetic` says how numbers are
rounded, and where they saturate.
"""

from __future__ import annotations
