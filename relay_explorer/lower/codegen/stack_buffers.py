"""Allocates small temporary buffers on the stack, such as the accumulators that a tile of loops keeps in
registers. TVM would allocate and free their memory in each tile, which in small kernels takes longer than
computing many of the sums.
"""

from __future__ import annotations

from typing import Any

from ...ir.once import once
from ..require import tvm
from .tir_pass import registered

MAX_STACK_BYTES = 4096  # of an array; the stacks of threads are small, and some tiles are spilled to them


@once
def pipeline() -> str:
    """Return the name of TVM's pass pipeline for a CPU, extended by a pass that marks the buffers to allocate
    on the stack.
    """
    return registered("relay_explorer", "AllocBuffer", _marked, "relay_explorer.OnStack", on_host=True)


def _marked(allocation: Any) -> Any:
    """Mark an allocation to stay on the stack if its size is static, small, and not zero (LLVM refuses an
    empty array).
    """
    tirx = tvm().tirx
    buffer = allocation.buffer
    element = tvm().DataType(str(buffer.dtype))
    size = (element.bits + 7) // 8 * max(1, int(getattr(element, "lanes", 1)))
    for extent in buffer.shape:
        if not isinstance(extent, tirx.IntImm):
            return allocation
        size *= int(extent)
    if not 0 < size <= MAX_STACK_BYTES:
        return allocation
    return tirx.AllocBuffer(
        buffer, {**dict(allocation.annotations), "disable_lower_builtin": tirx.IntImm("bool", 1)}
    )
