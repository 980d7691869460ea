"""Lowerings of operators to tensor expressions, and the tools for writing them.

`lowered` defines a lowering's argument and result; `tensors` has constants, shapes, stages and sums. Nothing
here imports TVM before the first kernel is compiled (see `library`).
"""

from __future__ import annotations
