"""Numbers of double precision in kernels for a GPU: TVM writes them with 15 digits behind the point, so that
2⁻⁵² becomes 0. Here those that this changes become what their bits are read as.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

from .require import tvm


@cache
def pipeline() -> str:
    """The name of TVM's passes for a GPU, with one more at the end of what is done to its functions."""
    from importlib import import_module

    compilation = import_module("tvm.tirx.compilation_pipeline")
    transform = tvm().ir.transform

    def passes() -> tuple[Any, Any, Any]:
        before, host, device = compilation.get_tir_pipeline("default")
        return before, host, lambda: transform.Sequential([device(), _pass()])

    compilation.register_tir_pipeline("relay_explorer_gpu", passes)
    return "relay_explorer_gpu"


def _pass() -> Any:
    tirx = tvm().tirx

    def transformed(function: Any, mod: Any, context: Any) -> Any:
        from tvm_ffi import structural_map

        return function.with_body(structural_map(function.body, (tirx.FloatImm, _exact), order="post"))

    return tirx.transform.prim_func_pass(transformed, opt_level=0, name="relay_explorer.Exact")


def _exact(constant: Any) -> Any:
    value = float(constant.value)
    if str(constant.ty) != "float64" or value - value != 0 or float(f"{value:.15f}") == value:
        return constant
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return tvm().tirx.reinterpret("float64", tvm().tirx.IntImm("int64", bits))
