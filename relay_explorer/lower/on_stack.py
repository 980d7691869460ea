"""The sums that a tile of a kernel's loops keeps in registers, on the stack: TVM would ask for their memory
in each tile, and give it back, which in small kernels takes longer than many of the sums.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from .require import tvm

MOST = 4096  # bytes of an array on the stack; some tiles are spilled there, and threads have little of it


@cache
def pipeline() -> str:
    """The name of TVM's passes for a processor, with one more, which says what is to lie on the stack."""
    from importlib import import_module

    compilation = import_module("tvm.tirx.compilation_pipeline")
    transform = tvm().ir.transform

    def passes() -> tuple[Any, Any, Any]:
        before, host, device = compilation.get_tir_pipeline("default")
        return before, lambda: transform.Sequential([_pass(), host()]), device

    compilation.register_tir_pipeline("relay_explorer", passes)
    return "relay_explorer"


def _pass() -> Any:
    tirx = tvm().tirx

    def transformed(function: Any, mod: Any, context: Any) -> Any:
        from tvm_ffi import structural_map

        return function.with_body(structural_map(function.body, (tirx.AllocBuffer, _marked), order="post"))

    return tirx.transform.prim_func_pass(transformed, opt_level=0, name="relay_explorer.OnStack")


def _marked(allocation: Any) -> Any:
    """An allocation, which stays one on the stack where its size is known and small."""
    tirx = tvm().tirx
    buffer = allocation.buffer
    element = tvm().DataType(str(buffer.dtype))
    size = (element.bits + 7) // 8 * max(1, int(getattr(element, "lanes", 1)))
    for extent in buffer.shape:
        if not isinstance(extent, tirx.IntImm):
            return allocation
        size *= int(extent)
    if size > MOST:
        return allocation
    return tirx.AllocBuffer(
        buffer, {**dict(allocation.annotations), "disable_lower_builtin": tirx.IntImm("bool", 1)}
    )
